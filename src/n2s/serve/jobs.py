"""Searches that clients come back to: their state, their improvements, and for how long they are kept."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from dataclasses import dataclass, field
from enum import StrEnum

from n2s.serve.metrics import Metrics
from n2s.serve.pool import CancelledTaskError, FailedError, Pool, RefusedError, Task
from n2s.serve.wire import Message

MOST_IMPROVEMENTS = 2000
"""Kept of one job; a search has tens."""
MOST_BYTES = 64 * 2**20
"""Of all finished jobs together."""
ABANDONED = 5.0
"""Seconds after which a search that was watched and is watched no longer is cancelled."""


class State(StrEnum):
    """How far a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Improvement:
    """A better route."""

    step: int
    seconds: float
    best: float


@dataclass(eq=False)
class Job:
    """One search."""

    task: Task
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    state: State = State.QUEUED
    improvements: list[Improvement] = field(default_factory=list)
    best: float | None = None
    seconds: float | None = None
    """When ``best`` was found; of a finished job, how long it searched."""
    route: bytes = b"null"
    """Of the last improvement, as JSON."""
    solution: bytes = b"null"
    error: str | None = None
    stopping: str = ""
    """Why it is to end early, if so."""
    finished_at: float | None = None
    watched: bool = False
    """Whether anybody ever watched it; who never did may come back whenever they like."""
    watchers: int = 0
    seen_at: float = field(default_factory=time.monotonic)
    """When somebody last asked for it or stopped watching it."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in (State.DONE, State.FAILED, State.CANCELLED)

    @property
    def size(self) -> int:
        """Bytes that it holds, about."""
        return len(self.solution) + len(self.route)

    @property
    def news(self) -> asyncio.Event:
        """Set at the next change, whatever it is."""
        return self._news

    def change(self) -> None:
        """Wake whoever waits for a change."""
        told, self._news = self._news, asyncio.Event()
        told.set()

    def begin(self) -> None:
        """A worker took it."""
        self.state = State.RUNNING
        self.change()

    def hear(self, news: Message) -> None:
        """A worker tells an improvement."""
        if len(self.improvements) < MOST_IMPROVEMENTS:
            head = news.head
            self.improvements.append(Improvement(head["step"], head["seconds"], head["best"]))
            self.best, self.seconds, self.route = head["best"], head["seconds"], news.body
            self.change()

    def as_json(self, place: int | None) -> bytes:
        """The job as clients see it; the solution is passed on as the worker wrote it."""
        head = {
            "id": self.id,
            "state": self.state.value,
            "before": place,
            "best": self.best,
            "seconds": self.seconds,
            "error": self.error,
        }
        return json.dumps(head).encode()[:-1] + b', "solution": ' + self.solution + b"}"


class Jobs:
    """All jobs that can be asked for: running ones, and for a while finished ones."""

    def __init__(self, pool: Pool, metrics: Metrics, keep: int, keep_seconds: float) -> None:
        self._pool = pool
        self._metrics = metrics
        self._keep = keep
        self._keep_seconds = keep_seconds
        self._jobs: dict[str, Job] = {}
        self._tending: set[asyncio.Task[None]] = set()

    def get(self, identity: str) -> Job | None:
        """The job of an id; None if there is none, or no longer."""
        self._forget()
        job = self._jobs.get(identity)
        if job is not None:
            job.seen_at = time.monotonic()
        return job

    def add(self, task: Task) -> Job:
        """A new job, waiting.

        Raises
        ------
        RefusedError
            If the pool takes no more.
        """
        job = Job(task)
        task.hear, task.begin = job.hear, job.begin
        self._pool.submit(task)
        self._jobs[job.id] = job
        tending = asyncio.create_task(self._tend(job))
        self._tending.add(tending)  # the loop itself keeps no hold of its tasks
        tending.add_done_callback(self._tending.discard)
        self._forget()
        return job

    def cancel(self, job: Job, reason: str = "cancelled") -> None:
        """A waiting job never begins, a running one ends with its best route so far."""
        if not job.finished:
            job.stopping = reason
            self._pool.cancel(job.task)

    def drop(self, job: Job) -> None:
        """Forget a finished job."""
        self._jobs.pop(job.id, None)

    async def _tend(self, job: Job) -> None:
        """Follow a job to its end."""
        abandoning = asyncio.create_task(self._abandon(job))
        try:
            answer = await asyncio.shield(job.task.answer)
            if answer.head["say"] == "done":
                job.solution = answer.body
                job.state = State.CANCELLED if job.stopping else State.DONE
                job.best, job.seconds = answer.head["cost"], answer.head["seconds"]
                job.error = job.stopping or None
                self._metrics.searched.observe(answer.head["seconds"])
            else:
                job.state, job.error = State.FAILED, answer.head["error"]
        except CancelledTaskError:
            job.state, job.error = State.CANCELLED, f"{job.stopping} before it began"
        except (FailedError, RefusedError) as error:
            job.state, job.error = State.FAILED, str(error)
            if job.stopping:  # it was killed since it did not come to an end by itself
                job.state = State.CANCELLED
                job.error = f"{job.stopping}; its worker had to be ended"
        finally:
            abandoning.cancel()
        self._metrics.jobs.add(state=job.state.value)
        self._metrics.waited.observe(job.task.waited)
        self._metrics.improvements.add(len(job.improvements))
        job.finished_at = time.monotonic()
        job.change()
        self._forget()

    async def _abandon(self, job: Job) -> None:
        """Cancel a search whose watchers have all gone and do not come back."""
        while True:
            await asyncio.sleep(ABANDONED / 10)
            unseen = 0.0 if job.watchers else time.monotonic() - job.seen_at
            if job.watched and unseen > ABANDONED:
                self.cancel(job, "cancelled since its client went away")
                return

    def _forget(self) -> None:
        """Finished jobs are kept for a while, and not too many of them."""
        finished = [job for job in self._jobs.values() if job.finished_at is not None]
        finished.sort(key=lambda job: job.finished_at or 0.0)
        oldest = time.monotonic() - self._keep_seconds
        size = sum(job.size for job in finished)
        left = len(finished)
        for job in finished:
            if left <= self._keep and size <= MOST_BYTES and (job.finished_at or 0.0) >= oldest:
                break
            del self._jobs[job.id]
            left, size = left - 1, size - job.size
