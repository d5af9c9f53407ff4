"""Start or continue a run in a folder: what the command line and torchrun call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n2s.errors import InputError
from n2s.search.interrupt import Interrupt, interruptible
from n2s.train.beginning import find
from n2s.train.config import read_preset
from n2s.train.distributed import World, world
from n2s.train.journal import Tell
from n2s.train.preset import folder_of
from n2s.train.snapshot import FILE
from n2s.train.trainer import POLICY_FILE, Trainer


def begin(
    preset: str | Path,
    out: str | Path,
    changes: Sequence[str] = (),
    here: World | None = None,
    start: str | None = None,
) -> Trainer:
    """A new run of a preset; the folder must not hold one already."""
    config = read_preset(preset, changes)
    first = None if start is None else find(start, config)
    folder = Path(out)
    if (folder / FILE).exists():
        raise InputError("holds a run already: resume it, or choose another folder", str(out))
    trainer = Trainer(config, folder, here, Path(preset).stem, start=first)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", str(out)) from error
    return trainer


def train(
    preset: str | Path | None,
    out: str | Path | None,
    *,
    changes: Sequence[str] = (),
    start: str | None = None,
    resume: str | Path | None = None,
    minutes: float | None = None,
    tell: Tell | None = None,
) -> str:
    """Train, saying why it stopped: ``epochs``, ``time`` or ``interrupted``."""
    if (preset is None) == (resume is None):
        raise InputError("give a preset to begin a run, or a run to resume, one of the two")
    if minutes is not None and not minutes > 0:
        raise InputError(f"the minutes must be positive, not {minutes:g}")
    if resume is not None and (changes or out is not None or start is not None):
        raise InputError("a resumed run goes on as it was: no --out, no --from and no --set")
    with interruptible() as interrupt, world() as here:
        say = tell if tell is not None and here.writer else _nothing
        if preset is not None:
            folder = folder_of(preset, out)
            return _train(begin(preset, folder, changes, here, start), minutes, interrupt, say)
        return _train(Trainer.resume(str(resume), here), minutes, interrupt, say)


def _train(trainer: Trainer, minutes: float | None, interrupt: Interrupt, say: Tell) -> str:
    """Train and say how it ended. Nobody else holds the trainer: it is gone before its process group."""
    stopped = trainer.run(minutes, interrupt, say)
    if stopped == "epochs":
        say(f"all epochs are done: {trainer.folder / POLICY_FILE}")
    else:
        say(f"stopped by {stopped}: n2s train --resume {trainer.folder} goes on")
    return stopped


def _nothing(_: str) -> None:
    """Say nothing."""
