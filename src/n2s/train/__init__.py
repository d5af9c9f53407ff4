"""Training by n-step PPO with a curriculum (Algorithm 1 of the paper)."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from n2s.train.config import TrainConfig, config_of, read_preset
    from n2s.train.learner import TrainingError
    from n2s.train.trainer import Trainer

__all__ = ["TrainConfig", "Trainer", "TrainingError", "config_of", "read_preset"]

# Training needs torch and numba; reading the metrics of a run does not.
_LATER = {
    "TrainConfig": "config",
    "Trainer": "trainer",
    "TrainingError": "learner",
    "config_of": "config",
    "read_preset": "config",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(f"n2s.train.{_LATER[name]}"), name)
    raise AttributeError(f"module 'n2s.train' has no attribute {name!r}")
