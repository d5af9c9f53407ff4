"""``native+n2s`` from end to end, with networks that nobody has trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from n2s.errors import InputError
from n2s.kernels.native_decisions import PARAMETERS
from n2s.model import Checkpoint, Policy, PolicyConfig
from n2s.model import load as load_network
from n2s.model import save as save_network
from n2s.model.scores import Scorer
from n2s.native import NativePolicy, load, save
from n2s.problem import Instance, Variant, evaluate, generate
from n2s.search.bridging import bridge_of, network
from n2s.search.native_search import landscape_of
from n2s.search.network_view import network_view
from n2s.search.solve import SolveManyError, solve, solve_many


def tiny(folder: Path, variant: Variant, seed: int = 0, **fields: object) -> Path:
    """A tiny network in a file."""
    torch.manual_seed(seed)
    path = folder / f"tiny-{seed}.safetensors"
    policy = Policy(PolicyConfig(width=16, **fields))  # type: ignore[arg-type]
    save_network(Checkpoint(policy, variant, (11,)), path)
    return path


def native(folder: Path, variant: Variant, *weights: float) -> Path:
    theta = np.random.default_rng(4).normal(0, 0.2, PARAMETERS)
    theta[-3:] = weights
    path = folder / f"native-{weights[0]:g}.json"
    save(NativePolicy(variant, theta), path)
    return path


@pytest.fixture
def files(variant: Variant, tmp_path: Path) -> dict[str, Path]:
    """A network and a native policy that weighs its scores."""
    return {"checkpoint": tiny(tmp_path, variant), "native": native(tmp_path, variant, 1, 0.5, 0.5)}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [1, 2, 20])
def test_a_search_is_judged_and_found_again(
    n: int, threads: int, files: dict[str, Path], variant: Variant
) -> None:
    instance = generate(n, seed=3, variant=variant)[0]
    first, again = (
        solve(instance, method="native+n2s", steps=900, every=100, threads=threads, **files)  # type: ignore[arg-type]
        for _ in range(2)
    )
    verdict = evaluate(instance, first.route)
    assert verdict.feasible
    assert verdict.cost == first.cost
    assert (first.method, first.steps, first.stopped) == ("native+n2s", 900, "steps")
    assert first.route == again.route
    sums = [load_network(files["checkpoint"]).sha256[:12], load(files["native"]).sha256[:12]]
    assert first.checkpoint == f"tiny-0 {sums[0]}, native {sums[1]}"


def test_network_weights_and_how_often_it_is_asked_decide(
    files: dict[str, Path], variant: Variant, tmp_path: Path
) -> None:
    instance = generate(60, seed=5, variant=variant)[0]

    def route(**other: object) -> list[object]:
        wish = {"method": "native+n2s", "every": 100, **files, **other}
        return solve(instance, steps=500, threads=1, **wish).route  # type: ignore[arg-type]

    found = [
        route(),
        route(checkpoint=tiny(tmp_path, variant, 1)),
        route(native=native(tmp_path, variant, -2, 0.5, 0.5)),
        route(every=450),
        solve(instance, method="native", checkpoint=files["native"], steps=500, threads=1).route,
    ]
    for index, one in enumerate(found):
        assert one not in found[:index]


@pytest.mark.parametrize("fields", [{"costs": True}, {"attention": "dac"}, {"heads": 2}], ids=str)
def test_networks_of_other_kinds(
    fields: dict[str, object], variant: Variant, tmp_path: Path
) -> None:
    instance = generate(6, seed=1, variant=variant)[0]
    found = solve(
        instance,
        method="native+n2s",
        checkpoint=tiny(tmp_path, variant, **fields),
        native=native(tmp_path, variant, 1, 1, 1),
        steps=100,
    )
    assert evaluate(instance, found.route).feasible


def test_the_network_sees_the_unit_square_and_costs_in_its_units(variant: Variant) -> None:
    """A map in metres has the scores of the same map in the square."""
    torch.manual_seed(0)
    policy = Policy(PolicyConfig(width=16, costs=True))
    square = generate(6, seed=1, variant=variant)[0]
    assert square.coordinates is not None
    low, high = square.coordinates.min(0), square.coordinates.max(0)
    points = (square.coordinates - low) / (high - low).max()
    points += (1 - points.max(0)) / 2
    far = Instance(coordinates=70_000 + 5000 * points, variant=variant)
    land = landscape_of(far)
    named = network_named(policy, variant)
    found = bridge_of(named, far, land).first
    view = network_view(far)
    assert view.points == pytest.approx(points)
    plain = Instance(coordinates=points, variant=variant)
    expected = bridge_of(named, plain, landscape_of(plain)).first
    for name in ("removal", "pickup", "delivery"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-4)
    assert isinstance(bridge_of(named, far, land).scores_of, Scorer)


def network_named(policy: Policy, variant: Variant):  # type: ignore[no-untyped-def]
    from n2s.search.library import NamedPolicy

    return NamedPolicy("mine", policy, (variant,), (13,), "", "")


def test_costs_are_the_users_own(files: dict[str, Path], variant: Variant) -> None:
    rng = np.random.default_rng(1)
    for instance in (
        Instance(matrix=rng.random((11, 11)) * 9, open_end=True, variant=variant),
        Instance(matrix=np.zeros((11, 11)), variant=variant),
    ):
        found = solve(instance, method="native+n2s", steps=100, start="random", **files)  # type: ignore[arg-type]
        assert found.cost == pytest.approx(evaluate(instance, found.route).cost)


def test_a_time_limit_is_kept(files: dict[str, Path], variant: Variant) -> None:
    instance = generate(10, seed=1, variant=variant)[0]
    solve(instance, method="native+n2s", steps=2, **files)  # type: ignore[arg-type]
    found = solve(instance, method="native+n2s", time_limit=0.5, **files)  # type: ignore[arg-type]
    assert found.stopped == "time"
    assert found.seconds < 0.5 + 2
    assert found.steps > 100


def test_many(files: dict[str, Path], variant: Variant) -> None:
    """In threads, and each as alone; one for which there is no network does not stop the others."""
    instances = generate(5, count=4, seed=1, variant=variant)
    wish = {"method": "native+n2s", "steps": 200, "every": 60, **files}
    found = solve_many(instances, threads=2, **wish)  # type: ignore[arg-type]
    alone = [solve(instance, threads=1, **wish) for instance in instances]  # type: ignore[arg-type]
    assert [one.route for one in found] == [one.route for one in alone]
    other = next(v for v in Variant if v is not variant)
    with pytest.raises(SolveManyError, match="is for"):
        solve_many([*instances, *generate(5, variant=other)], **wish)  # type: ignore[arg-type]


def test_what_is_missing_is_one_sentence(
    files: dict[str, Path], variant: Variant, tmp_path: Path
) -> None:
    instance = generate(4, seed=1, variant=variant)[0]

    def refused(**other: object) -> str:
        wish = {**files, **other}
        with pytest.raises(InputError) as caught:
            solve(instance, method="native+n2s", steps=5, **wish)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert refused(native=native(tmp_path, variant, 0, 0, 0)) == (
        "the native policy has no weights for a network's scores: evolve one that has "
        "(presets/native-bridge-*.toml) and name it (--native)"
    )
    assert refused(checkpoint="epsilon-greedy") == (
        "the policy epsilon-greedy has no network whose scores could be used"
    )
    for silent in (None, f"n2s-{variant}"):
        assert refused(checkpoint=silent) == (
            f"the network of n2s-{variant} says nothing beside its prior: name another"
        )
    assert "there is no checkpoint 'nobody'" in refused(checkpoint="nobody")
    half = tiny(tmp_path, variant, 2, reinsertion="random")
    assert refused(checkpoint=half) == (
        "only a policy whose two decoders are learned has scores to add"
    )
    other = next(v for v in Variant if v is not variant)
    assert refused(checkpoint=tiny(tmp_path, other, 3)) == (
        f"the checkpoint tiny-3 is for {other}, the instance is {variant}"
    )


def test_without_a_name_there_must_be_a_shipped_network(
    variant: Variant, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from n2s.search import library

    monkeypatch.setattr(library, "shipped", dict)
    with pytest.raises(InputError) as caught:
        network(None, variant, 21)
    assert str(caught.value) == (
        f"there is no trained network for {variant} in the package: name one (--checkpoint)"
    )
    path = tiny(tmp_path, variant)
    monkeypatch.setattr(library, "shipped", lambda: {"mine": path})
    assert network(None, variant, 21).name == "mine"
