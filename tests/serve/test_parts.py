"""Parts of the service that need no server."""

from __future__ import annotations

import asyncio
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from n2s.errors import InputError
from n2s.serve.border import Border
from n2s.serve.metrics import Metrics
from n2s.serve.pages import ASSETS
from n2s.serve.pool import Task
from n2s.serve.settings import Settings
from n2s.serve.wire import Message, read
from serve.servers import ROOT, Server


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"workers": 0}, "--workers"),
        ({"queue": 0}, "--queue"),
        ({"max_nodes": 0}, "--max-nodes"),
        ({"max_seconds": float("inf")}, "--max-seconds"),
        ({"max_seconds": 0}, "--max-seconds"),
        ({"port": 70000}, "--port"),
        ({"origins": ("app.example",)}, "--origin"),
        ({"origins": ("*",)}, "--origin"),
        ({"origins": ("https://app.example/",)}, "--origin"),
        ({"tiles": "https://tiles.example/{z}.png"}, "--tiles"),
        ({"tiles": "javascript:{z}{x}{y}"}, "--tiles"),
        ({"tiles": "https://a;script-src *.example/{z}/{x}/{y}"}, "--tiles"),
        ({"token": " blank"}, "N2S_TOKEN"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, object], word: str) -> None:
    with pytest.raises(InputError, match=word):
        Settings(**options)  # type: ignore[arg-type]


def test_the_token_is_not_shown() -> None:
    assert "sesame" not in repr(Settings(token="sesame"))


def test_only_the_tiles_that_were_configured_get_into_the_policy() -> None:
    settings = Settings(tiles="https://tiles.example/{z}/{x}/{y}.png")
    headers = dict(Border(None, settings, Metrics())._headers)  # type: ignore[arg-type]
    policy = headers[b"content-security-policy"].decode()
    assert "img-src 'self' data: https://tiles.example;" in policy


def test_messages_come_out_as_they_went_in() -> None:
    messages = [Message({"do": "x"}, b"\x00\xff" * 1000), Message({"say": "ü"}), Message({}, b"1")]
    stream = io.BytesIO(b"".join(message.packed() for message in messages))
    assert [read(stream) for _ in messages] == messages
    assert read(stream) is None
    assert read(io.BytesIO(messages[0].packed()[:-1])) is None


def test_a_task_that_is_answered_holds_no_body() -> None:
    async def run() -> None:
        task = Task("solve", {}, b"much")
        assert task.message.body == b"much"
        task.fail(ValueError("enough"))
        await asyncio.sleep(0)
        assert task.message.body == b""

    asyncio.run(run())


def test_what_a_child_says_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from n2s.search.interrupt import Interrupt
    from n2s.serve import worker

    told: list[Message] = []
    query = {"requests": 2, "seed": 0, "variant": "pdtsp", "distribution": "uniform"}
    order = Message({"do": "example", "options": {"query": query, "nodes": 9}})
    assert worker._answer(order, Interrupt(), told.append).head["say"] == "done"
    monkeypatch.setattr(worker, "LARGEST_ANSWER", 10)
    refused = worker._answer(order, Interrupt(), told.append)
    assert refused.head["say"] == "refused"
    assert "the answer would be more than" in refused.head["error"]
    monkeypatch.setattr(worker, "LONGEST_SENTENCE", 20)
    wrong = Message({"do": "convert", "options": {"query": {"to": "docx"}, "nodes": 9}}, b"no")
    assert len(worker._answer(wrong, Interrupt(), told.append).head["error"]) == 20


def test_metrics_are_what_prometheus_reads() -> None:
    metrics = Metrics()
    metrics.requests.add(method="GET", path='/"odd"\n', status="200")
    metrics.waited.observe(0.3)
    text = metrics.text({"n2s_workers": ("Workers.", 2.0)})
    assert 'path="/\\"odd\\"\\n"' in text
    assert 'n2s_queue_seconds_bucket{le="0.1"} 0' in text
    assert 'n2s_queue_seconds_bucket{le="0.5"} 1' in text
    assert 'n2s_queue_seconds_bucket{le="+Inf"} 1' in text
    sample = re.compile(r'[a-z0-9_]+(\{[a-z]+="(\\.|[^"\\])*"(,[a-z]+="(\\.|[^"\\])*")*\})? \S+')
    for line in text.splitlines():
        assert line.startswith("#") or sample.fullmatch(line), line


def test_the_pages_ask_nobody_else_for_anything() -> None:
    assert {"index.html", "docs.html", "style.css", "main.js"} <= set(ASSETS)
    for name, asset in ASSETS.items():
        text = asset.data.decode()
        addresses = set(re.findall(r"(?:https?:)?//[a-z][\w-]*(?:\.[\w-]+)+", text))
        assert addresses <= {"http://www.w3.org"}, name  # a name, not a place
        assert "@import" not in text
        if name.endswith(".html"):
            assert " style=" not in text
            assert not re.search(r"\son\w+=", text)
            assert not re.search(r"<script(?![^>]*src=)", text)


def test_the_server_itself_loads_neither_torch_nor_numba() -> None:
    code = (
        "import sys, n2s.serve.app, n2s.serve.server; "
        "print({'torch', 'numba', 'matplotlib'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "set()"


def test_a_port_in_use_is_one_sentence(server: Server) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "n2s.cli.main", "serve", "--port", str(server.port)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 2
    assert (
        result.stderr
        == f"n2s: 127.0.0.1 port {server.port} cannot be used (Address already in use)\n"
    )


def test_the_curl_call_and_the_python_client_work(server: Server) -> None:
    called = subprocess.run(
        ["sh", "examples/solve.sh", "examples/city.csv", server.address],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )
    assert called.returncode == 0, called.stderr
    assert '"format": "n2s-solution"' in called.stdout
    script = ROOT / "examples" / "client.py"
    ran = subprocess.run(
        [sys.executable, str(script), server.address], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(r"[\d.]+ depot( \d:\w+){6} depot\n", ran.stdout)
    code = [line for line in script.read_text().splitlines() if line and not line.startswith('"""')]
    assert len(code) - sum("import" in line for line in code) <= 10


def test_the_dockerfile_is_sound() -> None:
    """Linted, and what a linter does not ask for: another user than root, a health check."""
    hadolint = Path(sys.executable).with_name("hadolint")
    linted = subprocess.run(
        [str(hadolint), "Dockerfile"], capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert linted.returncode == 0, linted.stdout
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users
    assert users[-1] not in ("root", "0")
    assert any(line.startswith("HEALTHCHECK ") for line in lines)
    for line in lines:
        if line.startswith("COPY ") and "--from" not in line:
            for name in line.split()[1:-1]:
                assert (ROOT / name).exists(), name
