"""What a run begins with other than fresh weights: a trained policy, or a native one as the prior."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from n2s.errors import InputError, located
from n2s.model import Checkpoint, load
from n2s.model.prior import adopt
from n2s.native import NativePolicy
from n2s.native import find as find_native
from n2s.search.library import shipped
from n2s.train.config import TrainConfig
from n2s.train.learner import ActorCritic


@dataclass(frozen=True)
class Beginning:
    """Weights from elsewhere."""

    source: Checkpoint | NativePolicy
    label: str
    """Name and hash."""

    def enter(self, networks: ActorCritic) -> None:
        """Put the weights into new networks."""
        if isinstance(self.source, NativePolicy):
            adopt(networks.policy, self.source.blocks)
            return
        mine, other = asdict(networks.policy.config), asdict(self.source.policy.config)
        differing = [name for name in mine if mine[name] != other[name]]
        if differing:
            raise InputError(
                f"the policy {self.label} has other options than the preset's: {', '.join(differing)}"
            )
        networks.policy.load_state_dict(self.source.policy.state_dict())
        if self.source.critic is not None:
            networks.critic.load_state_dict(self.source.critic.state_dict())


def find(name: str, config: TrainConfig) -> Beginning:
    """A checkpoint or a native policy by its name in the package or its file."""
    variant = config.data.variant
    path = shipped().get(name, Path(name))
    if path.suffix == ".safetensors":
        checkpoint = load(path)
        with located(str(name)):
            if checkpoint.variant is not variant:
                raise InputError(f"the policy is for {checkpoint.variant}, the preset is {variant}")
        return Beginning(checkpoint, f"{path.stem} {checkpoint.sha256[:12]}")
    native = find_native(name, variant)
    return Beginning(native, f"{path.stem} {native.sha256[:12]}")
