from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load as parse_tensors
from safetensors.torch import save as render_tensors
from safetensors.torch import save_file

from model.observations import observe, policy_of, uniforms
from n2s.errors import InputError
from n2s.model import Checkpoint, Critic, load, save
from n2s.problem import Variant


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, Checkpoint]:
    policy = policy_of(costs=True)
    checkpoint = Checkpoint(
        policy, Variant.LIFO, (21, 51), Critic(policy.config), {"preset": "quick", "hours": 0.5}
    )
    path = tmp_path / "policy.safetensors"
    save(checkpoint, path)
    return path, checkpoint


def test_a_checkpoint_comes_back_whole(saved: tuple[Path, Checkpoint]) -> None:
    path, before = saved
    after = load(path)
    assert after.policy.config == before.policy.config
    assert (after.variant, after.sizes, after.record) == (
        Variant.LIFO,
        (21, 51),
        {"preset": "quick", "hours": 0.5},
    )
    assert after.critic is not None
    assert len(after.sha256) == 64
    observation = observe(7, 5, Variant.LIFO)
    first = before.policy.act(observation, uniforms(7))
    second = after.policy.act(observation, uniforms(7))
    assert torch.equal(first.log_prob, second.log_prob)


def test_without_a_critic(tmp_path: Path) -> None:
    path = tmp_path / "p.safetensors"
    digest = save(Checkpoint(policy_of(), Variant.PDTSP, (21,)), path)
    assert load(path).critic is None
    assert load(path).sha256 == digest


def edit(path: Path, tensors=None, **metadata: object) -> None:
    """Rewrite a checkpoint with other weights or metadata, as a careless hand would."""
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    ours = json.loads(header["__metadata__"]["n2s"]) | metadata
    weights = parse_tensors(data) | (tensors or {})
    kept = {name: tensor for name, tensor in weights.items() if tensor is not None}
    path.write_bytes(render_tensors(kept, {"n2s": json.dumps(ours)}))


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda path: path.write_bytes(b""), "not a complete safetensors"),
        (lambda path: path.write_bytes(path.read_bytes()[:-10]), "not a complete safetensors"),
        (lambda path: path.write_bytes(b"PK\x03\x04" + bytes(100)), "not a complete safetensors"),
        (lambda path: save_file({"x": torch.zeros(2)}, path), "no n2s checkpoint"),
        (lambda path: edit(path, variant="pdtsp"), "the hash is"),
        (lambda path: edit(path, {"policy.encoder.w_x": torch.zeros(2, 16)}), "the hash is"),
        (lambda path: edit(path, config={"widht": 3}), "no option 'widht'"),
        (lambda path: edit(path, variant="nothing"), "metadata cannot be used"),
    ],
)
def test_damaged_files_are_refused_by_name(saved, damage, sentence: str) -> None:
    path, _ = saved
    damage(path)
    with pytest.raises(InputError, match=sentence) as error:
        load(path)
    assert str(path) in str(error.value)


def test_weights_of_another_shape_or_name_are_refused(
    saved: tuple[Path, Checkpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the hash: a file whose weights and configuration do not belong together."""
    path, _ = saved
    # The hash would stop all of these first; strictness must not depend on it.
    monkeypatch.setattr("n2s.model.checkpoint._digest", lambda *_: "0" * 64)
    original = path.read_bytes()
    for tensors, sentence in (
        ({"policy.encoder.w_x": torch.zeros(2, 8)}, r"has shape \(2, 8\), not \(2, 16\)"),
        ({"policy.encoder.w_x": None}, "policy.encoder.w_x is missing"),
        ({"policy.more": torch.zeros(1)}, "policy.more does not belong"),
        ({"policy.encoder.w_x": torch.zeros(2, 16).double()}, "is torch.float64"),
        ({"policy.encoder.w_x": torch.full((2, 16), torch.nan)}, "not finite"),
    ):
        path.write_bytes(original)
        edit(path, tensors, sha256="0" * 64)
        with pytest.raises(InputError, match=sentence):
            load(path)


def test_weights_that_are_not_numbers_are_not_saved(tmp_path: Path) -> None:
    policy = policy_of()
    with torch.no_grad():
        policy.encoder.w_x[0, 0] = torch.inf  # type: ignore[union-attr,index]
    path = tmp_path / "p.safetensors"
    with pytest.raises(InputError, match=r"encoder.w_x holds a number that is not finite"):
        save(Checkpoint(policy, Variant.PDTSP, ()), path)
    assert not path.exists()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read"):
        load(tmp_path / "none.safetensors")
