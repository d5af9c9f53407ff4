"""Training of the native policy by evolution strategies (docs/native.md)."""

from n2s.evolve.config import EvolveConfig, read_preset
from n2s.evolve.trainer import Trainer

__all__ = ["EvolveConfig", "Trainer", "read_preset"]
