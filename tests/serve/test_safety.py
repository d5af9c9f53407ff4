"""What clients must not be able to do."""

from __future__ import annotations

import json
import pickle
import random
import socket
from pathlib import Path
from typing import Any

import pytest

from serve.servers import SQUARE, Server, serving

DEEP = b"[" * 200_000
HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "blanks": b"   \n",
    "not JSON": b"{depot",
    "null": b"null",
    "a number": b"17",
    "a list": b"[1, 2, 3]",
    "empty": b"{}",
    "not UTF-8": b"\xff\xfe\x00{",
    "zeros": bytes(5000),
    "deep": DEEP,
    "deep objects": b'{"instance":' * 50_000,
    "many digits": b'{"depot": {"x": ' + b"9" * 5000 + b', "y": 0}, "requests": []}',
    "NaN": json.dumps({**SQUARE, "capacity": float("nan")}).encode(),
    "infinity": b'{"depot": {"x": 1e999, "y": 0}, "requests": [{}]}',
    "huge": json.dumps({**SQUARE, "depot": {"x": 1e200, "y": 0}}).encode(),
    "half a pair": b'{"name": "\\ud800", "depot": {"x": 0, "y": 0}, "requests": []}',
    "twice": b'{"depot": {"x": 0, "x": 1, "y": 0}, "requests": []}',
    "null instance": b'{"instance": null}',
    "instance in instance": json.dumps({"instance": {"instance": SQUARE}}).encode(),
    "no files": b'{"files": []}',
    "zip": b"PK\x03\x04" + bytes(200),
    "pickle": pickle.dumps([((0, 0), [(1, 1), (2, 2)])]),
    "a bomb": json.dumps({**SQUARE, "matrix": [[0] * 5] * 4}).encode(),
}
PATHS = ("/v1/solve", "/v1/jobs", "/v1/evaluate", "/v1/convert")


def well(server: Server) -> None:
    health = server.get("/health").json
    assert health["status"] == "ok"
    assert server.post("/v1/solve?steps=10", SQUARE).status == 200


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bodies_are_answered_with_a_sentence(server: Server, name: str) -> None:
    for path in PATHS:
        answer = server.post(path, HOSTILE[name])
        assert answer.status == 422, (path, answer.body)
        assert 10 < len(answer.error) < 300
        assert answer.error.isprintable()
    verdict = server.post("/v1/validate", HOSTILE[name])
    assert verdict.status == 422 or verdict.json["valid"] is False


def test_random_bytes_and_mutations_never_hurt(server: Server) -> None:
    rng = random.Random(0)
    good = json.dumps({"instance": SQUARE, "steps": 1}).encode()
    for _ in range(60):
        data = bytearray(good)
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        assert server.post("/v1/solve?name=x.json", bytes(data)).status in (200, 422)
        assert server.post("/v1/validate", rng.randbytes(rng.randint(1, 300))).status == 200
    well(server)


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("/v1/solve", {"instance": SQUARE, "colour": 1}, "unknown key colour"),
        ("/v1/solve", {"instance": {**SQUARE, "colour": 1}}, "unknown key colour"),
        ("/v1/solve?colour=1", SQUARE, "unknown parameter colour"),
        ("/v1/example?n=5", None, "unknown parameter n"),
        ("/v1/solve", {"instance": SQUARE, "seconds": 21}, "seconds is 21, more than the 20"),
        ("/v1/solve?seconds=21", SQUARE, "seconds is 21, more than the 20"),
        ("/v1/solve?seconds=nan", SQUARE, "seconds: "),
        ("/v1/solve?seconds=1", {"instance": SQUARE, "seconds": 1}, "say it once"),
        ("/v1/solve", {"instance": SQUARE, "seconds": "5"}, "seconds must be a number"),
        ("/v1/solve", {"instance": SQUARE, "method": "magic"}, "the method is 'magic'"),
        ("/v1/solve", {"instance": SQUARE, "variant": "fifo"}, "the variant is 'fifo'"),
        ("/v1/solve", {"instance": SQUARE, "seed": -1}, "seed"),
        ("/v1/solve", {"instance": SQUARE, "seed": 2**70}, "the seed is"),
        ("/v1/solve", {"instance": SQUARE, "checkpoint": "random"}, "checkpoint belongs to"),
    ],
)
def test_what_is_unknown_or_too_much_is_named(
    server: Server, path: str, body: Any, sentence: str
) -> None:
    answer = server.ask("GET" if body is None else "POST", path, body)
    assert answer.status == 422
    assert sentence in answer.error


def test_too_many_nodes_are_refused(server: Server) -> None:
    requests = [{"pickup": {"x": i, "y": 0}, "delivery": {"x": i, "y": 1}} for i in range(1000)]
    answer = server.post("/v1/jobs", {"depot": {"x": 0, "y": 0}, "requests": requests})
    assert answer.status == 422
    assert "2001 nodes, more than the 2000" in answer.error


def test_clients_have_no_say_over_files(server: Server, tmp_path: Path) -> None:
    secret = tmp_path / "secret.safetensors"
    secret.write_bytes(b"secret")
    for name in (str(secret), "../../etc/passwd", "/etc/passwd", "pyproject.toml"):
        body = {"instance": SQUARE, "method": "n2s", "checkpoint": name, "steps": 1}
        answer = server.post("/v1/solve", body)
        assert answer.status == 422
        assert "there is no checkpoint" in answer.error
    answer = server.post("/v1/convert?name=/etc/passwd", json.dumps(SQUARE).encode())
    assert answer.headers["content-disposition"] == 'attachment; filename="square.json"'
    pickled = server.post("/v1/solve?name=set.pkl", HOSTILE["pickle"])
    assert "pickles are not taken from clients" in pickled.error
    for path in ("/static/../app.py", "/static/%2e%2e%2fapp.py", "/static/..%5capp.py"):
        assert server.get(path).status == 404


def test_a_name_of_any_length_keeps_nobody_waiting(server: Server) -> None:
    files = [{"name": "\x01" * 150_000 + ".mtc", "text": "0 3 0\n1 1 2\n2 0 1\n"}]
    answer = server.post("/v1/convert", {"files": files})
    assert answer.status == 422
    assert len(answer.error) <= 4 * 1000  # each of a thousand characters escaped


def test_a_large_body_is_refused_whether_or_not_it_says_so(server: Server) -> None:
    said = server.post("/v1/validate", bytes(2**20 + 1))
    assert said.status == 413
    assert said.error == "the body is larger than the 1 megabytes allowed here"
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        head = "POST /v1/validate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head.encode())
        chunk = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
        answer = b""
        try:
            for _ in range(40):  # never said how many there would be
                connection.sendall(chunk)
        except OSError:
            pass
        try:
            answer = connection.recv(1000)
        except ConnectionResetError:  # it may have hung up on what we were still sending
            answer = b"HTTP/1.1 413"
    assert answer.startswith(b"HTTP/1.1 413")
    lying = "POST /v1/validate HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(lying.encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")
    well(server)


def test_every_answer_carries_the_headers(server: Server) -> None:
    for path in ("/", "/docs", "/static/main.js", "/health", "/v1/about", "/nowhere"):
        headers = server.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert "server" not in headers
    assert server.get("/v1/about").headers["cache-control"] == "no-store"


def test_other_pages_cannot_use_the_service(server: Server) -> None:
    for origin in ("https://evil.example", "null", "http://localhost:1", "http://["):
        answer = server.ask("POST", "/v1/solve", SQUARE, {"Origin": origin})
        assert answer.status == 403
        assert "access-control-allow-origin" not in answer.headers
    own = {"Origin": server.address, "Host": f"127.0.0.1:{server.port}"}
    assert server.ask("GET", "/v1/about", headers=own).status == 200
    # A foreign name that was made to lead to this machine.
    assert server.ask("GET", "/v1/about", headers={"Host": "evil.example"}).status == 421


def test_errors_of_the_router_are_sentences_too(server: Server) -> None:
    assert server.get("/nowhere").error == "there is no such page"
    wrong = server.ask("PUT", "/v1/solve", SQUARE)
    assert wrong.status == 405
    assert wrong.headers["allow"] == "POST"
    assert server.ask("PUT", "/v1/jobs/x").headers["allow"] == "DELETE, GET"
    assert wrong.error == "this address does not take that method"


def test_a_token_guards_what_works_and_tells() -> None:
    options = ("--workers", "1", "--origin", "https://app.example")
    with serving(*options, token="sesame", ready=0) as server:
        for path in ("/", "/docs", "/openapi.json", "/health", "/static/style.css"):
            assert server.ask("GET", path, headers={"Authorization": ""}).status == 200
        for given in ("", "Bearer ", "Bearer Sesame", "sesame", "Bearer sesame2", "Bearer \xff"):
            for path in ("/v1/about", "/metrics", "/v1/models", "/v1/jobs/x"):
                answer = server.ask("GET", path, headers={"Authorization": given})
                assert answer.status == 401
                assert answer.headers["www-authenticate"] == "Bearer"
        assert server.get("/v1/about").status == 200
        # The one origin that was named may come in, and learns that it may.
        allowed = {"Origin": "https://app.example"}
        answer = server.ask("GET", "/v1/about", headers=allowed)
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        asking = {**allowed, "Access-Control-Request-Method": "POST"}
        assert server.ask("OPTIONS", "/v1/solve", headers=asking).status == 200
        other = server.ask("GET", "/v1/about", headers={"Origin": "https://evil.example"})
        assert other.status == 403


def test_a_job_that_needs_too_much_memory_fails_alone() -> None:
    with serving("--workers", "1", "--max-memory", "40") as server:
        requests = [
            {"pickup": {"x": i % 31, "y": i % 37}, "delivery": {"x": i % 41, "y": i % 43}}
            for i in range(990)
        ]
        body = {"depot": {"x": 0, "y": 0}, "requests": requests}
        answer = server.post("/v1/solve?seconds=1", body)
        assert answer.status == 500
        assert "memory" in answer.error
        well(server)
