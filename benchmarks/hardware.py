"""The hardware line that stands beside every measured figure."""

from n2s.bench.hardware import hardware

__all__ = ["hardware"]
