"""What stands beside every measured figure: the machine, and the versions."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

import n2s

LIBRARIES = ("numpy", "numba", "torch")


def hardware() -> str:
    """Processor, cores and Python of this machine, in one line."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def versions() -> str:
    """The package and the libraries its own methods calculate with, in one line."""
    return ", ".join([f"n2s {n2s.__version__}", *(f"{x} {metadata.version(x)}" for x in LIBRARIES)])
