"""What the service is told when it starts, checked."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from n2s.errors import InputError, quoted

MEGABYTE = 2**20
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Addresses and limits."""

    host: str = "127.0.0.1"
    port: int = 8000
    workers: int | None = None
    """Searches at a time; default: one a core."""
    queue: int = 64
    """Searches that may wait for a worker; further ones are told to come back later."""
    max_nodes: int = 2000
    max_seconds: float = 60.0
    max_body: int = 32
    """Megabytes of a request."""
    max_memory: int = 2048
    """Megabytes that one job may take beyond what its process has after loading."""
    keep: int = 100
    """Finished jobs that can still be asked for."""
    keep_seconds: float = 600.0
    """How long, at most."""
    origins: tuple[str, ...] = ()
    """Web sites whose pages may call the service: ``https://app.example``."""
    tiles: str = ""
    """Address of map tiles with {z}, {x} and {y}, for a layer that is off until somebody asks for it."""
    tiles_credit: str = ""
    token: str = field(default="", repr=False)
    """What clients must show, if anything."""

    def __post_init__(self) -> None:
        for name in ("queue", "max_nodes", "max_body", "max_memory", "keep"):
            if getattr(self, name) < 1:
                raise InputError(f"{_option(name)} must be at least 1, not {getattr(self, name)}")
        if self.workers is not None and self.workers < 1:
            raise InputError(f"--workers must be at least 1, not {self.workers}")
        for name in ("max_seconds", "keep_seconds"):
            value = getattr(self, name)
            if not (value > 0 and math.isfinite(value)):
                raise InputError(f"{_option(name)} must be a positive number, not {value}")
        if not 0 <= self.port <= 65535:
            raise InputError(f"--port must be 0 to 65535, not {self.port}")
        for origin in self.origins:
            if origin != _origin(origin):
                raise InputError(
                    f"--origin must look like https://app.example, not {quoted(origin)}"
                )
        if self.tiles and not (
            _origin(self.tiles) and all(part in self.tiles for part in ("{z}", "{x}", "{y}"))
        ):
            raise InputError(
                "--tiles must look like https://tiles.example/{z}/{x}/{y}.png, "
                f"not {quoted(self.tiles)}"
            )
        if not self.token.isascii() or self.token != self.token.strip():
            raise InputError("N2S_TOKEN must be plain ASCII without blanks around it")

    @property
    def searches(self) -> int:
        """Searches that run at a time."""
        if self.workers is not None:
            return self.workers
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the service."""
        return self.host in LOOPBACK

    @property
    def body_bytes(self) -> int:
        """The most a request may hold."""
        return self.max_body * MEGABYTE

    @property
    def tiles_origin(self) -> str:
        """Where tiles come from, as a browser names it; empty without any."""
        return _origin(self.tiles)


def _origin(address: str) -> str:
    """Scheme, host and port of an address; empty if it has none."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    plain = parts.netloc.isascii() and not set(parts.netloc) & set("{}@;,'\" ")
    usable = parts.scheme in ("http", "https") and bool(parts.netloc) and plain
    return f"{parts.scheme}://{parts.netloc}" if usable else ""


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
