"""The N2S network: configuration, encoder, decoders, critic, checkpoints."""

from n2s.model.checkpoint import Checkpoint, load, save
from n2s.model.config import Attention, Operator, PolicyConfig
from n2s.model.critic import Critic
from n2s.model.fast import FastPolicy, can_be_fast, quickest
from n2s.model.observation import History, Observation, Progress
from n2s.model.policy import Assessment, Decision, Embedding, Policy

__all__ = [
    "Assessment",
    "Attention",
    "Checkpoint",
    "Critic",
    "Decision",
    "Embedding",
    "FastPolicy",
    "History",
    "Observation",
    "Operator",
    "Policy",
    "PolicyConfig",
    "Progress",
    "can_be_fast",
    "load",
    "quickest",
    "save",
]
