"""Presets of evolutions: what they hold, changes on top, and errors that name the key."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evolve.runs import TINY, preset
from n2s.errors import InputError
from n2s.evolve import EvolveConfig, read_preset
from n2s.evolve.config import Kind, Shape, budgets_of, config_of
from n2s.native import find
from n2s.native.parts import Part
from n2s.native.policy import read
from n2s.problem import Variant

PRESETS = Path(__file__).parents[2] / "presets"


def test_the_presets_of_the_package_can_be_read(variant: Variant) -> None:
    config = read_preset(PRESETS / f"native-{variant}.toml")
    assert config.tasks.variant is variant
    assert config.strategy.kind is Kind.CMA
    assert set(config.tasks.shapes) == set(Shape)
    assert config.tasks.work
    assert read_preset(PRESETS / "native-quick.toml").strategy.generations == 60
    bridge = read_preset(PRESETS / f"native-bridge-{variant}.toml")
    assert (bridge.tasks.variant, bridge.strategy.only) == (variant, (Part.BRIDGE,))
    assert bridge.tasks.checkpoint


def test_a_preset_becomes_what_it_says() -> None:
    config = config_of(tomllib.loads(TINY))
    assert config.tasks.variant is Variant.LIFO
    assert config.tasks.shapes == tuple(Shape)
    assert (config.tasks.sizes, config.tasks.steps, config.tasks.work) == ((5, 7), (20, 40), (30,))
    assert (config.strategy.population, config.strategy.sigma) == (6, 0.2)
    assert config.validation.steps == (15, 30)
    assert config_of({}) == EvolveConfig()
    assert config_of(json.loads(json.dumps(config.as_table()))) == config


@pytest.mark.parametrize(
    ("change", "section", "key", "value"),
    [
        ("strategy.kind=sep-cma", "strategy", "kind", Kind.SEPARABLE),
        ("strategy.sigma=1", "strategy", "sigma", 1.0),
        ("tasks.shapes=road", "tasks", "shapes", (Shape.ROAD,)),
        ("tasks.shapes=['road', 'line', 'road']", "tasks", "shapes", ("road", "line", "road")),
        ("tasks.work=[]", "tasks", "work", ()),
        ("tasks.variant=pdtsp", "tasks", "variant", Variant.PDTSP),
        ("tasks.checkpoint=net.safetensors", "tasks", "checkpoint", "net.safetensors"),
        ("strategy.only=['heat', 'span']", "strategy", "only", (Part.HEAT, Part.SPAN)),
    ],
)
def test_a_change_changes_its_key_only(
    change: str, section: str, key: str, value: object, tmp_path: Path
) -> None:
    plain = read_preset(preset(tmp_path)).as_table()
    changed = read_preset(preset(tmp_path), [change]).as_table()
    assert changed[section][key] == value
    plain[section][key] = value
    assert changed == plain


def test_parts_are_left_out_or_chosen_not_both(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"strategy.without and strategy.only exclude each other"):
        read_preset(preset(tmp_path), ["strategy.only=['heat']", "strategy.without=['span']"])


SENTENCES = {
    "tasks.size=5": "there is no key 'tasks.size' (there are variant, sizes, shapes, ",
    "ppo.epochs=1": "there is no section 'ppo' (there are tasks, strategy, validation, run)",
    "tasks.sizes=[5, 8]": "tasks.sizes must be odd numbers from 3 on, not 8",
    "tasks.sizes=[5, 4001]": "tasks.sizes must be at most 4000, not 4001",
    "tasks.steps=[20, 99999999999999999999]": "tasks.steps and tasks.work must be at most 1000000000, ",
    "validation.sizes=[99999999999]": "validation.sizes must be at most 4000, not 99999999999",
    "validation.work=[9999999999]": "validation.work must be at most 1000000000, not 9999999999",
    "validation.reference=9999999999": "validation.reference must be at most 1000000000, not ",
    "tasks.sizes=[]": "tasks.sizes must be at least 1, not empty",
    "tasks.sizes=[5, 'x']": "tasks.sizes must be a whole number, not 'x'",
    "tasks.shapes=[]": "tasks.shapes must name a shape",
    "tasks.shapes=['square']": "tasks.shapes is 'square', not one of uniform, clustered, mixed, ",
    "tasks.shapes=[1]": "tasks.shapes is 1, not one of uniform, ",
    "tasks.steps=[0]": "tasks.steps and tasks.work must be at least 1, not 0, 30",
    "tasks.work=[-3]": "tasks.steps and tasks.work must be at least 1, not 20, 40, -3",
    "tasks.count=0": "tasks.count must be at least 1, not 0",
    "tasks.seed=-1": "tasks.seed must be between 0 and 2**63 - 1, not -1",
    "tasks.variant=fifo": "tasks.variant is 'fifo', not one of pdtsp, lifo",
    "strategy.kind=ga": "strategy.kind is 'ga', not one of cma, sep-cma, gradient",
    "strategy.population=5": "strategy.population must be an even number from 4 on, not 5",
    "strategy.population=2": "strategy.population must be an even number from 4 on, not 2",
    "strategy.population=4.0": "strategy.population must be a whole number, not 4.0",
    "strategy.sigma=0": "strategy.sigma must be above 0 and at most 10, not 0",
    "strategy.sigma=nan": "strategy.sigma must be above 0 and at most 10, not nan",
    "strategy.rate=11": "strategy.rate must be above 0 and at most 10, not 11",
    "strategy.rate=true": "strategy.rate must be a number, not True",
    "strategy.generations=0": "strategy.generations must be at least 1, not 0",
    "validation.sizes=[4]": "validation.sizes must be odd numbers from 3 on, not 4",
    "validation.steps=[]": "validation.steps must be at least 1, not empty",
    "validation.every=0": "validation.every must be at least 1, not 0",
    "validation.reference=0": "validation.reference must be at least 1, not 0",
    "validation.seed=-1": "validation.seed must not be negative, not -1",
    "strategy.only=['heats']": "strategy.only is 'heats', not one of detours, age, ",
    "strategy.only=['bridge']": "strategy.only names the bridge, but tasks.checkpoint no network",
    "tasks.checkpoint=3": "tasks.checkpoint must be a text, not 3",
    "run.threads=-1": "run.threads must not be negative, not -1",
    "run.checkpoint_minutes=0": "run.checkpoint_minutes must be positive, not 0",
    "run.checkpoint_minutes=nan": "run.checkpoint_minutes must be positive, not nan",
    "generations=3": "a change is written section.key=value, not 'generations=3'",
}


@pytest.mark.parametrize(("change", "sentence"), SENTENCES.items())
def test_a_wrong_change_is_one_sentence_that_names_the_key(
    change: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        read_preset(preset(tmp_path), [change])
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[task]\n", "there is no section 'task' ("),
        ("[tasks]\nsize = 3\n", "there is no key 'tasks.size' ("),
        ("tasks = 3", "tasks must be a section, not 3"),
        ("[tasks", "is not TOML ("),
    ],
)
def test_what_is_wrong_in_a_file_names_the_file(text: str, sentence: str, tmp_path: Path) -> None:
    path = preset(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_preset(path, ["tasks.count=2"])
    assert str(caught.value).startswith(f"{path}: {sentence}")


def test_a_network_scores_no_long_tours() -> None:
    tasks = {"checkpoint": "net.safetensors", "sizes": [51, 401]}
    with pytest.raises(InputError, match="at most 301 nodes, not 401"):
        config_of({"tasks": tasks})
    assert config_of({"tasks": {**tasks, "checkpoint": ""}}).tasks.sizes == (51, 401)


def same_run(record: dict[str, Any], name: str) -> EvolveConfig:
    """Check that a policy's record is a run of a preset, for as many generations as it had."""
    preset = read_preset(PRESETS / f"{name}.toml")
    config = config_of(record["config"])  # a key that is missing came later and has its default
    assert record["preset"] == name
    assert config.tasks == preset.tasks
    assert config.validation == preset.validation
    generations = config.strategy.generations
    assert config.strategy == replace(preset.strategy, generations=generations)
    return preset


def test_a_shipped_policy_is_a_run_of_its_preset(variant: Variant) -> None:
    """By its record: from nothing, with the preset's keys, for as many generations as it says."""
    record = find(None, variant).record
    preset = same_run(record, f"native-{variant}")
    assert "from" not in record
    assert record["generations"] == preset.strategy.generations


def test_a_prior_is_a_run_of_its_preset_from_the_policy_that_it_names(variant: Variant) -> None:
    record = read(f"native-outlook-{variant}").record
    same_run(record, f"native-outlook-{variant}")
    assert record["from"]["sha256"] == read(f"native-single-{variant}").sha256


def test_a_prior_that_builds_is_a_run_of_its_preset_too(variant: Variant) -> None:
    record = read(f"native-build-{variant}").record
    same_run(record, f"native-build-{variant}")
    assert record["from"]["sha256"] == read(f"native-outlook-{variant}").sha256


def test_building_is_for_budgets_in_steps() -> None:
    with pytest.raises(InputError, match=r"strategy\.build: its time is not counted as work"):
        config_of({"tasks": {"work": [100]}, "strategy": {"build": True}})
    with pytest.raises(InputError, match=r"only names the build, but strategy\.build is false"):
        config_of({"strategy": {"only": ["build"]}})
    with pytest.raises(InputError, match=r"strategy\.build is true, but"):
        config_of({"strategy": {"build": True, "without": ["build"]}})


def test_copies_belong_to_budgets_in_steps() -> None:
    config = config_of({"tasks": {"steps": [10, 20], "copies": [4, 1]}})
    assert budgets_of(config.tasks.steps, config.tasks.copies) == [(10, 4), (20, 1)]
    assert budgets_of((10, 20), (3,)) == [(10, 3), (20, 3)]
    for copies, sentence in (
        ([1, 2, 3], "tasks.copies must be one number for all steps or one for each of 2, not 3"),
        ([0], "tasks.copies must be at least 1, not 0"),
        ([1001], "tasks.copies must be at most 1000, not 1001"),
    ):
        with pytest.raises(InputError, match=sentence):
            config_of({"tasks": {"steps": [10, 20], "copies": copies}})
        with pytest.raises(InputError, match=sentence.replace("tasks", "validation")):
            config_of({"validation": {"steps": [10, 20], "copies": copies}})


def test_an_outlook_is_for_steps_that_cost_alike() -> None:
    with pytest.raises(InputError, match=r"strategy\.outlook: its time is not counted as work"):
        config_of({"tasks": {"work": [100]}, "strategy": {"outlook": True}})
    with pytest.raises(InputError, match=r"only names the outlook, but strategy\.outlook is false"):
        config_of({"strategy": {"only": ["outlook"]}})
    with pytest.raises(InputError, match="its time is not counted as work"):
        config_of({"validation": {"work": [100]}, "strategy": {"outlook": True}})
    for left_out in ({"without": ["outlook"]}, {"only": ["heat"]}):
        with pytest.raises(InputError, match=r"is true, but strategy\.without or strategy\.only"):
            config_of({"strategy": {"outlook": True, **left_out}})
    assert config_of({"strategy": {"only": ["outlook"], "outlook": True}}).strategy.outlook
