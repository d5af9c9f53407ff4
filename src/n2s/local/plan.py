"""How a budget is spent: how many first tours, how long they and their children are annealed."""

from __future__ import annotations

from dataclasses import dataclass

from n2s.problem import Variant


@dataclass(frozen=True)
class Settings:
    """Found by measurement (docs/solver.md); temperatures in mean edges of a greedy tour."""

    hot: float = 8.0
    """Where first tours start."""
    warm: float = 0.5
    """Where children and given routes start."""
    cold: float = 0.05
    """Where all end."""
    ruin: int = 16
    """Most requests taken out at a time."""
    population: int = 24
    """Most tours kept; 1: one long annealing a thread, whatever the budget."""
    first: int = 100
    """Iterations of a first tour, for each request."""
    child: int = 50
    """Iterations of a child, for each request."""
    share: float = 0.45
    """Of the budget for first tours."""
    crossover: bool = True
    kinds: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """How often strings, stretches and similar requests are taken out, relative to each other."""
    orders: int = 4
    """Orders of recreation in use: 1 is random only, 4 all of them."""
    alone: float = 0.85
    """Share of the budget for first tours where there is only one a thread; children get the rest."""
    blocks: int = 0
    """Block moves before each iteration (LIFO only)."""


SETTINGS = {
    Variant.PDTSP: Settings(ruin=30, first=50, child=35),
    Variant.LIFO: Settings(ruin=10, blocks=1),
}


def settings_of(variant: Variant) -> Settings:
    """The settings of a variant; one without measurements gets those of LIFO, the stricter rule."""
    return SETTINGS.get(variant, SETTINGS[Variant.LIFO])


@dataclass(frozen=True)
class Plan:
    """For one run."""

    population: int
    first: int
    """Iterations of a first tour."""
    child: int


def make_plan(settings: Settings, n: int, budget: float, threads: int) -> Plan:
    """Divide a budget of iterations: many short first tours if it allows for them, else one a thread."""
    first = settings.first * n
    population = min(int(settings.share * budget / first), settings.population)
    if population < max(3, threads):
        length = max(1, int(settings.alone * budget / threads))
        return Plan(threads, length, max(1, min(settings.child * n, length // 8)))
    return Plan(
        population,
        max(first, int(settings.share * budget / population)),
        settings.child * n,
    )
