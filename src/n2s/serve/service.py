"""The service without HTTP: pools, jobs, and the way of a request through them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from n2s.serve.bodies import Bodies
from n2s.serve.child import Child, ChildDiedError, Command
from n2s.serve.jobs import Job, Jobs
from n2s.serve.metrics import Metrics
from n2s.serve.pool import CancelledTaskError, FailedError, Pool, RefusedError, Task
from n2s.serve.problems import Problem, refused
from n2s.serve.settings import Settings
from n2s.serve.wire import Message

CLERKS = 2
"""So that one large body does not keep all others waiting."""
CLERKS_WAITING = 256
CLERK_SECONDS = 20.0
"""Quick things take milliseconds; what takes longer than this is given up."""
WAITING_BODIES = 4
"""Bodies of the largest size that may wait for a worker."""
GOING_DOWN = "the service is going down: come back later"

Query = Mapping[str, Any]


class Service:
    """Everything that lives as long as the server does."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.bodies = Bodies(settings.body_bytes)
        most_bytes = WAITING_BODIES * settings.body_bytes
        solver = Command("solver", settings.max_memory)
        self._clerk = Command("clerk", settings.max_memory)
        self.solvers = Pool(solver, settings.searches, settings.queue, most_bytes)
        self.clerks = Pool(self._clerk, CLERKS, CLERKS_WAITING, most_bytes)
        self.jobs = Jobs(self.solvers, self.metrics, settings.keep, settings.keep_seconds)
        self._models: asyncio.Task[bytes] | None = None
        self.draining = False

    def start(self) -> None:
        """Start the child processes; does not wait for them."""
        self.clerks.start()
        self.solvers.start()

    async def drain(self) -> None:
        """Begin nothing any more; running searches end with their best route so far."""
        self.draining = True
        await self.solvers.drain(GOING_DOWN)
        await self.clerks.drain(GOING_DOWN)

    async def close(self) -> None:
        """End the child processes."""
        if self._models is not None:
            self._models.cancel()
        await asyncio.gather(self.solvers.close(), self.clerks.close())

    # --- what can be asked for -------------------------------------------------------------------

    async def quickly(self, what: str, query: Query, body: bytes = b"") -> Message:
        """Something that takes no search, done by a clerk."""
        task = Task(what, self._options(query), body, CLERK_SECONDS)
        return await self._answered(self.clerks, task)

    async def solve(
        self, query: Query, body: bytes, gone: asyncio.Future[None]
    ) -> tuple[Message, Task]:
        """A search whose client waits for it; one who goes away cancels it."""
        task = await self._search(query, body, stream=False)
        gone.add_done_callback(lambda _: self.solvers.cancel(task))
        try:
            answer = await self._answered(self.solvers, task)
            self.metrics.searched.observe(answer.head["seconds"])
            self.metrics.jobs.add(state="cancelled" if gone.done() else "done")
            return answer, task
        except Problem as problem:
            if problem.status == 500:
                self.metrics.jobs.add(state="cancelled" if gone.done() else "failed")
            raise
        finally:
            self.metrics.waited.observe(task.waited)

    async def enqueue(self, query: Query, body: bytes) -> Job:
        """A search whose client comes back for it."""
        task = await self._search(query, body, stream=True)
        try:
            return self.jobs.add(task)
        except RefusedError as error:
            raise refused(error) from None

    async def models(self) -> bytes:
        """The policies, listed once by a process of its own: that means loading torch."""
        if self._models is None or (self._models.done() and self._models.exception() is not None):
            self._models = asyncio.create_task(self._list_models())
        try:
            return await asyncio.shield(self._models)
        except (ChildDiedError, OSError) as error:
            raise Problem(500, f"the policies cannot be listed: {error}") from None

    # --- parts -----------------------------------------------------------------------------------

    async def _search(self, query: Query, body: bytes, stream: bool) -> Task:
        """A search that a clerk has looked through, so that what is wrong is told at once."""
        found = await self.quickly("check", query, body)
        options = {**self._options(query), "stream": stream}
        return Task("solve", options, body, found.head["seconds"])

    def _options(self, query: Query) -> dict[str, Any]:
        settings = self.settings
        given = {key: value for key, value in query.items() if value is not None}
        return {"query": given, "nodes": settings.max_nodes, "seconds": settings.max_seconds}

    async def _answered(self, pool: Pool, task: Task) -> Message:
        try:
            pool.submit(task)
            answer = await task.answer
        except RefusedError as error:
            raise refused(error) from None
        except (FailedError, CancelledTaskError) as error:
            raise Problem(500, str(error)) from None
        if answer.head["say"] == "refused":
            raise Problem(422, answer.head["error"])
        if answer.head["say"] == "failed":
            raise Problem(500, answer.head["error"])
        return answer

    async def _list_models(self) -> bytes:
        child = await Child.start(self._clerk)
        try:
            answer = await child.work(Message({"do": "models", "options": {}}), 120.0, None)
        finally:
            with suppress(Exception):
                await child.close()
        if answer.head["say"] != "done":
            raise ChildDiedError(answer.head["error"])
        return answer.body
