"""The hardware line that stands beside every measured figure."""

from __future__ import annotations

import os
import platform
from pathlib import Path


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
