"""The toy server as a child process, spoken to through bare pipes as a rude client would."""

import json
import os
import re
import select
import subprocess
import sys
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.tooling.jobs.models import JobState
from tests.servers.mcp.conftest import TOYS
from tests.servers.mcp.toys import MAX_BYTES

SECONDS = 10
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "a rude client", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Child:
    """The server's process and both its pipes."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, TOYS, "stdio", str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self._said = b""
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr

    def send(self, message: dict[str, Any] | bytes) -> None:
        self.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode())
        self.stdin.write(b"\n")
        self.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert select.select([self.stdout], [], [], SECONDS)[0], "the server says nothing"
        return json.loads(self.stdout.readline())

    def receive_behind_headers(self) -> dict[str, Any]:
        while not (told := re.match(rb"(?s)Content-Length: (\d+)\r\n\r\n(.*)", self._said)) or len(told[2]) < int(
            told[1]
        ):
            assert select.select([self.stdout], [], [], SECONDS)[0], "the server says nothing"
            piece = os.read(self.stdout.fileno(), 1_000_000)
            assert piece, "the server has ended"
            self._said += piece
        size = int(told[1])
        self._said = told[2][size:]
        return json.loads(told[2][:size])

    def greet(self) -> None:
        self.send(INITIALIZE)
        assert self.receive()["id"] == 0
        self.send(INITIALIZED)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.stdin, self.stdout, self.stderr):
            with suppress(BrokenPipeError):
                pipe.close()

    def leave(self) -> int:
        """How the server ends when its client closes its end."""
        self.stdin.close()
        return self.process.wait(SECONDS)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def child(home: Path) -> Generator[Child]:
    child = Child(home)
    try:
        child.greet()
        yield child
    finally:
        child.end()


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Generator[Child]:
    """One child that all bad lines are sent to, one after the other."""
    child = Child(tmp_path_factory.mktemp("tried"))
    try:
        child.greet()
        yield child
        assert child.leave() == 0
        assert child.stderr.read() == b""
    finally:
        child.end()


def call(request_id: int | str, name: str, **arguments: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }


def echoed(request_id: int, text: str) -> dict[str, Any]:
    data = {"text": text, "note": None}
    content = [{"type": "text", "text": json.dumps(data, separators=(",", ":"))}]
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "result": {"content": content, "structuredContent": data, "isError": False},
    }


NOT_JSON_RPC = "the line is not a JSON-RPC 2.0 message"


@pytest.mark.parametrize(
    ("line", "request_id", "code", "said"),
    [
        (b"{", None, -32700, "the line is not JSON: Expecting property name"),
        (b"hello", None, -32700, "the line is not JSON: Expecting value"),
        (b"\xff\xfe{}", None, -32700, "the line is not JSON: 'utf-8' codec can't decode byte 0xff"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping\x00"}', None, -32700, "the line is not JSON: Invalid control"),
        (b"[" * 100_000, None, -32700, "the line is not JSON: maximum recursion depth exceeded"),
        (b"[]", None, -32600, NOT_JSON_RPC),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', None, -32600, NOT_JSON_RPC),
        (b"7", None, -32600, NOT_JSON_RPC),
        (b'{"jsonrpc": "1.0", "id": 2, "method": "ping"}', 2, -32600, NOT_JSON_RPC),
        (b'{"jsonrpc": "2.0", "id": "three", "method": "ping", "params": [1]}', "three", -32600, NOT_JSON_RPC),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', None, -32600, NOT_JSON_RPC),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600, NOT_JSON_RPC),
        (b'{"jsonrpc": "2.0", "id": 4, "method": "\\ud800"}', 4, -32601, "Method not found"),
        (b'{"jsonrpc": "2.0", "id": 5, "result": 6}', None, -32600, NOT_JSON_RPC),
        (b'{"jsonrpc": "2.0", "id": 6, "method": "no/such"}', 6, -32601, "Method not found"),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call"}', 7, -32602, "Invalid request parameters"),
        (
            b'{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "no"}}',
            8,
            -32602,
            "there is no tool",
        ),
    ],
)
def test_a_line_that_is_no_request_for_us_is_answered_with_an_error(
    tried: Child, line: bytes, request_id: int | str | None, code: int, said: str
) -> None:
    tried.send(line)
    told = tried.receive()
    assert (told["id"], told["error"]["code"]) == (request_id, code)
    assert told["error"]["message"].startswith(said)
    tried.send(call(99, "echo", text="still there"))
    assert tried.receive() == echoed(99, "still there")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (r"\u0000", "text: contains a NUL character"),
        (r"\ud800", "text: contains half of a surrogate pair, which is not valid Unicode"),
    ],
)
def test_text_that_nothing_can_keep_is_refused_by_the_tool(tried: Child, text: str, said: str) -> None:
    tried.send(json.dumps(call(1, "echo", text="TEXT")).replace("TEXT", text).encode())
    assert tried.receive()["result"]["_meta"]["scrubjay/error"]["message"] == said


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (json.dumps(call(1, "echo", text="x" * MAX_BYTES)), 1),
        (json.dumps(call("two", "echo", text="x" * MAX_BYTES)), "two"),
        ('{"method": "ping", "params": {"id": 4, "x": "' + "x" * MAX_BYTES + '"}, "jsonrpc": "2.0", "id": 3}', 3),
        ('{"method": "ping", "id": 5, "params": {"id": 4, "x": "' + "x" * MAX_BYTES + '"}}', None),
        ("x" * 50_000_000, None),
    ],
    ids=["id in front", "id is text", "id at the end", "id in between", "50 MB"],
)
def test_a_line_that_is_too_long_is_answered_and_not_kept(
    tried: Child, line: str, request_id: int | str | None
) -> None:
    tried.send(line.encode())
    assert tried.receive() == {
        "jsonrpc": "2.0",
        "id": request_id,
        "error": {
            "code": -32600,
            "message": f"the message is larger than {MAX_BYTES} bytes\nHint: send it in smaller parts",
            "data": {
                "code": "too_large",
                "message": f"the message is larger than {MAX_BYTES} bytes",
                "hint": "send it in smaller parts",
                "details": {"limit_bytes": MAX_BYTES},
            },
        },
    }
    assert peak_kilobytes(tried) < 200_000


def test_a_message_of_just_the_allowed_size_is_served(tried: Child) -> None:
    size = MAX_BYTES - len(json.dumps(call(1, "echo", text="")))
    tried.send(call(1, "echo", text="x" * size))
    assert tried.receive() == echoed(1, "x" * size)


def test_a_notification_that_nobody_knows_is_not_answered(tried: Child) -> None:
    tried.send(b'{"jsonrpc": "2.0", "method": "no/such", "params": {"id": 1}}')
    tried.send(call(2, "echo", text="hello"))
    assert tried.receive() == echoed(2, "hello")


def test_blank_lines_and_windows_line_ends_do_no_harm(tried: Child) -> None:
    tried.send(b"\n \r\n" + json.dumps(call(1, "echo", text="hello")).encode() + b"\r")
    assert tried.receive() == echoed(1, "hello")


def test_many_requests_in_one_write_are_all_answered(tried: Child) -> None:
    lines = [json.dumps(call(number, "echo", text="x" * 10_000)).encode() for number in range(50)]
    tried.send(b"\n".join(lines))
    assert sorted(tried.receive()["id"] for _ in lines) == list(range(50))


def behind_headers(body: dict[str, Any] | bytes, headers: str = "Content-Length: {}\r\n") -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body, indent=1).encode()
    return headers.format(len(content)).encode() + b"\r\n" + content


def test_1_who_sends_headers_is_answered_with_headers_until_it_sends_lines_again(tried: Child) -> None:
    typed = "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:{}\r\n"
    many = [behind_headers(call(number, "echo", text="hällo\n" * 2_000)) for number in range(3)]
    tried.stdin.write(b"".join(many) + behind_headers(call(3, "echo", text="x"), typed))
    tried.stdin.flush()
    found = [tried.receive_behind_headers() for _ in range(4)]
    assert sorted(answer["id"] for answer in found) == [0, 1, 2, 3]
    assert {answer["result"]["structuredContent"]["text"] for answer in found} == {"hällo\n" * 2_000, "x"}
    tried.send(call(4, "echo", text="a line"))
    assert tried.receive() == echoed(4, "a line")
    whole = behind_headers(call(5, "echo", text="in parts"))
    for part in (whole[:7], whole[7:25], whole[25:]):
        tried.stdin.write(part)
        tried.stdin.flush()
    assert tried.receive_behind_headers() == echoed(5, "in parts")


@pytest.mark.parametrize(
    ("message", "request_id", "code", "said"),
    [
        (behind_headers(b"{"), None, -32700, "the line is not JSON"),
        (behind_headers(b""), None, -32700, "the line is not JSON"),
        (b"Content-Type: text/plain\r\n\r\n", None, -32700, "the headers tell no length"),
        (b"Content-Length: -1\r\n\r\n", None, -32700, "the headers tell no length"),
        (behind_headers(b'{"jsonrpc":"2.0","id":7,' + b" " * MAX_BYTES), 7, -32600, "the message is larger than"),
        (behind_headers(b"x" * 50_000_000), None, -32600, "the message is larger than"),
    ],
    ids=["no JSON", "empty", "no length", "bad length", "too long", "50 MB"],
)
def test_1_what_is_no_message_behind_its_headers_is_answered_behind_headers(
    tried: Child, message: bytes, request_id: int | None, code: int, said: str
) -> None:
    tried.stdin.write(message)
    tried.send(behind_headers(call(8, "echo", text="next")))
    refused = tried.receive_behind_headers()
    assert (refused["id"], refused["error"]["code"]) == (request_id, code)
    assert refused["error"]["message"].startswith(said)
    assert tried.receive_behind_headers() == echoed(8, "next")
    assert peak_kilobytes(tried) < 200_000
    tried.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')  # a line again, for those who come next


def test_1_a_message_that_ends_with_the_input_is_answered_all_the_same(child: Child) -> None:
    child.stdin.write(behind_headers(call(1, "echo", text="hello")) + b"Content-Length: 100\r\n\r\n{")
    child.stdin.close()
    assert child.receive_behind_headers() == echoed(1, "hello")
    assert child.receive_behind_headers()["error"]["code"] == -32700
    assert child.process.wait(SECONDS) == 0


def test_only_the_protocol_is_on_stdout(child: Child) -> None:
    child.send(call(1, "shout"))
    assert child.receive() == echoed(1, "")
    assert child.leave() == 0
    assert child.stdout.read() == b""
    assert sorted(child.stderr.read().splitlines()) == [b"a stray line", b"another stray line"]


def test_the_end_of_input_ends_the_process_even_while_a_call_runs(child: Child) -> None:
    child.send(call(1, "hang"))
    child.send(call(2, "echo", text="the other call has begun"))
    assert child.receive()["id"] == 2
    assert child.leave() == 0


async def test_a_job_that_was_handed_back_goes_to_the_queue_when_the_client_leaves(child: Child, home: Path) -> None:
    child.send(call(1, "dig", to=1000))
    job_id = child.receive()["result"]["structuredContent"]["job_id"]
    assert child.leave() == 0
    store = await SqliteStore.open(home)
    job = await store.jobs.get(job_id)
    await store.close()
    assert job
    assert job.state is JobState.QUEUED


def test_a_client_that_stops_reading_cannot_keep_the_process_alive(child: Child) -> None:
    child.send(call(1, "echo", text="x" * 1000, times=1000))
    child.send(call(2, "echo", text="x" * 1000, times=1000))
    assert select.select([child.stdout], [], [], SECONDS)[0]
    assert child.leave() == 0


def test_a_client_that_closes_both_ends_leaves_no_complaint(child: Child) -> None:
    child.stdout.close()
    child.send(call(1, "echo", text="nobody hears"))
    assert child.process.wait(SECONDS) == 0
    assert child.stderr.read() == b""


def test_a_file_can_stand_in_for_a_client_even_if_its_last_line_has_no_end(tmp_path: Path) -> None:
    said, told = tmp_path / "said.jsonl", tmp_path / "told.jsonl"
    said.write_text(json.dumps(INITIALIZE))
    with said.open("rb") as stdin, told.open("wb") as stdout:
        subprocess.run(
            [sys.executable, TOYS, "stdio", str(tmp_path)], stdin=stdin, stdout=stdout, check=True, timeout=SECONDS
        )
    (line,) = told.read_text().splitlines()
    assert json.loads(line)["result"]["serverInfo"]["name"] == "scrubjay"


def peak_kilobytes(child: Child) -> int:
    status = Path(f"/proc/{child.process.pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1])
