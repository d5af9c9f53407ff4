"""Presets: the published numbers, changes on top, and errors that name the key."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from n2s.errors import InputError
from n2s.model import Operator
from n2s.model.config import Attention
from n2s.problem import Distribution, Variant
from n2s.train import TrainConfig, config_of, read_preset
from train.runs import TINY, preset, tiny_config

PRESETS = Path(__file__).parents[2] / "presets"
# Gradient norm and curriculum divisor of the paper, by N.
BY_SIZE = {21: (0.05, 2.0), 51: (0.15, 1.5), 101: (0.35, 1.0)}


@pytest.mark.parametrize("size", BY_SIZE)
def test_the_papers_presets_hold_the_published_numbers(size: int, variant: Variant) -> None:
    config = read_preset(PRESETS / f"paper-{variant}-{size}.toml")
    norm, divisor = BY_SIZE[size]
    ppo, policy, starts, data = config.ppo, config.policy, config.starts, config.data
    assert (ppo.n_step, ppo.steps, ppo.updates) == (5, 250, 3)
    assert (ppo.ratio_clip, ppo.gamma) == (0.1, 0.999)
    assert (ppo.policy_rate, ppo.critic_rate, ppo.decay) == (8e-5, 2e-5, 0.985)
    assert (ppo.epochs, ppo.batches, data.batch) == (200, 20, (600,))
    assert ppo.max_norm == norm
    assert ppo.normalise is False
    assert (starts.random, starts.policy, starts.annealed) == (0.0, 1.0, 0.0)
    assert starts.divisor == divisor
    assert (data.sizes, data.since, data.variant) == ((size,), (1,), variant)
    assert data.distribution is Distribution.UNIFORM
    assert (policy.width, policy.heads, policy.layers, policy.clip) == (128, 4, 3, 6.0)
    assert policy.attention is Attention.SYNTH
    assert (policy.removal, policy.reinsertion) == (Operator.LEARNED, Operator.LEARNED)
    assert policy.costs is False
    # 200 epochs of 20 batches of 600 instances and 250 steps.
    assert ppo.epochs * ppo.batches * data.batch[0] * ppo.steps == 600_000_000


@pytest.mark.parametrize(
    "path",
    sorted(path for path in PRESETS.glob("*.toml") if not path.stem.startswith("native-")),
    ids=lambda path: path.stem,
)
def test_every_preset_can_be_read_and_says_its_variant(path: Path) -> None:
    config = read_preset(path)
    assert config.data.variant.value == path.stem.split("-")[1]
    assert config_of(json.loads(json.dumps(config.as_table()))) == config


def test_the_presets_for_a_cpu_are_one_policy_for_all_sizes(variant: Variant) -> None:
    config = read_preset(PRESETS / f"cpu-{variant}.toml")
    assert (config.policy.width, config.policy.costs) == (64, True)
    assert config.data.sizes == (21, 51, 101)
    assert config.policy.prior == "native"
    assert config.data.active(1) == [0, 1, 2]
    # Whole searches from random tours, the lengths of which the prior knows.
    assert config.starts.random == 1.0
    assert config.starts.horizon == (config.ppo.steps, config.ppo.steps)


def test_one_entry_stands_for_all_sizes() -> None:
    data = tiny_config(data={"sizes": [5, 7, 9], "since": 1, "batch": 6}).data
    assert (data.sizes, data.since, data.batch) == ((5, 7, 9), (1, 1, 1), (6, 6, 6))


def test_without_a_section_there_are_the_defaults() -> None:
    assert config_of({}) == TrainConfig()
    assert config_of({"ppo": {}}) == TrainConfig()
    assert config_of({"ppo": {"gamma": 1}}).ppo.gamma == 1.0


@pytest.mark.parametrize(
    ("change", "section", "key", "value"),
    [
        ("ppo.epochs=7", "ppo", "epochs", 7),
        (" ppo.epochs = 7 ", "ppo", "epochs", 7),
        ("ppo.gamma=1", "ppo", "gamma", 1.0),
        ("ppo.policy_rate=3e-4", "ppo", "policy_rate", 3e-4),
        ("ppo.normalise=true", "ppo", "normalise", True),
        ("data.variant=lifo", "data", "variant", Variant.LIFO),
        ('data.variant="lifo"', "data", "variant", Variant.LIFO),
        ("data.distribution=mixed", "data", "distribution", Distribution.MIXED),
        ("data.sizes=[5, 11]", "data", "sizes", (5, 11)),
        ("data.batch=9", "data", "batch", (9, 9)),
        ("policy.width=32", "policy", "width", 32),
        ("policy.attention=vanilla", "policy", "attention", Attention.VANILLA),
        ("validation.sizes=21", "validation", "sizes", (21,)),
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


def test_the_last_of_several_changes_counts(tmp_path: Path) -> None:
    config = read_preset(preset(tmp_path), ["ppo.epochs=7", "run.part=3", "ppo.epochs=8"])
    assert (config.ppo.epochs, config.run.part) == (8, 3)


SENTENCES = {
    # Unknown names.
    "ppo.epoch=1": "there is no key 'ppo.epoch' (there are epochs, batches, ",
    "training.epochs=1": "there is no section 'training' (there are policy, data, ppo, ",
    "policy.widht=1": "the policy has no option 'widht'",
    "ppo.a.b=1": "there is no key 'ppo.a.b' (",
    # Wrong kinds.
    "ppo.epochs=1.5": "ppo.epochs must be a whole number, not 1.5",
    "ppo.epochs=true": "ppo.epochs must be a whole number, not True",
    "ppo.epochs=many": "ppo.epochs must be a whole number, not 'many'",
    "ppo.epochs=": "ppo.epochs must be a whole number, not ''",
    "ppo.gamma=high": "ppo.gamma must be a number, not 'high'",
    "ppo.gamma=true": "ppo.gamma must be a number, not True",
    "ppo.normalise=1": "ppo.normalise must be true or false, not 1",
    "data.sizes=[5, 'x']": "data.sizes must be a whole number, not 'x'",
    "data.variant=fifo": "data.variant is 'fifo', not one of pdtsp, lifo",
    "data.variant=1": "data.variant is 1, not one of pdtsp, lifo",
    "policy.width=wide": "width must be a positive whole number, not 'wide'",
    # Impossible values.
    "ppo.epochs=0": "ppo.epochs must be at least 1, not 0",
    "ppo.steps=12": "ppo.steps 12 must be a multiple of ppo.n_step 5",
    "ppo.gamma=1.1": "ppo.gamma must be between 0 and 1, not 1.1",
    "ppo.gamma=nan": "ppo.gamma must be between 0 and 1, not nan",
    "ppo.critic_first=-1": "ppo.critic_first must be at least 0, not -1",
    "ppo.policy_rate=0": "ppo.policy_rate must be between 0 and 1e+30, not 0.0",
    "ppo.policy_rate=inf": "ppo.policy_rate must be between 0 and 1e+30, not inf",
    "ppo.most_kl=-1": "ppo.most_kl must be between 0 and 1e+30, not -1.0",
    "data.sizes=[5, 8]": "data.sizes must be odd numbers from 3 on, not 8",
    "data.sizes=1": "data.sizes must be odd numbers from 3 on, not 1",
    "data.sizes=[]": "data.sizes must be at least 1, not empty",
    "data.since=[2, 3]": "data.since must let some size begin in epoch 1",
    "data.since=[1, 2, 3]": "data.since has 3 entries, data.sizes 2",
    "data.batch=[4, 0]": "data.batch must be at least 1, not 4, 0",
    "data.seed=-1": "data.seed must be between 0 and 2**63 - 1, not -1",
    f"data.seed={2**63}": f"data.seed must be between 0 and 2**63 - 1, not {2**63}",
    "starts.random=0.5": "the shares of starts (random, policy, annealed) must add up to 1",
    "starts.policy=-0.5": "starts.policy must be a share, not -0.5",
    "starts.divisor=0": "starts.divisor must be positive, not 0.0",
    "starts.divisor=1e-320": "starts.divisor must be positive, not 1e-320",
    "starts.horizon=[0, 5]": "starts.horizon must be at least 1, not 0, 5",
    "starts.horizon=[50, 5]": "starts.horizon must be the least and the most steps, two numbers up to 1e9",
    "starts.horizon=[1, 100000000000000000000]": "starts.horizon must be the least and the most steps, "
    "two numbers up to 1e9",
    "starts.horizon=[50]": "starts.horizon must be the least and the most steps, two numbers up to 1e9",
    "lessons.epochs=-1": "lessons.epochs must not be negative, not -1",
    "lessons.epochs=3": "lessons.teacher must name who teaches for lessons.epochs epochs",
    "lessons.steps=0": "lessons.steps must be at least 1, not 0",
    "lessons.at=1.5": "lessons.at must be a share, not 1.5",
    "lessons.at=nan": "lessons.at must be a share, not nan",
    "validation.count=0": "validation.count must be at least 1, not 0",
    "validation.sizes=[4]": "validation.sizes must be odd numbers from 3 on, not 4",
    "validation.seed=-1": "validation.seed must not be negative, not -1",
    "run.threads=-1": "run.threads must not be negative, not -1",
    "run.log_every=0": "run.log_every must be at least 1, not 0",
    "run.part=0": "run.part must be at least 1, not 0",
    "run.checkpoint_minutes=-1": "run.checkpoint_minutes must be a number of minutes, not -1.0",
    "run.checkpoint_minutes=inf": "run.checkpoint_minutes must be a number of minutes, not inf",
    "policy.width=12": "width 12 must be a multiple of twice the 4 heads",
    # Nothing to be learned: told once both operators are named.
    "policy.removal=random": None,
    # No changes at all.
    "ppo.epochs": "a change is written section.key=value, not 'ppo.epochs'",
    "epochs=3": "a change is written section.key=value, not 'epochs=3'",
    "ppo.=3": "a change is written section.key=value, not 'ppo.=3'",
    "": "a change is written section.key=value, not ''",
}


@pytest.mark.parametrize(("change", "sentence"), SENTENCES.items())
def test_a_wrong_change_is_one_sentence_that_names_the_key(
    change: str, sentence: str | None, tmp_path: Path
) -> None:
    path = preset(tmp_path)
    if sentence is None:
        read_preset(path, [change])
        return
    with pytest.raises(InputError) as caught:
        read_preset(path, [change])
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_lessons_without_somebody_who_can_learn_both() -> None:
    lessons = {"teacher": "native-single-pdtsp", "epochs": 1}
    for operator in ("removal", "reinsertion"):
        with pytest.raises(InputError, match="lessons are for policies whose operators are both"):
            tiny_config(lessons=lessons, policy={operator: "epsilon-greedy"})


def test_lessons_teach_the_critic_as_well() -> None:
    lessons = {"teacher": "native-single-pdtsp", "epochs": 1}
    with pytest.raises(InputError, match=r"^ppo\.critic_first has no meaning with lessons"):
        tiny_config(lessons=lessons, ppo={"critic_first": 1})


def test_a_policy_without_a_learned_operator() -> None:
    both = {"removal": "random", "reinsertion": "epsilon-greedy"}
    with pytest.raises(
        InputError, match=r"^a policy without a learned operator cannot be trained$"
    ):
        tiny_config(policy=both)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (TINY + "[traning]\n", "there is no section 'traning' ("),
        (TINY.replace("epochs", "epoch"), "there is no key 'ppo.epoch' ("),
        (TINY.replace("epochs = 2", "epochs = '2'"), "ppo.epochs must be a whole number, not '2'"),
        ("ppo = 3", "ppo must be a section, not 3"),
        ("policy = 3", "policy must be a section, not 3"),
        ("[ppo", "is not TOML ("),
        ("a = 1", "there is no section 'a' ("),
    ],
)
def test_what_is_wrong_in_a_file_names_the_file(text: str, sentence: str, tmp_path: Path) -> None:
    path = preset(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_preset(path, ["ppo.epochs=2"])
    assert str(caught.value).startswith(f"{path}: {sentence}")
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    with pytest.raises(InputError) as caught:
        read_preset(missing)
    assert str(caught.value) == f"{missing}: cannot be read (No such file or directory)"
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError) as caught:
        read_preset(binary)
    assert str(caught.value) == f"{binary}: is not UTF-8 text"


def test_a_configuration_survives_the_way_through_its_table() -> None:
    config = config_of(tomllib.loads(TINY))
    assert config_of(json.loads(json.dumps(config.as_table()))) == config
