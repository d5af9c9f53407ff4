"""The obvious slow twin of every fast path: plain Python, straight from the definitions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from n2s.problem import Variant


def is_feasible(tour: Sequence[int], n: int, variant: Variant) -> bool:
    """Depot first, every node once, pickup before delivery, and for LIFO a stack that works out."""
    if tour[0] != 0 or sorted(tour) != list(range(2 * n + 1)):
        return False
    stack: list[int] = []
    for node in tour[1:]:
        if node <= n:
            stack.append(node)
        elif node - n not in stack:
            return False
        elif variant is Variant.LIFO:
            if stack.pop() != node - n:
                return False
        else:
            stack.remove(node - n)
    return True


def all_tours(n: int, variant: Variant) -> Iterator[tuple[int, ...]]:
    """Every feasible tour, by testing all permutations."""
    for order in itertools.permutations(range(1, 2 * n + 1)):
        tour = (0, *order)
        if is_feasible(tour, n, variant):
            yield tour


def cost(costs: np.ndarray, tour: Sequence[int]) -> float:
    """Sum of the arcs, the way back included."""
    return sum(float(costs[a, b]) for a, b in zip(tour, [*tour[1:], tour[0]], strict=True))


def without(tour: Sequence[int], request: int) -> list[int]:
    """The tour without a request."""
    n = len(tour) // 2
    return [node for node in tour if node not in (request, request + n)]


def reinserted(rest: Sequence[int], request: int, j: int, k: int) -> list[int]:
    """``rest`` with the pickup behind its j-th node and the delivery behind its k-th, j <= k."""
    n = len(rest) // 2 + 1
    tour: list[int] = []
    for gap, node in enumerate(rest):
        tour.append(node)
        if gap == j:
            tour.append(request)
        if gap == k:
            tour.append(request + n)
    return tour


def feasible_gaps(rest: Sequence[int], request: int, variant: Variant) -> list[tuple[int, int]]:
    """All (j, k) whose tour is feasible."""
    n = len(rest) // 2 + 1
    return [
        (j, k)
        for j in range(len(rest))
        for k in range(j, len(rest))
        if is_feasible(reinserted(rest, request, j, k), n, variant)
    ]


def reinsertion_changes(
    costs: np.ndarray, rest: Sequence[int], request: int, variant: Variant
) -> dict[tuple[int, int], float]:
    """Exact cost change of every feasible reinsertion, by recomputing whole tours."""
    before = cost(costs, rest)
    return {
        (j, k): cost(costs, reinserted(rest, request, j, k)) - before
        for j, k in feasible_gaps(rest, request, variant)
    }


def heat_bath(
    costs: np.ndarray, rest: Sequence[int], request: int, variant: Variant, temperature: float
) -> dict[tuple[int, int], float]:
    """Probability of every feasible reinsertion under exp(-change / temperature)."""
    return heat_bath_of(reinsertion_changes(costs, rest, request, variant), temperature)


def heat_bath_of(
    changes: dict[tuple[int, int], float], temperature: float
) -> dict[tuple[int, int], float]:
    """Probability of every reinsertion by its change in cost."""
    least = min(changes.values())
    weights = {gaps: math.exp((least - c) / temperature) for gaps, c in changes.items()}
    total = sum(weights.values())
    return {gaps: weight / total for gaps, weight in weights.items()}


# --- the network, straight from the paper's equations -------------------------------------------
#
# Loops over instances, heads, nodes and pairs; nothing shared with src/n2s/model but the weights,
# which are handed over by name. Differentiable, so that gradients can be compared too.


def cyclic_encoding(size: int, width: int) -> torch.Tensor:
    """Eq. (2) to (4), number by number."""
    g = torch.zeros(size, width, dtype=torch.float64)
    shortest = size ** (1 / (width // 2))
    for d in range(width):
        if d < width // 2:
            period = (3 * (d // 3) + 1) / width * (size - shortest) + shortest
        else:
            period = float(size)
        omega = 2 * math.pi / period
        for i in range(size):
            z = i / size * (2 * math.pi / omega) * math.ceil(size / (2 * math.pi / omega))
            angle = omega * abs(z % (4 * math.pi / omega) - 2 * math.pi / omega)
            g[i, d] = math.sin(angle) if d % 2 == 0 else math.cos(angle)
    return g


def released_encoding(size: int, width: int) -> torch.Tensor:
    """The released code's pattern, dimension by dimension and position by position."""
    half = width // 2
    shortest = size ** (1 / half)
    periods = [int(shortest + (size - shortest) * i / (half - 1)) for i in range(half)]
    periods[-1] = size
    pattern = np.zeros((size, width))
    for d in range(width):
        step = d // 3 * 3 + 1
        period = periods[step] if step < half else periods[-1]
        phase = 0.0 if d <= half else 2 * math.pi * (half - d) / half
        # A pattern on a grid of 0.01 as long as whole periods need, read off at N + 1 even places.
        grid = np.arange(0, math.ceil(size / period) * period + 0.01, 0.01)
        places = np.linspace(0, len(grid) - 1, size + 1, dtype="int")
        for i in range(size):
            x = grid[places[i]]
            angle = 2 * math.pi / period * abs(x % (2 * period) - period) + phase
            pattern[i, d] = math.cos(angle) if d % 2 else math.sin(angle)
    smooth = np.zeros_like(pattern)
    for i in range(size):
        for shift in (-2, -1, 0, 1, 2):
            smooth[i] += pattern[(i + shift) % size] / 5
    return torch.from_numpy(smooth - pattern.mean(0))


def vanilla_one(w, config, points: torch.Tensor, tour, g: torch.Tensor) -> torch.Tensor:
    """(N, D) embeddings of one tour with plain self-attention over node plus positional features."""
    h = torch.stack([points[node] @ w["encoder.w_x"] for node in tour]) + g
    for layer in range(config.layers):
        a = f"encoder.attention.{layer}."
        h = _norm(h + _attend(w, a, h, h, config) @ w[a + "w_o"])
        f = f"encoder.feed_forward.{layer}."
        h = _norm(h + torch.relu(h @ w[f + "w1"]) @ w[f + "w2"])
    return h


def _attend(w, a: str, scored, valued, config, names=("w_q", "w_k", "w_v")) -> torch.Tensor:
    """Heads side by side: scores of ``scored`` weigh the values of ``valued``."""
    depth = config.width // config.heads
    out = []
    for m in range(config.heads):
        cols = slice(m * depth, (m + 1) * depth)
        q, k = scored @ w[a + names[0]][:, cols], scored @ w[a + names[1]][:, cols]
        alpha = (torch.einsum("id,jd->ij", q, k) / math.sqrt(depth)).softmax(1)
        out.append(torch.einsum("ij,jd->id", alpha, valued @ w[a + names[2]][:, cols]))
    return torch.cat(out, 1)


def dac_one(w, config, points: torch.Tensor, tour, g: torch.Tensor):
    """Node and positional embeddings, each (N, D), of one tour with DACT's two aspects."""
    streams = [torch.stack([points[node] @ w["encoder.w_x"] for node in tour]), g]
    for layer in range(config.layers):
        a = f"encoder.attention.{layer}."
        out = []
        for me, other in ((0, 1), (1, 0)):
            own = _attend(
                w, a, streams[me], streams[me], config, (f"w_q.{me}", f"w_k.{me}", f"w_v.{2 * me}")
            )
            shared = _attend(
                w,
                a,
                streams[other],
                streams[me],
                config,
                (f"w_q.{other}", f"w_k.{other}", f"w_v.{2 * me + 1}"),
            )
            out.append(torch.cat([own, shared], 1) @ w[f"{a}w_o.{me}"])
        streams = [_norm(h + more) for h, more in zip(streams, out, strict=True)]
        for me in (0, 1):
            f = f"encoder.feed_forward.{2 * layer + me}."
            h = streams[me]
            streams[me] = _norm(h + torch.relu(h @ w[f + "w1"]) @ w[f + "w2"])
    return streams


def _mlp(x: torch.Tensor, layers: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    for index, (weight, bias) in enumerate(layers):
        x = weight @ x + bias if x.ndim == 1 else x @ weight.T + bias
        if index < len(layers) - 1:
            x = torch.relu(x)
    return x


def _norm(h: torch.Tensor) -> torch.Tensor:
    """Over all N x D numbers of one instance."""
    return (h - h.mean()) / torch.sqrt(h.var() + 1e-5)


def encode_one(w: dict[str, torch.Tensor], config, points: torch.Tensor, tour, g: torch.Tensor):
    """(N, D) embeddings of one tour in tour order, Eq. (5) to (10). ``g`` is the positional table."""
    heads, depth, size = config.heads, config.width // config.heads, len(tour)
    scale = 1 / math.sqrt(depth) if config.scale_scores else 1.0
    h = torch.stack([points[node] @ w["encoder.w_x"] for node in tour])
    for layer in range(config.layers):
        a = f"encoder.attention.{layer}."
        out = []
        self_scores, aux = [], []
        for m in range(heads):
            cols = slice(m * depth, (m + 1) * depth)
            q, k = h @ w[a + "w_q"][:, cols], h @ w[a + "w_k"][:, cols]
            self_scores.append(scale * torch.einsum("id,jd->ij", q, k))
            q, k = g @ w["encoder.w_q_aux"][:, cols], g @ w["encoder.w_k_aux"][:, cols]
            aux.append(scale * torch.einsum("id,jd->ij", q, k))
        both = torch.stack(self_scores + aux, -1)  # (N, N, 2H)
        mlp = [(w[a + "mlp_w1"], w[a + "mlp_b1"]), (w[a + "mlp_w2"], w[a + "mlp_b2"])]
        synth = torch.stack([_mlp(both[i], mlp) for i in range(size)])  # (N, N, H)
        for m in range(heads):
            cols = slice(m * depth, (m + 1) * depth)
            alpha = synth[:, :, m].softmax(1)
            out.append(torch.einsum("ij,jd->id", alpha, h @ w[a + "w_v"][:, cols]))
        h = _norm(h + torch.cat(out, 1) @ w[a + "w_o"])
        f = f"encoder.feed_forward.{layer}."
        h = _norm(h + torch.relu(h @ w[f + "w1"]) @ w[f + "w2"])
    return h


def removal_logits_one(w, config, mixed: torch.Tensor, tour, features, last: int) -> torch.Tensor:
    """(n,) logits of one tour, Eq. (12) and (13); ``features`` (n, F) are the inputs behind lambda."""
    size = len(tour)
    n = size // 2
    reach = 1 if config.successor == "direct" else 2
    score = {}
    for position, node in enumerate(tour):
        pred, succ = mixed[position - 1], mixed[(position + reach) % size]
        here = mixed[position]
        score[node] = torch.stack(
            [
                (pred @ q) @ (here @ k) + (here @ q) @ (succ @ k) - (pred @ q) @ (succ @ k)
                for q, k in zip(w["removal.w_q"], w["removal.w_k"], strict=True)
            ]
        )
    mlp = [(w[f"removal.mlp.weights.{i}"], w[f"removal.mlp.biases.{i}"]) for i in range(3)]
    logits = []
    for request in range(1, n + 1):
        x = torch.cat([score[request], score[request + n], features[request - 1]])
        logit = config.clip * torch.tanh(_mlp(x, mlp)[0])
        if config.mask_last and n > 1 and request == last:
            logit = logit * 0 - math.inf
        logits.append(logit)
    return torch.stack(logits)


def reinsertion_logits_one(
    w, config, mixed: torch.Tensor, tour, request: int, variant: Variant, costs=None, context=None
) -> dict[tuple[int, int], torch.Tensor]:
    """Logit of every feasible (j, k) of one tour, Eq. (14) and (15), and the exact-cost extension."""
    tour = [int(node) for node in tour]
    size = len(tour)
    n = size // 2
    rest = without(tour, request)
    at = {node: mixed[position] for position, node in enumerate(tour)}
    pickup, delivery = at[request], at[request + n]

    def succ(gap: int) -> torch.Tensor:
        if config.neighbours == "reduced":
            return at[rest[(gap + 1) % len(rest)]]
        return mixed[(tour.index(rest[gap]) + 1) % size]

    def mu(kind: str, alpha: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
        pairs = zip(w[f"reinsertion.w_q_{kind}"], w[f"reinsertion.w_k_{kind}"], strict=True)
        return torch.stack([(alpha @ q) @ (beta @ k) for q, k in pairs])

    gaps = range(len(rest))
    by_gap = {
        (kind, end): [mu(kind, node, succ(g) if kind == "p" else at[rest[g]]) for g in gaps]
        for kind in "ps"
        for end, node in (("pickup", pickup), ("delivery", delivery))
    }
    feasible = feasible_gaps(rest, request, variant)
    inputs = torch.stack(
        [
            torch.cat(
                [
                    by_gap["p", "pickup"][j],
                    by_gap["p", "delivery"][k],
                    by_gap["s", "pickup"][j],
                    by_gap["s", "delivery"][k],
                ]
            )
            for j, k in feasible
        ]
    )
    first = inputs @ w["reinsertion.w1"] + w["reinsertion.b1"]
    prior = torch.zeros(len(feasible), dtype=first.dtype)
    if config.costs:
        unit = math.sqrt(size)
        before = cost(costs, rest)

        def alone(node: int, gap: int) -> float:
            return cost(costs, [*rest[: gap + 1], node, *rest[gap + 1 :]]) - before

        detours, changes = [], []
        for j, k in feasible:
            change = cost(costs, reinserted(rest, request, j, k)) - before
            of_pickup = alone(request, j)
            # The delivery's share: its own detour, or whatever completes the exact change.
            of_delivery = change - of_pickup if j == k else alone(request + n, k)
            detours.append([of_pickup * unit, of_delivery * unit])
            changes.append(change * unit)
        first = first + torch.tensor(detours, dtype=first.dtype) @ w["reinsertion.w_detour"]
        first = first + context @ w["reinsertion.w_context"]
        prior = -w["reinsertion.beta"] * torch.tensor(changes, dtype=first.dtype)
    hidden = torch.relu(torch.relu(first) @ w["reinsertion.w2"].T + w["reinsertion.b2"])
    score = hidden @ w["reinsertion.w3"] + w["reinsertion.b3"]
    logits = config.clip * torch.tanh(score) + prior
    return dict(zip(feasible, logits, strict=True))


def mix_one(w, h: torch.Tensor) -> torch.Tensor:
    """Eq. (11) for one instance."""
    return h @ w["mixing.w_local.0"] + h.max(0).values @ w["mixing.w_global.0"]


def value_one(w, config, h: torch.Tensor, best: torch.Tensor) -> torch.Tensor:
    """Eq. (16) and (17): the critic's value of one state."""
    heads, depth = config.heads, config.width // config.heads
    out = []
    for m in range(heads):
        cols = slice(m * depth, (m + 1) * depth)
        q, k = h @ w["attention.w_q"][:, cols], h @ w["attention.w_k"][:, cols]
        alpha = (torch.einsum("id,jd->ij", q, k) / math.sqrt(depth)).softmax(1)
        out.append(torch.einsum("ij,jd->id", alpha, h @ w["attention.w_v"][:, cols]))
    y = _norm(h + torch.cat(out, 1) @ w["attention.w_o"])
    feed = [(w[f"feed_forward.weights.{i}"], w[f"feed_forward.biases.{i}"]) for i in range(2)]
    y = _norm(y + _mlp(y, feed))
    mixed = y @ w["w_local"] + y.mean(0) @ w["w_global"] + w["b"]
    state = torch.cat([mixed.max(0).values, mixed.mean(0), best.reshape(1)])
    return _mlp(state, [(w[f"mlp.weights.{i}"], w[f"mlp.biases.{i}"]) for i in range(3)])[0]


# --- the native policy, number by number --------------------------------------------------------


def pair_chances(
    logits: np.ndarray, pairs: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], float]:
    """Softmax over some (j, k): the logit is z_j where both are equal, else x_j + y_k."""
    x, y, z = logits.astype(np.float64)
    terms = {(j, k): float(z[j] if j == k else x[j] + y[k]) for j, k in pairs}
    most = max(terms.values())
    total = sum(math.exp(term - most) for term in terms.values())
    return {pair: math.exp(term - most) / total for pair, term in terms.items()}


NATIVE_BLOCKS = {
    "removal/linear": (8,),
    "removal/features": (8, 8),
    "removal/views": (8, 5),
    "removal/bias": (8,),
    "removal/out": (8,),
    "heat/range": (2,),
    "heat/views": (4, 5),
    "heat/bias": (4,),
    "heat/out": (4,),
    "count/bias": (6,),
    "count/views": (6, 5),
    "ways": (3,),
    "several": (2,),
    "places": (4,),
    "blocks": (7,),
    "return": (6,),
    "outlook": (9, 2),
    "build": (4,),
    "bridge": (3,),
}


def native_blocks(theta: np.ndarray) -> dict[str, np.ndarray]:
    """Parameters by name; what is changed in them changes ``theta``."""
    blocks, begin = {}, 0
    for name, shape in NATIVE_BLOCKS.items():
        length = math.prod(shape)
        blocks[name] = theta[begin : begin + length].reshape(shape)
        begin += length
    assert begin == len(theta)
    return blocks


def native_temperature(theta: np.ndarray, seen: np.ndarray, scale: float) -> float:
    """From 0.4 to 0.05 mean edges, moved by the parameters."""
    b = native_blocks(theta)
    heat = (1 - seen[2]) * math.log(0.4) + seen[2] * math.log(0.05)
    heat += b["heat/range"][0] + b["heat/range"][1] * seen[2]
    z = b["heat/views"] @ seen + b["heat/bias"]
    heat += b["heat/out"] @ (z / (1 + np.abs(z)))
    return scale * math.exp(min(max(heat, -12.0), 6.0))


def native_scores(theta: np.ndarray, seen: np.ndarray, features: np.ndarray) -> np.ndarray:
    """(n,) logits of removal from (8, n) features, or (10, n) where the policy looks around."""
    b = native_blocks(theta)
    local, around = features[:8], features[8:]
    direct = b["removal/linear"] @ local
    z = b["removal/features"] @ local
    z += (b["removal/views"] @ seen + b["removal/bias"])[:, None]
    if len(around):
        direct = direct + b["outlook"][0] @ around
        z += b["outlook"][1:] @ around
    return direct + b["removal/out"] @ np.maximum(z, 0)


def outlook(costs: np.ndarray, tour: Sequence[int], variant: Variant) -> list[float]:
    """By request: the least change in cost of all tours that differ in its places alone."""
    changes = []
    for request in range(1, len(tour) // 2 + 1):
        rest = without(tour, request)
        others = [
            other
            for j, k in feasible_gaps(rest, request, variant)
            if (other := reinserted(rest, request, j, k)) != list(tour)
        ]
        least = min((cost(costs, other) for other in others), default=math.inf)
        changes.append(least - cost(costs, tour))
    return changes


def native_outlook(changes: Sequence[float], scale: float, temperature: float) -> np.ndarray:
    """(2, n) savings in mean edges, at most 100, and in temperatures, at most 30."""
    savings = -np.array(changes)
    return np.stack([np.clip(savings / scale, -100, 100), np.clip(savings / temperature, -30, 30)])


def native_counts(theta: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """(6,) probabilities of the classes 1, 2, 3 to 4, 5 to 8, 9 to 16, 17 to 32."""
    b = native_blocks(theta)
    weights = np.exp(
        np.clip(b["count/bias"] + [2, -1, -2, -3, -4, -5] + b["count/views"] @ seen, -40, 40)
    )
    return weights / weights.sum()


def native_block_chance(theta: np.ndarray, seen: np.ndarray) -> float:
    """Of a move of a block or a stretch."""
    b = native_blocks(theta)["blocks"]
    return 1 / (1 + math.exp(min(max(3 - b[0] - b[1:6] @ seen, -40.0), 40.0)))


def native_return_chance(theta: np.ndarray, seen: np.ndarray) -> float:
    """Of beginning a step with the best tour."""
    b = native_blocks(theta)["return"]
    return 1 / (1 + math.exp(min(max(6 - b[0] - b[1:6] @ seen, -40.0), 40.0)))


def native_features(
    costs: np.ndarray,
    tour: Sequence[int],
    scale: float,
    clock: int,
    times: Sequence[int],
    traces: Sequence[float],
) -> np.ndarray:
    """(8, n) what the policy sees of every request, from whole tours."""
    n = len(tour) // 2
    whole = cost(costs, tour)
    features = np.zeros((8, n))
    for r in range(n):
        p, d = tour.index(r + 1), tour.index(r + 1 + n)
        for row, node in ((0, r + 1), (1, r + 1 + n)):
            rest = [other for other in tour if other != node]
            features[row, r] = (whole - cost(costs, rest)) / scale
        age = min((clock - times[r]) / n, 4.0)
        loaded = sum(1 if node <= n else -1 for node in tour[1:p])
        features[2:, r] = (
            *(age, 1 / (1 + 4 * age), traces[r], 0.2 * costs[r + 1, r + 1 + n] / scale),
            *((d - p) / len(tour), 0.2 * loaded),
        )
    return features
