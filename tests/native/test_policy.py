"""Files of native policies: whole and unchanged, or one sentence that names the file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from n2s.errors import InputError
from n2s.kernels.native_decisions import LAYOUT, PARAMETERS
from n2s.native import NativePolicy, find, load, names, save
from n2s.native import policy as module
from n2s.native.policy import untrained
from n2s.problem import Variant

POLICIES = Path(module.__file__).parent / "policies"


def some_policy(variant: Variant = Variant.LIFO) -> NativePolicy:
    theta = np.random.default_rng(1).normal(size=PARAMETERS)
    theta[:3] = [1 / 3, 1e-300, -1e6]
    return NativePolicy(variant, theta, {"preset": "mine", "generations": 7})


def refused(path: Path) -> str:
    """The one sentence, without the name of the file."""
    with pytest.raises(InputError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def test_a_policy_survives_its_file_to_the_last_bit(tmp_path: Path, variant: Variant) -> None:
    policy = some_policy(variant)
    save(policy, tmp_path / "p.json")
    again = load(tmp_path / "p.json")
    assert again.theta.tolist() == policy.theta.tolist()
    assert (again.variant, again.record, again.sha256) == (variant, policy.record, policy.sha256)
    save(again, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "p.json").read_bytes()


def test_blocks_are_slices_in_the_order_of_the_layout() -> None:
    policy = NativePolicy(Variant.PDTSP, np.arange(PARAMETERS, dtype=float))
    assert list(policy.blocks) == list(LAYOUT)
    assert policy.blocks["removal/linear"] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert policy.blocks["heat/range"] == [128, 129]
    assert policy.blocks["blocks"] == [203, 204, 205, 206, 207, 208, 209]
    assert policy.blocks["return"] == [210, 211, 212, 213, 214, 215]
    assert [v for block in policy.blocks.values() for v in block] == list(range(PARAMETERS))


def test_optional_blocks_without_weights_are_none(tmp_path: Path) -> None:
    """Neither files nor hashes of policies without an outlook, building or a bridge say a word of it."""
    theta = np.random.default_rng(1).normal(size=PARAMETERS)
    whole = NativePolicy(Variant.LIFO, theta)
    assert whole.bridge.tolist() == whole.blocks["bridge"] == theta[238:].tolist()
    theta[238:] = 0.0
    unbridged = NativePolicy(Variant.LIFO, theta)
    assert unbridged.bridge.tolist() == [0, 0, 0]
    assert list(unbridged.blocks) == list(LAYOUT)[:-1]
    assert unbridged.blocks["outlook"] == theta[216:234].tolist()
    assert unbridged.blocks["build"] == theta[234:238].tolist()
    theta[216:] = 0.0
    without = NativePolicy(Variant.LIFO, theta)
    assert list(without.blocks) == list(LAYOUT)[:-3]
    text = json.dumps(["lifo", without.blocks])
    assert without.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert len({whole.sha256, unbridged.sha256, without.sha256}) == 3
    for policy in (whole, unbridged, without):
        save(policy, tmp_path / "p.json")
        assert load(tmp_path / "p.json").theta.tolist() == policy.theta.tolist()


def test_parameters_cannot_be_changed_behind_the_hash() -> None:
    theta = np.zeros(PARAMETERS)
    policy = NativePolicy(Variant.PDTSP, theta)
    before = policy.sha256
    theta[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        policy.theta[0] = 1.0
    assert policy.sha256 == before
    assert policy.theta[0] == 0.0


def test_the_hash_is_of_variant_and_parameters() -> None:
    policy = some_policy()
    assert NativePolicy(policy.variant, policy.theta, {"other": 1}).sha256 == policy.sha256
    assert NativePolicy(Variant.PDTSP, policy.theta).sha256 != policy.sha256
    theta = policy.theta.copy()
    theta[-1] = np.nextafter(theta[-1], 9)
    assert NativePolicy(policy.variant, theta).sha256 != policy.sha256
    # Known by heart: files of this format have to stay readable.
    assert untrained(Variant.PDTSP).sha256.startswith("b3d85ceaf27b")
    assert untrained(Variant.LIFO).sha256.startswith("7035392ab2d3")


@pytest.mark.parametrize(
    ("theta", "sentence"),
    [
        (np.zeros(5), "a native policy has 241 parameters, not 5"),
        (np.zeros((3, 80)), "a native policy has 241 parameters, not 240"),
        (np.full(PARAMETERS, np.nan), "a parameter of the native policy is not a number of"),
        (np.full(PARAMETERS, -np.inf), "a parameter of the native policy is not a number of"),
        (np.full(PARAMETERS, 1.1e6), "a parameter of the native policy is not a number of"),
    ],
)
def test_impossible_parameters(theta: np.ndarray, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        NativePolicy(Variant.PDTSP, theta)


def content() -> dict[str, Any]:
    policy = some_policy()
    return {
        "kind": "n2s native policy",
        "format": 3,
        "variant": "lifo",
        "sha256": policy.sha256,
        "training": policy.record,
        "parameters": policy.blocks,
    }


def reorder(c: dict[str, Any]) -> None:
    c["parameters"] = dict(reversed(c["parameters"].items()))


SIZE = "a number in the block ways is not one of sensible size"
HASH = "its parameters are not those that its hash was made of"
BLOCKS = "has other blocks of parameters than removal/linear, "
CHANGES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a parameter": (lambda c: c["parameters"]["ways"].__setitem__(0, 0.5), HASH),
    "the last bit": (
        lambda c: c["parameters"]["ways"].__setitem__(
            0, float(np.nextafter(c["parameters"]["ways"][0], 9))
        ),
        HASH,
    ),
    "the hash": (lambda c: c.update(sha256="0" * 64), HASH),
    "no hash": (lambda c: c.pop("sha256"), HASH),
    "the variant": (lambda c: c.update(variant="pdtsp"), HASH),
    "a missing block": (lambda c: c["parameters"].pop("ways"), BLOCKS),
    "one block more": (lambda c: c["parameters"].update(more=[1.0]), BLOCKS),
    "another order": (reorder, BLOCKS),
    "a short block": (
        lambda c: c["parameters"]["ways"].pop(),
        "the block ways must hold 3 numbers",
    ),
    "a text": (
        lambda c: c["parameters"]["ways"].__setitem__(0, "1"),
        "the block ways must hold 3 numbers",
    ),
    "a truth": (
        lambda c: c["parameters"]["ways"].__setitem__(0, True),
        "the block ways must hold 3 numbers",
    ),
    "no list": (lambda c: c["parameters"].update(ways=3), "the block ways must hold 3 numbers"),
    "nan": (lambda c: c["parameters"]["ways"].__setitem__(0, float("nan")), SIZE),
    "infinity": (lambda c: c["parameters"]["ways"].__setitem__(0, float("inf")), SIZE),
    "a huge number": (lambda c: c["parameters"]["ways"].__setitem__(0, 10**400), SIZE),
    "an unknown variant": (
        lambda c: c.update(variant="fifo"),
        "is for the variant 'fifo', which is unknown",
    ),
    "a variant that is a list": (
        lambda c: c.update(variant=["lifo"]),
        "is for the variant ['lifo'], which is unknown",
    ),
    "another format": (lambda c: c.update(format=1), "is of format 1, not 3"),
    "no format": (lambda c: c.pop("format"), "is of format None, not 3"),
    "another kind": (lambda c: c.update(kind="n2s solution"), "is not a native policy"),
    "no parameters": (
        lambda c: c.pop("parameters"),
        "holds no parameters or no record of the training",
    ),
    "no record": (
        lambda c: c.update(training=[]),
        "holds no parameters or no record of the training",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_file_is_refused(name: str, tmp_path: Path) -> None:
    change, sentence = CHANGES[name]
    path = tmp_path / "p.json"
    whole = content()
    path.write_text(json.dumps(whole))
    assert load(path).theta.tolist() == some_policy().theta.tolist()
    change(whole)
    path.write_text(json.dumps(whole))
    assert refused(path).startswith(sentence)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_file(share: float, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    save(some_policy(), path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    assert refused(path).startswith("is not JSON (")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"[]", "is not a native policy"),
        (b"3", "is not a native policy"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"[" * 100_000, "is not JSON ("),
    ],
)
def test_files_of_other_kinds(data: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(data)
    assert refused(path).startswith(sentence)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.json") == "cannot be read (No such file or directory)"
    assert refused(tmp_path) == "cannot be read (Is a directory)"


@pytest.mark.parametrize("variant", list(Variant), ids=str)
def test_shipped_policies(variant: Variant) -> None:
    policy = find(None, variant)
    assert policy.sha256 == find(f"native-{variant}", variant).sha256
    assert policy.variant is variant
    assert policy.sha256 == json.loads((POLICIES / f"{variant}.json").read_text())["sha256"]
    assert np.abs(policy.theta).max() > 0
    assert policy.record["generations"] > 0
    assert policy.record["config"]["tasks"]["variant"] == variant


def test_a_variant_without_a_policy_gets_that_of_lifo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "policies").mkdir()
    monkeypatch.setattr(module.resources, "files", lambda package: tmp_path)
    save(some_policy(), tmp_path / "policies" / "lifo.json")
    assert list(names()) == ["native-lifo"]
    assert find(None, Variant.PDTSP).sha256 == some_policy().sha256
    save(some_policy(Variant.PDTSP), tmp_path / "policies" / "pdtsp.json")
    assert find(None, Variant.PDTSP).variant is Variant.PDTSP
