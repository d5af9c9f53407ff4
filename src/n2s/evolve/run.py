"""Start or continue an evolution in a folder: what the command line calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n2s.errors import InputError
from n2s.evolve.config import read_preset
from n2s.evolve.state import FILE
from n2s.evolve.trainer import POLICY_FILE, Tell, Trainer
from n2s.native.policy import read
from n2s.search.interrupt import interruptible
from n2s.train.preset import folder_of


def begin(
    preset: str | Path,
    out: str | Path,
    changes: Sequence[str] = (),
    start: str | Path | None = None,
) -> Trainer:
    """A new run of a preset, from a policy if there is one; the folder must not hold a run already."""
    config = read_preset(preset, changes)
    folder = Path(out)
    if (folder / FILE).exists():
        raise InputError("holds a run already: resume it, or choose another folder", str(out))
    first = None if start is None else read(start)
    trainer = Trainer(config, folder, Path(preset).stem, first)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", str(out)) from error
    return trainer


def evolve(
    preset: str | Path | None,
    out: str | Path | None,
    *,
    changes: Sequence[str] = (),
    start: str | Path | None = None,
    resume: str | Path | None = None,
    minutes: float | None = None,
    tell: Tell = lambda _: None,
) -> str:
    """Evolve, saying why it stopped: ``generations``, ``time`` or ``interrupted``."""
    if (preset is None) == (resume is None):
        raise InputError("give a preset to begin a run, or a run to resume, one of the two")
    if minutes is not None and not minutes > 0:
        raise InputError(f"the minutes must be positive, not {minutes:g}")
    if resume is not None and (changes or out is not None or start is not None):
        raise InputError("a resumed run goes on as it was: no --out, no --from and no --set")
    with interruptible() as interrupt:
        if preset is not None:
            trainer = begin(preset, folder_of(preset, out), changes, start)
        else:
            trainer = Trainer.resume(str(resume))
        stopped = trainer.run(minutes, interrupt, tell)
    if stopped == "generations":
        tell(f"all generations are done: {trainer.folder / POLICY_FILE}")
    else:
        tell(f"stopped by {stopped}: n2s evolve --resume {trainer.folder} goes on")
    return stopped
