"""Messages between the server and its child processes: a small JSON head and bytes.

Bytes pass as they are, so that the server never parses what a client sent nor what a search found,
and nothing is ever unpickled.
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

LENGTHS = struct.Struct(">II")


@dataclass(frozen=True)
class Message:
    """One message."""

    head: Mapping[str, Any]
    body: bytes = b""

    def packed(self) -> bytes:
        """The message as it goes through a pipe."""
        head = json.dumps(self.head).encode()
        return LENGTHS.pack(len(head), len(self.body)) + head + self.body


async def receive(stream: asyncio.StreamReader) -> Message | None:
    """The next message, on the server's side; None where the other side is gone."""
    try:
        lengths = LENGTHS.unpack(await stream.readexactly(LENGTHS.size))
        head, body = [await stream.readexactly(length) for length in lengths]
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return Message(json.loads(head), body)


def read(stream: BinaryIO) -> Message | None:
    """The next message, on the child's side; None where the server is gone."""
    start = stream.read(LENGTHS.size)
    if len(start) < LENGTHS.size:
        return None
    parts = [stream.read(length) for length in LENGTHS.unpack(start)]
    if tuple(map(len, parts)) != LENGTHS.unpack(start):
        return None
    return Message(json.loads(parts[0]), parts[1])
