"""Import of the authors' ``.pt`` checkpoints: their names and their readings of the paper into ours.

Their file is a dictionary with ``actor`` and ``critic`` state dictionaries. It is loaded with torch's
weights-only reader, which builds tensors and containers and runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import torch

from n2s.errors import InputError, UnsupportedError, located
from n2s.model.checkpoint import Checkpoint
from n2s.model.config import Neighbours, PolicyConfig, Position, Successor
from n2s.model.critic import Critic
from n2s.model.policy import Policy
from n2s.problem import Variant

Weights = Mapping[str, torch.Tensor]


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
        return _translate(content, variant, sizes, clip, Path(path).name)


def _translate(
    content: Mapping[str, Weights],
    variant: Variant,
    sizes: tuple[int, ...],
    clip: float,
    name: str,
) -> Checkpoint:
    actor = _Taken(content["actor"], "actor")
    query = actor.peek("encoder.0.MHA_sublayer.MHA.W_query")  # (H, D, d)
    layers = {m.group(1) for n in content["actor"] if (m := re.match(r"encoder\.(\d+)\.", n))}
    config = PolicyConfig(
        width=query.shape[1],
        heads=query.shape[0],
        layers=len(layers),
        clip=clip,
        scale_scores=False,
        position=Position.RELEASED,
        successor=Successor.SECOND,
        neighbours=Neighbours.FULL,
    )
    policy = Policy(config)
    _load(policy, _actor(actor, config))
    actor.nothing_left()
    critic = None
    if content.get("critic"):
        critic = Critic(config)
        source = _Taken(content["critic"], "critic")
        _load(critic, _critic(source, config))
        source.nothing_left()
    return Checkpoint(policy, variant, sizes, critic, {"imported from": name})


class _Taken:
    """A state dictionary whose entries are taken one by one, so that none is overlooked."""

    def __init__(self, weights: Weights, what: str) -> None:
        self._left = dict(weights)
        self._what = what

    def peek(self, name: str) -> torch.Tensor:
        if not isinstance(self._left.get(name), torch.Tensor):
            raise InputError(f"the weight {self._what}.{name} is missing")
        return self._left[name]

    def __call__(self, name: str) -> torch.Tensor:
        tensor = self.peek(name)
        del self._left[name]
        if not torch.isfinite(tensor).all():
            raise InputError(f"the weight {self._what}.{name} holds a number that is not finite")
        return tensor.float()

    def nothing_left(self) -> None:
        if self._left:
            raise UnsupportedError(
                f"the weight {self._what}.{min(self._left)} belongs to an option that is not known"
            )


def _side_by_side(w: torch.Tensor) -> torch.Tensor:
    """(H, D, d) projections of heads to one (D, H d) matrix."""
    return w.transpose(0, 1).flatten(1)


def _actor(take: _Taken, config: PolicyConfig) -> dict[str, torch.Tensor]:
    heads = config.heads
    out = {
        "encoder.w_x": take("embedder.embedder.weight").T,
        "encoder.w_q_aux": _side_by_side(take("pos_encoder.W_query")),
        "encoder.w_k_aux": _side_by_side(take("pos_encoder.W_key")),
        "mixing.w_local.0": take("decoder.project_node.weight").T,
        "mixing.w_global.0": take("decoder.project_graph.weight").T,
        "removal.w_q": take("decoder.compater_removal.W_Q"),
        "removal.w_k": take("decoder.compater_removal.W_K"),
    }
    for index in range(config.layers):
        theirs, ours = f"encoder.{index}.MHA_sublayer.MHA", f"encoder.attention.{index}"
        out |= {
            f"{ours}.w_q": _side_by_side(take(f"{theirs}.W_query")),
            f"{ours}.w_k": _side_by_side(take(f"{theirs}.W_key")),
            f"{ours}.w_v": _side_by_side(take(f"{theirs}.W_val")),
            f"{ours}.w_o": take(f"{theirs}.W_out").flatten(0, 1),
            f"{ours}.mlp_w1": take(f"{theirs}.score_aggr.0.weight"),
            f"{ours}.mlp_b1": take(f"{theirs}.score_aggr.0.bias"),
            f"{ours}.mlp_w2": take(f"{theirs}.score_aggr.2.weight"),
            f"{ours}.mlp_b2": take(f"{theirs}.score_aggr.2.bias"),
            f"encoder.feed_forward.{index}.w1": take(
                f"encoder.{index}.FFandNorm_sublayer.FF.0.weight"
            ).T,
            f"encoder.feed_forward.{index}.w2": take(
                f"encoder.{index}.FFandNorm_sublayer.FF.2.weight"
            ).T,
        }
    # Removal: they list the third-last, second-last and last removal, then the frequency.
    order = [*range(2 * heads), 2 * heads + 3, 2 * heads + 2, 2 * heads + 1, 2 * heads]
    out |= _mlp(take, "decoder.compater_removal.agg", "removal.mlp", order)
    # Reinsertion: they list mu^s and mu^p of the pickup, then mu^s and mu^p of the delivery.
    blocks = take("decoder.compater_reinsertion.agg.fc1.weight").T.split(heads)
    out["reinsertion.w1"] = torch.cat([blocks[i] for i in (1, 3, 0, 2)])
    out["reinsertion.b1"] = take("decoder.compater_reinsertion.agg.fc1.bias")
    out["reinsertion.w2"] = take("decoder.compater_reinsertion.agg.fc2.weight")
    out["reinsertion.b2"] = take("decoder.compater_reinsertion.agg.fc2.bias")
    out["reinsertion.w3"] = take("decoder.compater_reinsertion.agg.fc3.weight")[0]
    out["reinsertion.b3"] = take("decoder.compater_reinsertion.agg.fc3.bias")
    for number, kind in (("1", "s"), ("2", "p")):
        theirs = f"decoder.compater_reinsertion.compater_insert{number}"
        out[f"reinsertion.w_q_{kind}"] = take(f"{theirs}.W_query")
        out[f"reinsertion.w_k_{kind}"] = take(f"{theirs}.W_key")
    return out


def _critic(take: _Taken, config: PolicyConfig) -> dict[str, torch.Tensor]:
    half = config.width // 2
    out = {
        "attention.w_q": _side_by_side(take("encoder.0.0.module.W_query")),
        "attention.w_k": _side_by_side(take("encoder.0.0.module.W_key")),
        "attention.w_v": _side_by_side(take("encoder.0.0.module.W_val")),
        "attention.w_o": take("encoder.0.0.module.W_out").flatten(0, 1),
        "w_local": take("value_head.project_node.weight").T,
        "w_global": take("value_head.project_graph.weight").T,
        "b": take("value_head.project_node.bias") + take("value_head.project_graph.bias"),
    }
    for ours, theirs in ((0, 0), (1, 2)):
        out[f"feed_forward.weights.{ours}"] = take(f"encoder.0.2.module.{theirs}.weight")
        out[f"feed_forward.biases.{ours}"] = take(f"encoder.0.2.module.{theirs}.bias")
    # They join mean, maximum and cost; the paper maximum, mean and cost, Eq. (17).
    order = [*range(half, 2 * half), *range(half), 2 * half]
    return out | _mlp(take, "value_head.MLP", "mlp", order)


def _mlp(take: _Taken, theirs: str, ours: str, order: list[int]) -> dict[str, torch.Tensor]:
    """Their fc1..fc3, the inputs of fc1 reordered."""
    first = take(f"{theirs}.fc1.weight")
    if first.shape[1] != len(order):
        raise InputError(f"{theirs}.fc1 has {first.shape[1]} inputs, not {len(order)}")
    out = {f"{ours}.weights.0": first[:, order], f"{ours}.biases.0": take(f"{theirs}.fc1.bias")}
    for index in (1, 2):
        out[f"{ours}.weights.{index}"] = take(f"{theirs}.fc{index + 1}.weight")
        out[f"{ours}.biases.{index}"] = take(f"{theirs}.fc{index + 1}.bias")
    return out


def _load(module: torch.nn.Module, weights: dict[str, torch.Tensor]) -> None:
    for name, own in module.state_dict().items():
        if own.shape != weights[name].shape:
            raise UnsupportedError(
                f"{name} would have shape {tuple(weights[name].shape)}, not {tuple(own.shape)}"
            )
    module.load_state_dict(weights)
