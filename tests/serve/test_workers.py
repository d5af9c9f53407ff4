"""What happens to searches when workers die, queues fill, clients leave and the server is told to go."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from serve.servers import SQUARE, Answer, Server, serving


@pytest.fixture(scope="module")
def own() -> Iterator[Server]:
    """One worker, room for two more, at most 30 seconds."""
    with serving("--workers", "1", "--queue", "2", "--max-seconds", "30") as running:
        yield running


def begin(server: Server, seconds: float = 20) -> str:
    answer = server.post(f"/v1/jobs?seconds={seconds}", SQUARE)
    assert answer.status == 202, answer.body
    return answer.headers["location"]


def running(server: Server, place: str) -> None:
    server.wait(place, lambda job: job["state"] == "running")


def idle(server: Server) -> Any:
    return server.wait("/health", lambda h: h["ready"] == 1 and not h["running"] + h["waiting"])


def test_a_killed_worker_is_replaced_and_its_job_says_why(own: Server) -> None:
    place = begin(own)
    running(own, place)
    (before,) = own.workers()
    os.kill(before, signal.SIGKILL)
    job = own.wait(place, lambda job: job["state"] == "failed")
    assert job["error"] == "the worker died: it was ended by SIGKILL"
    assert job["solution"] is None
    assert own.post("/v1/solve?seconds=0.1", SQUARE).status == 200
    (after,) = own.workers()
    assert after != before
    assert b"n2s_worker_deaths_total 1\n" in own.get("/metrics").body


def test_a_worker_killed_while_idle_costs_nobody_anything(own: Server) -> None:
    idle(own)
    (before,) = own.workers()
    os.kill(before, signal.SIGKILL)
    own.wait("/health", lambda health: health["ready"] == 0)
    assert own.post("/v1/solve?seconds=0.1", SQUARE).status == 200


def test_a_full_queue_says_when_to_come_back(own: Server) -> None:
    idle(own)
    first = begin(own)
    running(own, first)
    places = [first, begin(own), begin(own)]
    for path in ("/v1/jobs?seconds=5", "/v1/solve?seconds=5"):
        answer = own.post(path, SQUARE)
        assert answer.status == 429
        assert answer.error == "too many others are waiting: come back later"
        assert 1 <= int(answer.headers["retry-after"]) <= 60
    begun = time.monotonic()
    assert own.get("/health").status == 200  # and the server is as quick as ever
    assert own.post("/v1/evaluate", {"instance": SQUARE, "route": []}).status == 200
    assert time.monotonic() - begun < 5  # of the 60 seconds that are waited for
    for place in places:
        assert own.ask("DELETE", place).status == 200
    idle(own)


def test_a_client_that_leaves_cancels_its_search(own: Server) -> None:
    idle(own)
    body = json.dumps(SQUARE).encode()
    head = f"POST /v1/solve?seconds=25 HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", own.port)) as connection:
        connection.sendall(head.encode() + body)
        own.wait("/health", lambda health: health["running"] == 1)
    begun = time.monotonic()
    idle(own)
    assert time.monotonic() - begun < 10  # of 25 seconds


def test_a_watcher_that_leaves_for_good_cancels_the_job(own: Server) -> None:
    place = begin(own)
    running(own, place)
    connection = own.connection()
    connection.request("GET", f"{place}/events")
    assert connection.getresponse().readline() == b"event: state\n"
    connection.close()
    begun = time.monotonic()
    idle(own)  # asks for /health only: asking for the job would count as being there
    assert 4 < time.monotonic() - begun < 15  # who reconnects within five seconds loses nothing
    job = own.get(place).json
    assert (job["state"], job["error"]) == ("cancelled", "cancelled since its client went away")
    assert job["solution"] is not None


def test_sigterm_lets_running_searches_answer_with_their_best() -> None:
    answers: list[Answer] = []
    with serving("--workers", "1", "--queue", "4") as server:
        threads = [
            threading.Thread(
                target=lambda: answers.append(server.post("/v1/solve?seconds=50", SQUARE))
            )
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        server.wait("/health", lambda health: health["running"] == health["waiting"] == 1)
        begun = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join(10)
        assert server.process.wait(10) == 0
        assert time.monotonic() - begun < 10  # of 50 seconds
        assert not server.workers()
    by_status = {answer.status: answer for answer in answers}
    assert by_status[200].json["record"]["stopped"] == "interrupted"
    assert by_status[200].json["feasible"] is True
    assert "going down" in by_status[503].error
    assert "retry-after" in by_status[503].headers


def test_workers_end_with_a_server_that_is_killed() -> None:
    with serving("--workers", "1") as server:
        place = begin(server, 50)
        running(server, place)
        (worker,) = server.workers()
        server.process.kill()
        server.process.wait()
        until = time.monotonic() + 10
        while _alive(worker):
            assert time.monotonic() < until
            time.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
