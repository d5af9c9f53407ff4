"""The native policy: N2S's decisions over local features, at microseconds a step (docs/native.md)."""

from n2s.native.chain import NativeChain, native_chains, native_settings
from n2s.native.policy import NativePolicy, load, save, shipped

__all__ = [
    "NativeChain",
    "NativePolicy",
    "load",
    "native_chains",
    "native_settings",
    "save",
    "shipped",
]
