"""When this process began, so that a time limit counts what the user waits for."""

from __future__ import annotations

import os
import time
from pathlib import Path


def process_start() -> float:
    """The start of the process on the clock of ``time.monotonic``; now, where the system does not say."""
    try:
        # The 22nd field of /proc/self/stat: ticks from boot to the start; the 2nd may hold blanks.
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        age = 0.0
    return time.monotonic() - max(0.0, age)
