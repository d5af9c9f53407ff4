"""A real server process to talk to, with the standard library's client."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SQUARE = {
    "name": "square",
    "depot": {"x": 0, "y": 0},
    "requests": [
        {"id": "a", "pickup": {"x": 1, "y": 0}, "delivery": {"x": 1, "y": 1}},
        {"id": "b", "pickup": {"x": 0, "y": 1}, "delivery": {"x": 2, "y": 1}},
    ],
}
"""The shortest round of either variant is 0,0 - 1,0 ... of cost 4 + 2 sqrt 2 or so; small and quick."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        found = self.json["error"]
        assert isinstance(found, str)
        return found


class Server:
    """A running service."""

    def __init__(self, process: subprocess.Popen[str], port: int, token: str) -> None:
        self.process = process
        self.port = port
        self.token = token

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connection(self, timeout: float = 60) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request; a body that is not bytes is sent as JSON."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        own = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        connection = self.connection()
        try:
            connection.request(method, path, data, {**own, **(headers or {})})
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, response.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def post(self, path: str, body: object) -> Answer:
        return self.ask("POST", path, body)

    def wait(self, path: str, wanted: Any, seconds: float = 60) -> Any:
        """Ask until the JSON is as wanted."""
        until = time.monotonic() + seconds
        while True:
            found = self.get(path).json
            if wanted(found):
                return found
            assert time.monotonic() < until, found
            time.sleep(0.05)

    def workers(self) -> list[int]:
        """Process ids of the solving children."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                line = (folder / "cmdline").read_bytes().split(b"\0")
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == self.process.pid and b"n2s.serve.worker" in line and b"solver" in line:
                found.append(int(folder.name))
        return found


@contextmanager
def serving(*options: str, token: str = "", ready: int = 1) -> Iterator[Server]:
    """A server with these options, for the time of the context; with so many workers warm."""
    environment = {**os.environ, "N2S_TOKEN": token}
    process = subprocess.Popen(
        [sys.executable, "-m", "n2s.cli.main", "serve", "--port", "0", *options],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"n2s is at http://127\.0\.0\.1:(\d+)\n", line)
        assert found is not None, line
        server = Server(process, int(found.group(1)), token)
        # The first run on a machine compiles the kernels.
        server.wait("/health", lambda health: health["ready"] >= ready, seconds=600)
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
