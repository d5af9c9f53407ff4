"""Counts and gauges in the text format that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0)

Labels = tuple[tuple[str, str], ...]


class Counter:
    """A number that only grows, for each set of labels."""

    kind = "counter"

    def __init__(self, name: str, help_text: str) -> None:
        self.name = name
        self.help_text = help_text
        self._values: dict[Labels, float] = {}

    def add(self, amount: float = 1.0, **labels: str) -> None:
        """Count."""
        key = tuple(labels.items())
        self._values[key] = self._values.get(key, 0.0) + amount

    def samples(self) -> Iterable[tuple[str, Labels, float]]:
        """What is written: name, labels, value."""
        return [(self.name, labels, value) for labels, value in self._values.items()]


class Histogram:
    """How often a number of seconds was at most so much."""

    kind = "histogram"

    def __init__(self, name: str, help_text: str) -> None:
        self.name = name
        self.help_text = help_text
        self._counts = [0] * len(BUCKETS)
        self._count = 0
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one observation."""
        self._count += 1
        self._sum += seconds
        for index, bound in enumerate(BUCKETS):
            self._counts[index] += seconds <= bound

    def samples(self) -> Iterable[tuple[str, Labels, float]]:
        """What is written: name, labels, value."""
        for bound, count in zip(BUCKETS, self._counts, strict=True):
            yield f"{self.name}_bucket", (("le", f"{bound:g}"),), count
        yield f"{self.name}_bucket", (("le", "+Inf"),), self._count
        yield f"{self.name}_sum", (), self._sum
        yield f"{self.name}_count", (), self._count


class Metrics:
    """Everything that is counted."""

    def __init__(self) -> None:
        self.requests = Counter("n2s_http_requests_total", "Answers by method, path and status.")
        self.jobs = Counter("n2s_jobs_total", "Searches by how they ended.")
        self.improvements = Counter("n2s_improvements_total", "Improvements told by searches.")
        self.waited = Histogram("n2s_queue_seconds", "Seconds that searches waited for a worker.")
        self.searched = Histogram("n2s_search_seconds", "Seconds that searches took.")

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """The page, with ``gauges`` (help and value by name) as they are now."""
        lines: list[str] = []
        for one in (self.requests, self.jobs, self.improvements, self.waited, self.searched):
            lines += [f"# HELP {one.name} {one.help_text}", f"# TYPE {one.name} {one.kind}"]
            lines += [f"{name}{_shown(labels)} {value:g}" for name, labels, value in one.samples()]
        for name, (help_text, value) in gauges.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}", f"{name} {value:g}"]
        return "\n".join(lines) + "\n"


def _shown(labels: Labels) -> str:
    if not labels:
        return ""
    escaped = (
        (key, value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"))
        for key, value in labels
    )
    return "{" + ",".join(f'{key}="{value}"' for key, value in escaped) + "}"
