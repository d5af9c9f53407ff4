"""Runs that begin with the weights of another policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from model.observations import observe, uniforms
from n2s.errors import InputError
from n2s.kernels.native_decisions import PARAMETERS
from n2s.model import load
from n2s.native import NativePolicy
from n2s.native import save as save_native
from n2s.native.parts import Part, indices
from n2s.problem import Variant
from n2s.train import Trainer
from n2s.train.run import begin, train
from train.runs import preset, run_to

NATIVE = ["policy.costs=true", "policy.prior=native"]


def native(folder: Path, variant: Variant = Variant.PDTSP) -> NativePolicy:
    theta = np.random.default_rng(1).normal(0, 0.3, PARAMETERS)
    theta[indices(Part.BUILD)] = 0.0
    policy = NativePolicy(variant, theta)
    save_native(policy, folder / "native.json")
    return policy


def test_a_run_begins_with_a_checkpoints_weights(tmp_path: Path) -> None:
    first = begin(preset(tmp_path), tmp_path / "first")
    run_to(first, 3)
    trained = load(tmp_path / "first" / "policy.safetensors")
    start = str(tmp_path / "first" / "policy.safetensors")
    second = begin(preset(tmp_path), tmp_path / "second", ["data.seed=7"], start=start)
    networks = second.learner.networks
    assert trained.critic is not None
    for old, new in ((trained.policy, networks.policy), (trained.critic, networks.critic)):
        for name, weight in old.state_dict().items():
            assert torch.equal(new.state_dict()[name], weight), name
    assert second.position.update == 0
    run_to(second, 2)
    record = load(tmp_path / "second" / "policy.safetensors").record
    assert record["from"] == f"policy {trained.sha256[:12]}"
    # What a run began with is part of its record after a stop, too.
    again = Trainer.resume(tmp_path / "second")
    run_to(again, 3)
    assert load(tmp_path / "second" / "policy.safetensors").record["from"] == record["from"]


def test_a_run_begins_with_a_native_policy_as_its_prior(tmp_path: Path) -> None:
    policy = native(tmp_path)
    trainer = begin(preset(tmp_path), tmp_path / "run", NATIVE, start=str(tmp_path / "native.json"))
    weights = dict(trainer.learner.networks.policy.named_parameters())
    blocks = policy.blocks
    assert weights["removal.prior.linear"].tolist() == pytest.approx(blocks["removal/linear"])
    assert weights["removal.prior.features"].flatten().tolist() == pytest.approx(
        blocks["removal/features"]
    )
    assert weights["reinsertion.prior.heat.range"].tolist() == pytest.approx(blocks["heat/range"])
    assert weights["reinsertion.prior.places"].tolist() == pytest.approx(blocks["places"])
    before = {name: weight.detach().clone() for name, weight in weights.items()}
    observation = observe(7, 3, Variant.PDTSP)
    first = trainer.learner.networks.policy.act(observation, uniforms(7))
    # The network has no say yet: other weights of it decide alike.
    with torch.no_grad():
        weights["removal.w_q"].add_(1.0)
        weights["reinsertion.w1"].add_(1.0)
    second = trainer.learner.networks.policy.act(observation, uniforms(7))
    torch.testing.assert_close(first.log_prob, second.log_prob)
    run_to(trainer, 2)
    moved = [name for name, weight in weights.items() if not torch.equal(weight, before[name])]
    assert {"removal.prior.linear", "reinsertion.prior.heat.range", "reinsertion.w3"} <= set(moved)


@pytest.mark.parametrize(
    ("start", "changes", "message"),
    [
        ("native.json", [], 'only a policy with prior = "native" can begin with a native policy'),
        ("native.json", [*NATIVE, "data.variant=lifo"], "the policy is for pdtsp"),
        (
            "first/policy.safetensors",
            ["policy.width=8"],
            "has other options than the preset's: width",
        ),
        ("first/policy.safetensors", ["data.variant=lifo"], "the policy is for pdtsp, the preset"),
        ("none.safetensors", [], "cannot be read"),
        ("none", [], "there is no such file, and the package has no native policy of that name"),
    ],
)
def test_beginnings_that_do_not_fit(
    start: str, changes: list[str], message: str, tmp_path: Path
) -> None:
    native(tmp_path)
    run_to(begin(preset(tmp_path), tmp_path / "first"), 0)
    with pytest.raises(InputError) as caught:
        begin(preset(tmp_path), tmp_path / "run", changes, start=str(tmp_path / start))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_resumed_run_has_its_beginning_already(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no --out, no --from and no --set"):
        train(None, None, resume=tmp_path, start="native-pdtsp")


def test_a_run_without_a_folder_of_its_own_is_called_as_its_preset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert train(preset(tmp_path), None, minutes=1e-9) == "time"
    assert (tmp_path / "runs" / "tiny" / "policy.safetensors").exists()
    with pytest.raises(InputError, match="holds a run already"):
        train(preset(tmp_path), None, minutes=1e-9)
