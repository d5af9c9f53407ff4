"""Import of the authors' ``.pt`` checkpoints: their names and their readings of the paper into ours.

Their file is a dictionary with ``actor`` and ``critic`` state dictionaries. It is loaded with torch's
weights-only reader, which builds tensors and containers and runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import torch

from n2s.errors import InputError, UnsupportedError, located, quoted
from n2s.model.checkpoint import Checkpoint
from n2s.model.config import DECODER_WIDTH, FLAGS, Neighbours, PolicyConfig, Position, Successor
from n2s.model.critic import Critic
from n2s.model.policy import Policy
from n2s.problem import Variant

KINDS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
"""Numbers that can become float32."""


def import_released(
    path: str | Path, variant: Variant, sizes: tuple[int, ...] = (), clip: float = 6.0
) -> Checkpoint:
    """A checkpoint of the released code as one of ours.

    Parameters
    ----------
    variant, sizes
        The problem and the N it was trained on: the file does not say.
    clip
        Their option ``v_range``.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", str(path)) from error
    except Exception as error:  # whatever a broken or hostile file makes the reader raise
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"this is no checkpoint of weights only ({reason})", str(path)) from None
    with located(str(path)):
        if not isinstance(content, dict) or not isinstance(content.get("actor"), Mapping):
            raise InputError("there is no entry 'actor' with the weights of a policy")
        critic = content.get("critic")
        if critic is not None and not isinstance(critic, Mapping):
            raise InputError("the entry 'critic' does not hold the weights of a critic by name")
        return _translate(content["actor"], critic, variant, sizes, clip, Path(path).name)


def _translate(
    actor: Mapping[object, object],
    critic: Mapping[object, object] | None,
    variant: Variant,
    sizes: tuple[int, ...],
    clip: float,
    name: str,
) -> Checkpoint:
    take = _Taken(actor, "actor")
    heads, width, _ = take.shape("encoder.0.MHA_sublayer.MHA.W_query", 3)  # (H, D, d)
    layers = {m.group(1) for n in take.names() if (m := re.match(r"encoder\.(\d+)\.", n))}
    config = PolicyConfig(
        width=width,
        heads=heads,
        layers=len(layers),
        clip=clip,
        scale_scores=False,
        position=Position.RELEASED,
        successor=Successor.SECOND,
        neighbours=Neighbours.FULL,
    )
    # All weights before any network: a file must not have one built that it cannot fill.
    weights = _actor(take, config)
    take.nothing_left()
    values = None
    if critic:
        source = _Taken(critic, "critic")
        values = _critic(source, config)
        source.nothing_left()
    policy = Policy(config)
    policy.load_state_dict(weights)
    judge = None
    if values is not None:
        judge = Critic(config)
        judge.load_state_dict(values)
    return Checkpoint(policy, variant, sizes, judge, {"imported from": name})


class _Taken:
    """A state dictionary whose entries are taken one by one, so that none is overlooked."""

    def __init__(self, weights: Mapping[object, object], what: str) -> None:
        self._left: dict[str, object] = {}
        self._what = what
        for name, value in weights.items():
            if not isinstance(name, str):
                raise InputError(f"{what} has an entry {quoted(name)}, which is no name")
            self._left[name] = value

    def names(self) -> list[str]:
        return list(self._left)

    def _tensor(self, name: str) -> torch.Tensor:
        """The entry, if it is an ordinary tensor of real numbers."""
        if name not in self._left:
            raise InputError(f"the weight {self._what}.{name} is missing")
        tensor = self._left[name]
        if not isinstance(tensor, torch.Tensor):
            raise InputError(f"the weight {self._what}.{name} is no tensor")
        dense = tensor.layout is torch.strided and tensor.device.type == "cpu"
        if not dense or tensor.is_nested or tensor.dtype not in KINDS:
            raise InputError(f"the weight {self._what}.{name} is no dense tensor of real numbers")
        # A few stored numbers may claim to be many.
        if tensor.untyped_storage().nbytes() < tensor.numel() * tensor.element_size():
            raise InputError(f"the weight {self._what}.{name} is not stored in full")
        return tensor.detach()

    def shape(self, name: str, dimensions: int) -> tuple[int, ...]:
        shape = tuple(self._tensor(name).shape)
        if len(shape) != dimensions:
            raise UnsupportedError(
                f"the weight {self._what}.{name} has shape {shape}, not {dimensions} dimensions"
            )
        return shape

    def __call__(self, name: str, *shape: int) -> torch.Tensor:
        tensor = self._tensor(name)
        if tuple(tensor.shape) != shape:
            raise UnsupportedError(
                f"the weight {self._what}.{name} has shape {tuple(tensor.shape)}, not {shape}"
            )
        del self._left[name]
        return self.finite(name, tensor.float())

    def finite(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        if not torch.isfinite(tensor).all():
            raise InputError(f"the weight {self._what}.{name} holds a number that is not finite")
        return tensor

    def nothing_left(self) -> None:
        if self._left:
            raise UnsupportedError(
                f"the weight {self._what}.{min(self._left)} belongs to an option that is not known"
            )


def _side_by_side(w: torch.Tensor) -> torch.Tensor:
    """(H, D, d) projections of heads to one (D, H d) matrix."""
    return w.transpose(0, 1).flatten(1)


def _actor(take: _Taken, config: PolicyConfig) -> dict[str, torch.Tensor]:
    heads, width, hidden = config.heads, config.width, DECODER_WIDTH
    split, square = (heads, width, config.head_width), (width, width)
    out = {
        "encoder.w_x": take("embedder.embedder.weight", width, 2).T,
        "encoder.w_q_aux": _side_by_side(take("pos_encoder.W_query", *split)),
        "encoder.w_k_aux": _side_by_side(take("pos_encoder.W_key", *split)),
        "mixing.w_local.0": take("decoder.project_node.weight", *square).T,
        "mixing.w_global.0": take("decoder.project_graph.weight", *square).T,
        "removal.w_q": take("decoder.compater_removal.W_Q", heads, *square),
        "removal.w_k": take("decoder.compater_removal.W_K", heads, *square),
    }
    for index in range(config.layers):
        ours, theirs = f"encoder.attention.{index}", f"encoder.{index}.MHA_sublayer.MHA"
        out |= _attention(take, theirs, ours, config)
        out |= {
            f"{ours}.mlp_w1": take(f"{theirs}.score_aggr.0.weight", 2 * heads, 2 * heads),
            f"{ours}.mlp_b1": take(f"{theirs}.score_aggr.0.bias", 2 * heads),
            f"{ours}.mlp_w2": take(f"{theirs}.score_aggr.2.weight", heads, 2 * heads),
            f"{ours}.mlp_b2": take(f"{theirs}.score_aggr.2.bias", heads),
        }
        ours, theirs = f"encoder.feed_forward.{index}", f"encoder.{index}.FFandNorm_sublayer.FF"
        out[f"{ours}.w1"] = take(f"{theirs}.0.weight", *square).T
        out[f"{ours}.w2"] = take(f"{theirs}.2.weight", *square).T
    # Removal: they list the third-last, second-last and last removal, then the frequency.
    flags = 2 * heads + FLAGS
    order = [*range(2 * heads), flags, *reversed(range(2 * heads, flags))]
    out |= _mlp(take, "decoder.compater_removal.agg", "removal.mlp", order, (hidden, hidden, 1))
    # Reinsertion: they list mu^s and mu^p of the pickup, then mu^s and mu^p of the delivery.
    theirs = "decoder.compater_reinsertion.agg"
    blocks = take(f"{theirs}.fc1.weight", hidden, 4 * heads).T.split(heads)
    out["reinsertion.w1"] = torch.cat([blocks[i] for i in (1, 3, 0, 2)])
    out["reinsertion.b1"] = take(f"{theirs}.fc1.bias", hidden)
    out["reinsertion.w2"] = take(f"{theirs}.fc2.weight", hidden, hidden)
    out["reinsertion.b2"] = take(f"{theirs}.fc2.bias", hidden)
    out["reinsertion.w3"] = take(f"{theirs}.fc3.weight", 1, hidden)[0]
    out["reinsertion.b3"] = take(f"{theirs}.fc3.bias", 1)
    for number, kind in (("1", "s"), ("2", "p")):
        theirs = f"decoder.compater_reinsertion.compater_insert{number}"
        out[f"reinsertion.w_q_{kind}"] = take(f"{theirs}.W_query", heads, *square)
        out[f"reinsertion.w_k_{kind}"] = take(f"{theirs}.W_key", heads, *square)
    return out


def _critic(take: _Taken, config: PolicyConfig) -> dict[str, torch.Tensor]:
    width, half = config.width, config.width // 2
    biases = [take(f"value_head.project_{part}.bias", half) for part in ("node", "graph")]
    out = {
        "w_local": take("value_head.project_node.weight", half, width).T,
        "w_global": take("value_head.project_graph.weight", half, width).T,
        "b": take.finite("value_head.project_node.bias", biases[0] + biases[1]),
    }
    out |= _attention(take, "encoder.0.0.module", "attention", config)
    for ours, theirs in ((0, 0), (1, 2)):
        name = f"encoder.0.2.module.{theirs}"
        out[f"feed_forward.weights.{ours}"] = take(f"{name}.weight", width, width)
        out[f"feed_forward.biases.{ours}"] = take(f"{name}.bias", width)
    # They join mean, maximum and cost; the paper maximum, mean and cost, Eq. (17).
    order = [*range(half, 2 * half), *range(half), 2 * half]
    return out | _mlp(take, "value_head.MLP", "mlp", order, (width, half, 1))


def _attention(
    take: _Taken, theirs: str, ours: str, config: PolicyConfig
) -> dict[str, torch.Tensor]:
    heads, width, depth = config.heads, config.width, config.head_width
    out = {
        f"{ours}.w_{letter}": _side_by_side(take(f"{theirs}.W_{name}", heads, width, depth))
        for letter, name in (("q", "query"), ("k", "key"), ("v", "val"))
    }
    out[f"{ours}.w_o"] = take(f"{theirs}.W_out", heads, depth, width).flatten(0, 1)
    return out


def _mlp(
    take: _Taken, theirs: str, ours: str, order: list[int], widths: tuple[int, ...]
) -> dict[str, torch.Tensor]:
    """Their fc1, fc2, ..., the inputs of fc1 reordered."""
    out, inputs = {}, len(order)
    for index, outputs in enumerate(widths):
        weight = take(f"{theirs}.fc{index + 1}.weight", outputs, inputs)
        out[f"{ours}.weights.{index}"] = weight if index else weight[:, order]
        out[f"{ours}.biases.{index}"] = take(f"{theirs}.fc{index + 1}.bias", outputs)
        inputs = outputs
    return out
