"""Compiled kernels are cached beside their source; this keeps that cache honest.

numba notices a change of the file a kernel stands in, but not of the files it calls into: after an
edit of ``rules.py`` the compiled ``reinsertion.py`` would go on using the old rules. So one
fingerprint of all kernel sources is kept beside the caches, and a new one empties them.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path


def drop_stale(folder: Path) -> bool:
    """Delete the compiled kernels of ``folder`` if any of its sources changed; say whether it did."""
    digest = hashlib.sha256()
    for source in sorted(folder.glob("*.py")):
        digest.update(source.read_bytes())
    fingerprint = digest.hexdigest()
    cache = folder / "__pycache__"
    stamp = cache / "kernels.sha256"
    # A cache that cannot be read or written (a read-only install) is not ours to keep.
    with suppress(OSError):
        if stamp.exists() and stamp.read_text() == fingerprint:
            return False
        cache.mkdir(exist_ok=True)
        for pattern in ("*.nbi", "*.nbc"):
            for compiled in cache.glob(pattern):
                compiled.unlink(missing_ok=True)
        stamp.write_text(fingerprint)
        return True
    return False
