"""Training by n-step PPO with a curriculum (Algorithm 1 of the paper)."""

from n2s.train.config import TrainConfig, config_of, read_preset
from n2s.train.learner import TrainingError
from n2s.train.trainer import Trainer

__all__ = ["TrainConfig", "Trainer", "TrainingError", "config_of", "read_preset"]
