"""The native policy: N2S's decisions over local features, at microseconds a step (docs/native.md)."""

from n2s.native.bridge import bridged_chains
from n2s.native.chain import LinkedNativeChain, NativeChain, native_chains, native_settings
from n2s.native.policy import NativePolicy, find, load, names, save

__all__ = [
    "LinkedNativeChain",
    "NativeChain",
    "NativePolicy",
    "bridged_chains",
    "find",
    "load",
    "names",
    "native_chains",
    "native_settings",
    "save",
]
