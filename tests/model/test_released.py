"""Import of the released code's checkpoints, from a file in its layout that the test writes.

The layout (names, shapes, order of inputs) is that of the authors' repository; the forward pass below is
their reading of the paper written out for one instance, with their parameter names.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest
import torch

from model.observations import observe, uniforms
from n2s.errors import InputError, UnsupportedError
from n2s.model.position import Position, positional_table
from n2s.model.released import import_released
from n2s.problem import Variant

H, D = 4, 128
HALF = D // 2


def layout(seed: int = 0) -> dict[str, dict[str, torch.Tensor]]:
    """Random weights under their names."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return (torch.rand(*shape, generator=generator) * 2 - 1) / math.sqrt(shape[-1])

    d = D // H
    actor = {
        "embedder.embedder.weight": draw(D, 2),
        "pos_encoder.W_query": draw(H, D, d),
        "pos_encoder.W_key": draw(H, D, d),
        "decoder.project_graph.weight": draw(D, D),
        "decoder.project_node.weight": draw(D, D),
        "decoder.compater_removal.W_Q": draw(H, D, D),
        "decoder.compater_removal.W_K": draw(H, D, D),
    }
    for layer in range(3):
        mha = f"encoder.{layer}.MHA_sublayer.MHA"
        for name in ("W_query", "W_key", "W_val"):
            actor[f"{mha}.{name}"] = draw(H, D, d)
        actor[f"{mha}.W_out"] = draw(H, d, D)
        for index, (o, i) in ((0, (8, 8)), (2, (4, 8))):
            actor[f"{mha}.score_aggr.{index}.weight"] = draw(o, i)
            actor[f"{mha}.score_aggr.{index}.bias"] = draw(o)
        for index in (0, 2):
            actor[f"encoder.{layer}.FFandNorm_sublayer.FF.{index}.weight"] = draw(D, D)
    for number in (1, 2):
        for name in ("W_query", "W_key"):
            actor[f"decoder.compater_reinsertion.compater_insert{number}.{name}"] = draw(H, D, D)
    critic = {
        "value_head.project_graph.weight": draw(HALF, D),
        "value_head.project_graph.bias": draw(HALF),
        "value_head.project_node.weight": draw(HALF, D),
        "value_head.project_node.bias": draw(HALF),
        "encoder.0.0.module.W_out": draw(H, d, D),
    }
    for name in ("W_query", "W_key", "W_val"):
        critic[f"encoder.0.0.module.{name}"] = draw(H, D, d)
    for index in (0, 2):
        critic[f"encoder.0.2.module.{index}.weight"] = draw(D, D)
        critic[f"encoder.0.2.module.{index}.bias"] = draw(D)
    for prefix, inputs, target in (
        ("decoder.compater_removal.agg", 12, actor),
        ("decoder.compater_reinsertion.agg", 16, actor),
        ("value_head.MLP", D + 1, critic),
    ):
        widths = [inputs, D, 64, 1] if target is critic else [inputs, 32, 32, 1]
        for index in range(3):
            target[f"{prefix}.fc{index + 1}.weight"] = draw(widths[index + 1], widths[index])
            target[f"{prefix}.fc{index + 1}.bias"] = draw(widths[index + 1])
    return {"actor": actor, "critic": critic}


def three_layers(w: dict[str, torch.Tensor], prefix: str, x: torch.Tensor) -> torch.Tensor:
    for index in (1, 2, 3):
        x = x @ w[f"{prefix}.fc{index}.weight"].T + w[f"{prefix}.fc{index}.bias"]
        x = torch.relu(x) if index < 3 else x
    return x[..., 0]


def norm(x: torch.Tensor) -> torch.Tensor:
    return (x - x.mean()) / torch.sqrt(x.var() + 1e-5)


def their_embedding(w: dict[str, torch.Tensor], points: torch.Tensor, tour: list[int]):
    """(N, D) embeddings by node, as the released encoder computes them."""
    size = len(tour)
    table = positional_table(size, D, Position.RELEASED)
    place = {node: position for position, node in enumerate(tour)}
    g = torch.stack([table[place[node]] for node in range(size)])
    aux = torch.einsum("nd,hde->hne", g, w["pos_encoder.W_query"]) @ torch.einsum(
        "nd,hde->hen", g, w["pos_encoder.W_key"]
    )
    h = points @ w["embedder.embedder.weight"].T
    for layer in range(3):
        p = f"encoder.{layer}.MHA_sublayer.MHA"
        q, k, v = (torch.einsum("nd,hde->hne", h, w[f"{p}.W_{n}"]) for n in ("query", "key", "val"))
        raw = torch.cat([q @ k.transpose(1, 2), aux]).permute(1, 2, 0)  # (N, N, 2H), not scaled
        hidden = torch.relu(raw @ w[f"{p}.score_aggr.0.weight"].T + w[f"{p}.score_aggr.0.bias"])
        score = hidden @ w[f"{p}.score_aggr.2.weight"].T + w[f"{p}.score_aggr.2.bias"]
        heads = score.permute(2, 0, 1).softmax(-1) @ v
        h = norm(h + torch.einsum("hne,hed->nd", heads, w[f"{p}.W_out"]))
        f = f"encoder.{layer}.FFandNorm_sublayer.FF"
        h = norm(h + torch.relu(h @ w[f"{f}.0.weight"].T) @ w[f"{f}.2.weight"].T)
    return h


def their_log_prob(w, observation, b: int, request: int, j: int, k: int) -> float:
    """Their log-probability of one decision, mask of the last removal included."""
    tour = observation.tours[b].tolist()
    size, n = len(tour), len(tour) // 2
    embedding = their_embedding(w, observation.points[b], tour)
    h = embedding @ w["decoder.project_node.weight"].T
    h = h + embedding.max(0).values @ w["decoder.project_graph.weight"].T
    rec = {node: tour[(i + 1) % size] for i, node in enumerate(tour)}
    pre = {successor: node for node, successor in rec.items()}
    q = torch.einsum("nd,hde->hne", h, w["decoder.compater_removal.W_Q"])
    key = torch.einsum("nd,hde->hne", h, w["decoder.compater_removal.W_K"])

    def compat(node: int) -> torch.Tensor:
        before, behind = q[:, pre[node]], key[:, rec[rec[node]]]  # the successor's successor
        return (before * key[:, node] + q[:, node] * behind - before * behind).sum(-1)

    recent = observation.recent[b]
    rows = []
    for r in range(1, n + 1):
        flags = [float(recent[ago] == r) for ago in (2, 1, 0)]
        signal = torch.tensor([*flags, float(observation.frequency[b, r - 1])])
        rows.append(torch.cat([compat(r), compat(r + n), signal]))
    logits = 6 * torch.tanh(three_layers(w, "decoder.compater_removal.agg", torch.stack(rows)))
    logits[int(recent[0]) - 1] = -1e20
    log_removal = logits.log_softmax(0)[request - 1]

    def insert(number: int, alpha: int, beta: int) -> torch.Tensor:
        prefix = f"decoder.compater_reinsertion.compater_insert{number}"
        left = torch.einsum("d,hde->he", h[alpha], w[f"{prefix}.W_query"])
        right = torch.einsum("d,hde->he", h[beta], w[f"{prefix}.W_key"])
        return (left * right).sum(-1)

    rest = [node for node in tour if node not in (request, request + n)]
    places = [(x, y) for x in range(len(rest)) for y in range(x, len(rest))]
    table = []
    for x, y in places:
        a, c = rest[x], rest[y]
        table.append(
            torch.cat(
                [
                    insert(1, request, a),
                    insert(2, request, rec[a]),  # of the tour before the removal
                    insert(1, request + n, c),
                    insert(2, request + n, rec[c]),
                ]
            )
        )
    score = 6 * torch.tanh(three_layers(w, "decoder.compater_reinsertion.agg", torch.stack(table)))
    return float(log_removal + score.log_softmax(0)[places.index((j, k))])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "epoch-195.pt"
    state = {"rng_state": torch.get_rng_state(), "optimizer": {"state": {}, "param_groups": []}}
    torch.save({**layout(), **state}, path)
    return path


def test_imported_weights_decide_as_the_released_code_does(file: Path) -> None:
    checkpoint = import_released(file, Variant.PDTSP, (11,))
    observation = observe(3, 5, Variant.PDTSP)
    decision = checkpoint.policy.act(observation, uniforms(3))
    actor = layout()["actor"]
    for b in range(3):
        expected = their_log_prob(
            actor,
            observation,
            b,
            int(decision.requests[b]),
            int(decision.j[b]),
            int(decision.k[b]),
        )
        assert float(decision.log_prob[b]) == pytest.approx(expected, abs=2e-4)


def test_imported_critic(file: Path) -> None:
    checkpoint = import_released(file, Variant.PDTSP)
    observation = observe(2, 5, Variant.PDTSP)
    nodes = checkpoint.policy.encode(observation).nodes.detach()
    assert checkpoint.critic is not None
    values = checkpoint.critic(nodes, observation.best).detach()
    w = layout()["critic"]
    for b in range(2):
        h = nodes[b]
        q, k, v = (
            torch.einsum("nd,hde->hne", h, w[f"encoder.0.0.module.W_{n}"])
            for n in ("query", "key", "val")
        )
        weights = (q @ k.transpose(1, 2) / math.sqrt(D // H)).softmax(-1)
        y = norm(h + torch.einsum("hne,hed->nd", weights @ v, w["encoder.0.0.module.W_out"]))
        f = "encoder.0.2.module"
        hidden = torch.relu(y @ w[f"{f}.0.weight"].T + w[f"{f}.0.bias"])
        y = norm(y + hidden @ w[f"{f}.2.weight"].T + w[f"{f}.2.bias"])
        node = y @ w["value_head.project_node.weight"].T + w["value_head.project_node.bias"]
        graph = y.mean(0) @ w["value_head.project_graph.weight"].T
        fusion = node + graph + w["value_head.project_graph.bias"]
        x = torch.cat([fusion.mean(0), fusion.max(0).values, observation.best[b : b + 1]])
        expected = three_layers(w, "value_head.MLP", x)
        assert float(values[b]) == pytest.approx(float(expected), abs=1e-4)


def test_what_is_missing_or_left_over_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    content = layout()
    del content["actor"]["decoder.project_graph.weight"]
    torch.save(content, path)
    with pytest.raises(InputError, match=r"actor.decoder.project_graph.weight is missing"):
        import_released(path, Variant.PDTSP)
    content = layout()
    content["actor"]["encoder.0.MHA_sublayer.Norm.normalizer.weight"] = torch.zeros(D)
    torch.save(content, path)
    with pytest.raises(UnsupportedError, match=r"Norm.normalizer.weight belongs to an option"):
        import_released(path, Variant.PDTSP)
    torch.save({"model": 1}, path)
    with pytest.raises(InputError, match=r"no entry 'actor'"):
        import_released(path, Variant.PDTSP)
    content = layout()
    content["actor"]["embedder.embedder.weight"][0, 0] = torch.nan
    torch.save(content, path)
    with pytest.raises(InputError, match=r"not finite"):
        import_released(path, Variant.PDTSP)


E = "embedder.embedder.weight"


def wide(value: float) -> torch.Tensor:
    return torch.full((D, 2), value, dtype=torch.float64)


@pytest.mark.parametrize(
    ("part", "name", "value", "sentence"),
    [
        ("actor", E, torch.zeros(D), rf"actor.{E} has shape \(128,\), not \(128, 2\)"),
        ("actor", E, torch.tensor(1.0), rf"actor.{E} has shape \(\), not"),
        ("actor", E, [1.0], f"actor.{E} is no tensor"),
        ("actor", E, torch.zeros(D, 2).to_sparse(), f"actor.{E} is no dense tensor"),
        ("actor", E, torch.zeros(D, 2, device="meta"), f"actor.{E} is no dense tensor"),
        ("actor", E, torch.zeros(D, 2, dtype=torch.complex64), f"actor.{E} is no dense tensor"),
        ("actor", E, torch.zeros(D, 2, dtype=torch.int64), f"actor.{E} is no dense tensor"),
        ("actor", E, torch.zeros(1).expand(D, 2), f"actor.{E} is not stored in full"),
        ("actor", E, wide(1e300), f"actor.{E} holds a number that is not finite"),
        ("actor", 7, torch.zeros(1), "actor has an entry 7, which is no name"),
        ("critic", 7, torch.zeros(1), "critic has an entry 7, which is no name"),
        (
            "actor",
            "encoder.0.MHA_sublayer.MHA.W_query",
            torch.zeros(4),
            r"W_query has shape \(4,\), not 3 dimensions",
        ),
        (
            "actor",
            "encoder.0.MHA_sublayer.MHA.W_query",
            torch.zeros(4, 0, 2),
            "width must be a positive whole number",
        ),
        ("actor", "pos_encoder.W_query", torch.zeros(D), "actor.pos_encoder.W_query has shape"),
        (
            "actor",
            "decoder.compater_reinsertion.agg.fc3.weight",
            torch.tensor(0.0),
            r"agg.fc3.weight has shape \(\), not \(1, 32\)",
        ),
        (
            "actor",
            "decoder.compater_removal.agg.fc1.weight",
            torch.zeros(32),
            r"agg.fc1.weight has shape \(32,\), not \(32, 12\)",
        ),
        ("critic", "value_head.MLP.fc1.weight", torch.zeros(D), "MLP.fc1.weight has shape"),
    ],
)
def test_weights_of_another_kind_are_named(
    tmp_path: Path, part: str, name: str, value: object, sentence: str
) -> None:
    path = tmp_path / "x.pt"
    content = layout()
    content[part][name] = value  # type: ignore[assignment]
    torch.save(content, path)
    with pytest.raises(InputError, match=sentence) as error:
        import_released(path, Variant.PDTSP)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("critic", [[1, 2], torch.zeros(2), "x", 0])
def test_a_critic_that_is_none_is_refused(tmp_path: Path, critic: object) -> None:
    path = tmp_path / "x.pt"
    torch.save(layout() | {"critic": critic}, path)
    with pytest.raises(InputError, match=r"x.pt: the entry 'critic' does not hold the weights"):
        import_released(path, Variant.PDTSP)


def test_biases_whose_sum_is_not_finite_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    content = layout()
    for name in ("node", "graph"):
        content["critic"][f"value_head.project_{name}.bias"] = torch.full((HALF,), 3e38)
    torch.save(content, path)
    with pytest.raises(InputError, match=r"critic.value_head.project_node.bias .* not finite"):
        import_released(path, Variant.PDTSP)


@pytest.mark.parametrize("kind", [torch.float64, torch.bfloat16])
def test_weights_of_another_precision_become_float32(tmp_path: Path, kind: torch.dtype) -> None:
    path = tmp_path / "x.pt"
    content = layout()
    content["actor"] = {name: weight.to(kind) for name, weight in content["actor"].items()}
    torch.save({"actor": content["actor"]}, path)
    checkpoint = import_released(path, Variant.PDTSP)
    assert checkpoint.critic is None
    state = checkpoint.policy.state_dict()
    assert {weight.dtype for weight in state.values()} == {torch.float32}
    assert torch.equal(state["encoder.w_x"], content["actor"][E].float().T)


class _Hostile:
    def __reduce__(self):
        return os.mkdir, (os.environ["HOSTILE"],)


def test_a_pickle_with_code_in_it_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "made"
    monkeypatch.setenv("HOSTILE", str(target))
    path = tmp_path / "x.pt"
    torch.save({"actor": _Hostile()}, path)
    with pytest.raises(InputError, match=r"x.pt: this is no checkpoint of weights only"):
        import_released(path, Variant.PDTSP)
    assert not target.exists()
    path.write_bytes(b"junk")
    with pytest.raises(InputError, match=r"no checkpoint of weights only"):
        import_released(path, Variant.PDTSP)
