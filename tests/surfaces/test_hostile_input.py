"""Real servers answer hostile input, continue, and lose nothing."""

import json
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.surfaces.callers import PROGRAM, environment, server

FACT = "The lighthouse keeper is called Ines."


class RawStdio:
    """A stdio server process to which raw bytes can be written."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "mcp"], env=environment(home), cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def write(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, params: dict[str, Any], id: int = 1) -> dict[str, Any]:
        self.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode())
        answer = self.read()
        assert answer["id"] == id
        return answer

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None and not stream.closed:
                stream.close()

    def recall(self) -> list[str]:
        answer = self.ask("tools/call", {"name": "recall", "arguments": {"query": "who keeps the lighthouse?"}})
        return [memory["content"] for memory in answer["result"]["structuredContent"]["memories"]]


@pytest.fixture(scope="module")
def stdio(tmp_path_factory: pytest.TempPathFactory) -> Generator[RawStdio]:
    """One server process for all tests of this module."""
    raw = RawStdio(tmp_path_factory.mktemp("stdio"))
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    raw.ask("initialize", hello)
    raw.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    raw.ask("tools/call", {"name": "remember", "arguments": {"content": FACT}})
    yield raw
    raw.close()


def test_001_invalid_lines_on_stdio_are_answered_with_errors(stdio: RawStdio) -> None:
    for line in (b"{not json", b"[1, 2", b"\xff\xfe\x00", b'"just text"', b"{}"):
        stdio.write(line)
        answer = stdio.read()
        assert answer["error"]["code"] in (-32700, -32600), line
    assert stdio.recall() == [FACT]


def test_001_lone_surrogates_and_nul_are_refused(stdio: RawStdio) -> None:
    for text in (rb"\ud800", rb"\u0000"):
        stdio.write(
            b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"remember","arguments":{"content":"'
            + text
            + b'"}}}'
        )
        answer = stdio.read()
        assert "error" in answer or answer["result"]["isError"], text
    assert stdio.recall() == [FACT]


def test_001_an_unknown_method_is_an_error(stdio: RawStdio) -> None:
    assert stdio.ask("tools/burn", {}, id=9)["error"]["code"] == -32601
    assert stdio.recall() == [FACT]


def test_001_a_message_of_fifty_megabytes_is_refused(stdio: RawStdio) -> None:
    content = b"x" * 50_000_000
    stdio.write(
        b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"remember","arguments":{"content":"'
        + content
        + b'"}}}'
    )
    answer = stdio.read()
    assert "error" in answer or answer["result"]["isError"]
    assert stdio.recall() == [FACT]


def test_001_piped_requests_are_answered_before_the_process_ends(tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "pipe", "version": "1"}}
    requests: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
    ]
    completed = subprocess.run(
        [*PROGRAM, "mcp"],
        env=environment(tmp_path),
        cwd=tmp_path,
        input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True,
        text=True,
        timeout=60,
    )
    answers = {answer["id"]: answer for answer in map(json.loads, completed.stdout.splitlines())}
    assert completed.returncode == 0
    assert "remember" in [tool["name"] for tool in answers[2]["result"]["tools"]]


def test_001_closing_stdin_ends_the_process(stdio: RawStdio) -> None:
    assert stdio.recall() == [FACT]
    assert stdio.process.stdin
    stdio.process.stdin.close()
    assert stdio.process.wait(timeout=30) == 0


def test_004_invalid_and_huge_http_bodies_are_refused(tmp_path: Path) -> None:
    with server(tmp_path) as url, httpx2.Client(base_url=url, timeout=60, trust_env=False) as http:
        assert http.post("/v1/tools/remember", json={"content": FACT}).status_code == 200
        for body, status in (
            (b"{not json", 400),
            (b'"text"', 400),
            (b"\xff\xfe", 400),
            (b'{"content": "\\ud800"}', 400),
            (b'{"content": "\\u0000"}', 422),
            (b'{"content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
            (b'{"content": "' + b"x" * 50_000_000 + b'"}', 413),
        ):
            answer = http.post("/v1/tools/remember", content=body, headers={"Content-Type": "application/json"})
            assert (body[:20], answer.status_code) == (body[:20], status)
            assert answer.json()["error"]["code"] in ("invalid_request", "too_large")
        for path in ("/v1/tools/burn", "/nowhere"):
            assert http.post(path, json={}).status_code == 404
        assert http.post("/mcp", content=b"x" * 50_000_000).status_code == 413
        assert http.post("/mcp", content=b"{not json").status_code == 400
        recalled = http.post("/v1/tools/recall", json={"query": "who keeps the lighthouse?"}).json()
        assert [memory["content"] for memory in recalled["memories"]] == [FACT]
