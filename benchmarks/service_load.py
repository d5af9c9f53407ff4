"""Fifty clients at once: no error, little overhead, and a server that still answers at once.

    python benchmarks/service_load.py [--clients 50] [--rounds 4] [--seconds 0.2] [--workers 2]

Starts ``n2s serve`` on a free port of this machine, lets every client solve instances of 21 nodes one after
the other, asks /health all the while from a process of its own, and prints JSON.

The overhead of a solve is what its client waits for beyond the search: wall clock minus the time in the
queue minus the search itself (both told by the server in ``Server-Timing``). With more clients than workers
the queue is as long as the load makes it, whatever the server does; HTTP, reading, checking, handing over
to a worker, judging and writing are the server's to keep small.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import re
import signal
import statistics
import subprocess
import sys
import time

from hardware import hardware

import n2s
from n2s.formats.json_instance import FORMAT

LIMIT = 300.0
"""Seconds after which the benchmark gives up."""
PROBE_EVERY = 0.02


async def solve(port: int, body: bytes, seconds: float) -> tuple[int, float, float, float]:
    """(status, wall, queue, search) of one solve, in seconds."""
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = (
        f"POST /v1/solve?seconds={seconds:g} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode() + body)
    answer = await reader.read()
    wall = time.perf_counter() - began
    writer.close()
    status = int(answer.split(b" ", 2)[1])
    found = re.search(rb"server-timing: queue;dur=([\d.]+), solve;dur=([\d.]+)", answer)
    queue, search = (float(part) / 1000 for part in found.groups()) if found else (0.0, 0.0)
    return status, wall, queue, search


async def load(port: int, bodies: list[bytes], rounds: int, seconds: float) -> list[tuple]:
    """All solves of all clients, each of which waits for one before it asks for the next."""

    async def client(body: bytes) -> list[tuple]:
        return [await solve(port, body, seconds) for _ in range(rounds)]

    async with asyncio.timeout(LIMIT):
        found = await asyncio.gather(*map(client, bodies))
    return [one for each in found for one in each]


def probe(port: int) -> None:
    """Ask /health until standard input ends; print the seconds that each answer took."""
    import threading

    over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    took = []
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    while not over.wait(PROBE_EVERY):
        began = time.perf_counter()
        connection.request("GET", "/health")
        response = connection.getresponse()
        response.read()
        took.append(time.perf_counter() - began if response.status == 200 else 999.0)
    print(json.dumps(took))


def wait_until_warm(port: int, workers: int) -> None:
    """Until all workers have loaded (the first time: compiled) their kernels."""
    until = time.monotonic() + LIMIT
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/health")
        if json.loads(connection.getresponse().read())["ready"] == workers:
            return
        if time.monotonic() > until:
            sys.exit("the workers did not warm up")
        time.sleep(0.2)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--probe", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.probe:
        probe(arguments.probe)
        return
    instances = n2s.generate(10, count=arguments.clients, seed=1)
    bodies = [FORMAT.render([instance]) for instance in instances] if FORMAT.render else []
    options = [
        "--port",
        "0",
        "--workers",
        str(arguments.workers),
        "--queue",
        str(arguments.clients),
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "n2s.cli.main", "serve", *options], stdout=subprocess.PIPE, text=True
    )
    try:
        port = int(server.stdout.readline().rpartition(":")[2]) if server.stdout else 0
        wait_until_warm(port, arguments.workers)
        probing = subprocess.Popen(
            [sys.executable, __file__, "--probe", str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        began = time.perf_counter()
        found = asyncio.run(load(port, bodies, arguments.rounds, arguments.seconds))
        elapsed = time.perf_counter() - began
        health = json.loads(probing.communicate(timeout=60)[0])
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)
    good = [one for one in found if one[0] == 200]
    overhead = [1000 * (wall - queue - search) for _, wall, queue, search in good] or [float("nan")]
    milliseconds = [1000 * one for one in health]
    print(
        json.dumps(
            {
                "clients": arguments.clients,
                "solves": len(found),
                "errors": len(found) - len(good),
                "seconds each": arguments.seconds,
                "workers": arguments.workers,
                "elapsed s": round(elapsed, 2),
                "overhead ms": {
                    "median": round(statistics.median(overhead), 1),
                    "95 %": round(percentile(overhead, 0.95), 1),
                    "max": round(max(overhead), 1),
                },
                "search ms median": round(1000 * statistics.median([one[3] for one in good]), 1),
                "queue ms median": round(1000 * statistics.median([one[2] for one in good]), 1),
                "health ms": {
                    "asked": len(milliseconds),
                    "median": round(statistics.median(milliseconds), 1),
                    "95 %": round(percentile(milliseconds, 0.95), 1),
                    "max": round(max(milliseconds), 1),
                },
                "exit code": server.returncode,
                "hardware": hardware(),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
