from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load as parse_tensors
from safetensors.torch import save as render_tensors
from safetensors.torch import save_file

from model.observations import observe, policy_of, uniforms
from n2s.errors import InputError
from n2s.model import Checkpoint, Critic, load, save
from n2s.model.config import PolicyConfig
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


def describe(path: Path, **entries: object) -> None:
    """Rewrite a file's header by hand, its weights left as they are."""
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.dumps(json.loads(data[8:end]) | entries).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + data[end:])


def say(path: Path, text: str) -> None:
    """Replace the metadata by a text."""
    path.write_bytes(render_tensors(parse_tensors(path.read_bytes()), {"n2s": text}))


def options(**fields: object) -> dict[str, object]:
    return asdict(PolicyConfig(width=16, costs=True)) | fields


def drop(path: Path, name: str) -> None:
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    ours = json.loads(header["__metadata__"]["n2s"])
    del ours[name]
    say(path, json.dumps(ours))


W = "policy.encoder.w_x"
DEEP = "[" * 200_000 + "]" * 200_000


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
        (lambda path: edit(path, variant=[1]), "metadata cannot be used"),
        (lambda path: edit(path, {W: torch.zeros(2, 16).bfloat16()}), f"{W} is 'BF16'"),
        (
            lambda path: edit(path, {W: torch.zeros(2, 16).to(torch.float8_e4m3fn)}),
            f"{W} is 'F8_E4M3'",
        ),
        (lambda path: edit(path, {W: torch.zeros(2, 16).long()}), f"{W} is 'I64'"),
        (lambda path: describe(path, more=None), "not a complete safetensors"),
        (lambda path: describe(path, more={"dtype": "F4"}), "more is 'F4'"),
        (lambda path: describe(path, __metadata__=None), "no n2s checkpoint"),
        (lambda path: describe(path, __metadata__={"n2s": "{}", "x": ""}), "unknown entry 'x'"),
        (
            lambda path: path.write_bytes(len(DEEP).to_bytes(8, "little") + DEEP.encode()),
            "not a complete safetensors",
        ),
        (lambda path: say(path, DEEP), "metadata cannot be used"),
        (lambda path: say(path, "[]"), "metadata cannot be used"),
        (lambda path: say(path, "{}"), "metadata has no entry 'config'"),
        (lambda path: edit(path, more=1), "metadata has an unknown entry 'more'"),
        (lambda path: drop(path, "sha256"), "metadata has no entry 'sha256'"),
        (lambda path: drop(path, "record"), "metadata has no entry 'record'"),
        (lambda path: edit(path, sizes=[float("inf")]), "metadata cannot be used"),
        (lambda path: say(path, '{"sizes": [1e999]}'), "metadata cannot be used"),
        (lambda path: edit(path, sizes=[21.5]), r"sizes must be whole numbers .*, not \[21.5\]"),
        (lambda path: edit(path, sizes="21"), "sizes must be whole numbers .*, not '21'"),
        (lambda path: edit(path, sizes=[2]), "sizes must be whole numbers from 3 on"),
        (lambda path: edit(path, sizes=[True]), "sizes must be whole numbers from 3 on"),
        (lambda path: edit(path, version=1), "version must be text, not 1"),
        (lambda path: edit(path, record=[["a", 1]]), "record must be an object"),
        (lambda path: edit(path, sha256=None), "the hash is .*, not None"),
        (lambda path: edit(path, config=[]), "options must be a table"),
        (lambda path: edit(path, config=options(beta="x")), "beta must be a finite number"),
        (lambda path: edit(path, config=options(width=2**17)), "width must be at most 4096"),
        (lambda path: edit(path, config=options(layers=30000)), "layers must be at most 64"),
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
        ({"policy.encoder.w_x": torch.zeros(2, 16).double()}, "is 'F64', not 'F32'"),
        ({"policy.encoder.w_x": torch.full((2, 16), torch.nan)}, "not finite"),
        ({"optimiser.step": torch.zeros(1)}, "optimiser.step does not belong"),
        ({"critic.b": None}, "critic.b is missing"),
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


def test_shapes_are_compared_before_memory_is_taken(
    saved: tuple[Path, Checkpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = saved
    monkeypatch.setattr("n2s.model.checkpoint._digest", lambda *_: "0" * 64)
    # A network of some 50 GB, were it built.
    edit(path, sha256="0" * 64, config=options(width=4096, heads=64, layers=64))
    with pytest.raises(InputError, match=r"the weight critic.attention.w_k has shape \(16, 16\)"):
        load(path)


@pytest.mark.parametrize("operator", ["random", "learned"])
def test_what_was_saved_can_be_loaded(tmp_path: Path, operator: str) -> None:
    """Keys that are no text, tuples: the record comes back as JSON has it, and the hash holds."""
    path = tmp_path / "p.safetensors"
    policy = policy_of(removal=operator, reinsertion=operator)
    record = {"costs": {21: 0.5, 51: 0.25, "x": None}, "seeds": (1, 2)}
    digest = save(Checkpoint(policy, Variant.PDTSP, (), None, record), path)
    after = load(path)
    assert after.record == {"costs": {"21": 0.5, "51": 0.25, "x": None}, "seeds": [1, 2]}
    assert (after.sha256, after.sizes) == (digest, ())


def nested(depth: int) -> dict[str, object]:
    record: dict[str, object] = {}
    for _ in range(depth):
        record = {"a": record}
    return record


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"record": {"a": torch.zeros(1)}}, "JSON cannot hold the checkpoint's record"),
        ({"record": {"a": float("nan")}}, "JSON cannot hold the checkpoint's record"),
        ({"record": {(1, 2): 3}}, "JSON cannot hold the checkpoint's record"),
        ({"record": {"a": 10**5000}}, "JSON cannot hold the checkpoint's record"),
        ({"record": nested(5000)}, "JSON cannot hold the checkpoint's record"),
        ({"sizes": (2,)}, "sizes must be whole numbers from 3 on"),
        ({"sizes": (21.0,)}, "sizes must be whole numbers from 3 on"),
        ({"version": None}, "version must be text, not None"),
        ({"policy": policy_of().double()}, "policy.* is torch.float64, not torch.float32"),
        ({"policy": policy_of().bfloat16()}, "policy.* is torch.bfloat16, not torch.float32"),
        ({"critic": Critic(PolicyConfig(width=32))}, r"critic.attention.w_k has shape \(32, 32\)"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(tmp_path: Path, change, sentence: str) -> None:
    path = tmp_path / "p.safetensors"
    with pytest.raises(InputError, match=sentence) as error:
        save(replace(Checkpoint(policy_of(), Variant.PDTSP, (21,)), **change), path)
    assert str(path) in str(error.value)
    assert not path.exists()


def test_a_checkpoint_from_before_an_option_existed_has_its_default(
    saved: tuple[Path, Checkpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, checkpoint = saved
    config = {k: v for k, v in asdict(checkpoint.policy.config).items() if k != "mask_last"}
    monkeypatch.setattr("n2s.model.checkpoint._digest", lambda *_: "0" * 64)
    edit(path, config=config, sha256="0" * 64)
    assert load(path).policy.config == checkpoint.policy.config
