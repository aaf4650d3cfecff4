"""The toy server as a child process, over bare pipes, with invalid and unusual input."""

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
from tests.servers.mcp.toy_server import MAX_BYTES

SECONDS = 10
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "a bare client", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class ServerProcess:
    """The server process and its pipes."""

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
        self._unread = b""
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr

    def send(self, message: dict[str, Any] | bytes) -> None:
        self.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode())
        self.stdin.write(b"\n")
        self.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert select.select([self.stdout], [], [], SECONDS)[0], "the server sent nothing"
        return json.loads(self.stdout.readline())

    def receive_with_headers(self) -> dict[str, Any]:
        while not (response := re.match(rb"(?s)Content-Length: (\d+)\r\n\r\n(.*)", self._unread)) or len(
            response[2]
        ) < int(response[1]):
            assert select.select([self.stdout], [], [], SECONDS)[0], "the server sent nothing"
            piece = os.read(self.stdout.fileno(), 1_000_000)
            assert piece, "the server has ended"
            self._unread += piece
        size = int(response[1])
        self._unread = response[2][size:]
        return json.loads(response[2][:size])

    def initialize(self) -> None:
        self.send(INITIALIZE)
        assert self.receive()["id"] == 0
        self.send(INITIALIZED)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.stdin, self.stdout, self.stderr):
            with suppress(BrokenPipeError):
                pipe.close()

    def close(self) -> int:
        """Close stdin and return the exit code of the server."""
        self.stdin.close()
        return self.process.wait(SECONDS)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def child(home: Path) -> Generator[ServerProcess]:
    child = ServerProcess(home)
    try:
        child.initialize()
        yield child
    finally:
        child.end()


@pytest.fixture(scope="module")
def shared_child(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """One server process that receives all invalid lines, one after the other."""
    child = ServerProcess(tmp_path_factory.mktemp("tried"))
    try:
        child.initialize()
        yield child
        assert child.close() == 0
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


def echo_response(request_id: int, text: str) -> dict[str, Any]:
    data = {"text": text, "note": None}
    content = [{"type": "text", "text": json.dumps(data, separators=(",", ":"))}]
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "result": {"content": content, "structuredContent": data, "isError": False},
    }


NOT_JSON_RPC = "the line is not a JSON-RPC 2.0 message"


@pytest.mark.parametrize(
    ("line", "request_id", "code", "message"),
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
def test_an_invalid_line_is_answered_with_an_error(
    shared_child: ServerProcess, line: bytes, request_id: int | str | None, code: int, message: str
) -> None:
    shared_child.send(line)
    response = shared_child.receive()
    assert (response["id"], response["error"]["code"]) == (request_id, code)
    assert response["error"]["message"].startswith(message)
    shared_child.send(call(99, "echo", text="still there"))
    assert shared_child.receive() == echo_response(99, "still there")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r"\u0000", "text: contains a NUL character"),
        (r"\ud800", "text: contains half of a surrogate pair, which is not valid Unicode"),
    ],
)
def test_nul_and_lone_surrogates_are_refused_by_the_tool(shared_child: ServerProcess, text: str, message: str) -> None:
    shared_child.send(json.dumps(call(1, "echo", text="TEXT")).replace("TEXT", text).encode())
    assert shared_child.receive()["result"]["_meta"]["scrubjay/error"]["message"] == message


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
def test_an_oversized_line_is_answered_and_not_buffered(
    shared_child: ServerProcess, line: str, request_id: int | str | None
) -> None:
    shared_child.send(line.encode())
    assert shared_child.receive() == {
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
    assert peak_kilobytes(shared_child) < 200_000


def test_a_message_of_exactly_the_maximum_size_is_accepted(shared_child: ServerProcess) -> None:
    size = MAX_BYTES - len(json.dumps(call(1, "echo", text="")))
    shared_child.send(call(1, "echo", text="x" * size))
    assert shared_child.receive() == echo_response(1, "x" * size)


def test_an_unknown_notification_is_not_answered(shared_child: ServerProcess) -> None:
    shared_child.send(b'{"jsonrpc": "2.0", "method": "no/such", "params": {"id": 1}}')
    shared_child.send(call(2, "echo", text="hello"))
    assert shared_child.receive() == echo_response(2, "hello")


def test_blank_lines_and_crlf_are_accepted(shared_child: ServerProcess) -> None:
    shared_child.send(b"\n \r\n" + json.dumps(call(1, "echo", text="hello")).encode() + b"\r")
    assert shared_child.receive() == echo_response(1, "hello")


def test_many_requests_in_one_write_are_all_answered(shared_child: ServerProcess) -> None:
    lines = [json.dumps(call(number, "echo", text="x" * 10_000)).encode() for number in range(50)]
    shared_child.send(b"\n".join(lines))
    assert sorted(shared_child.receive()["id"] for _ in lines) == list(range(50))


def with_headers(body: dict[str, Any] | bytes, headers: str = "Content-Length: {}\r\n") -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body, indent=1).encode()
    return headers.format(len(content)).encode() + b"\r\n" + content


def test_1_responses_use_the_framing_of_the_last_message(shared_child: ServerProcess) -> None:
    typed = "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:{}\r\n"
    many = [with_headers(call(number, "echo", text="hällo\n" * 2_000)) for number in range(3)]
    shared_child.stdin.write(b"".join(many) + with_headers(call(3, "echo", text="x"), typed))
    shared_child.stdin.flush()
    responses = [shared_child.receive_with_headers() for _ in range(4)]
    assert sorted(answer["id"] for answer in responses) == [0, 1, 2, 3]
    assert {answer["result"]["structuredContent"]["text"] for answer in responses} == {"hällo\n" * 2_000, "x"}
    shared_child.send(call(4, "echo", text="a line"))
    assert shared_child.receive() == echo_response(4, "a line")
    message = with_headers(call(5, "echo", text="in parts"))
    for part in (message[:7], message[7:25], message[25:]):
        shared_child.stdin.write(part)
        shared_child.stdin.flush()
    assert shared_child.receive_with_headers() == echo_response(5, "in parts")


@pytest.mark.parametrize(
    ("sent", "request_id", "code", "message"),
    [
        (with_headers(b"{"), None, -32700, "the line is not JSON"),
        (with_headers(b""), None, -32700, "the line is not JSON"),
        (b"Content-Type: text/plain\r\n\r\n", None, -32700, "the headers have no valid Content-Length"),
        (b"Content-Length: -1\r\n\r\n", None, -32700, "the headers have no valid Content-Length"),
        (with_headers(b'{"jsonrpc":"2.0","id":7,' + b" " * MAX_BYTES), 7, -32600, "the message is larger than"),
        (with_headers(b"x" * 50_000_000), None, -32600, "the message is larger than"),
    ],
    ids=["no JSON", "empty", "no length", "bad length", "too long", "50 MB"],
)
def test_1_an_invalid_message_with_headers_is_answered_with_headers(
    shared_child: ServerProcess, sent: bytes, request_id: int | None, code: int, message: str
) -> None:
    shared_child.stdin.write(sent)
    shared_child.send(with_headers(call(8, "echo", text="next")))
    refused = shared_child.receive_with_headers()
    assert (refused["id"], refused["error"]["code"]) == (request_id, code)
    assert refused["error"]["message"].startswith(message)
    assert shared_child.receive_with_headers() == echo_response(8, "next")
    assert peak_kilobytes(shared_child) < 200_000
    shared_child.send(
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'
    )  # back to line framing for the following tests


def test_1_a_message_cut_off_by_the_end_of_input_is_answered(child: ServerProcess) -> None:
    child.stdin.write(with_headers(call(1, "echo", text="hello")) + b"Content-Length: 100\r\n\r\n{")
    child.stdin.close()
    assert child.receive_with_headers() == echo_response(1, "hello")
    assert child.receive_with_headers()["error"]["code"] == -32700
    assert child.process.wait(SECONDS) == 0


def test_only_the_protocol_is_on_stdout(child: ServerProcess) -> None:
    child.send(call(1, "shout"))
    assert child.receive() == echo_response(1, "")
    assert child.close() == 0
    assert child.stdout.read() == b""
    assert sorted(child.stderr.read().splitlines()) == [b"a stray line", b"another stray line"]


def test_closing_stdin_ends_the_process_even_while_a_call_runs(child: ServerProcess) -> None:
    child.send(call(1, "hang"))
    child.send(call(2, "echo", text="the other call has begun"))
    assert child.receive()["id"] == 2
    assert child.close() == 0


async def test_a_job_that_outlived_its_call_is_queued_again_when_the_client_leaves(
    child: ServerProcess, home: Path
) -> None:
    child.send(call(1, "dig", to=1000))
    job_id = child.receive()["result"]["structuredContent"]["job_id"]
    assert child.close() == 0
    store = await SqliteStore.open(home)
    job = await store.jobs.get(job_id)
    await store.close()
    assert job
    assert job.state is JobState.QUEUED


def test_a_client_that_stops_reading_cannot_keep_the_process_alive(child: ServerProcess) -> None:
    child.send(call(1, "echo", text="x" * 1000, times=1000))
    child.send(call(2, "echo", text="x" * 1000, times=1000))
    assert select.select([child.stdout], [], [], SECONDS)[0]
    assert child.close() == 0


def test_a_client_that_closes_both_pipes_causes_no_error_output(child: ServerProcess) -> None:
    child.stdout.close()
    child.send(call(1, "echo", text="unread"))
    assert child.process.wait(SECONDS) == 0
    assert child.stderr.read() == b""


def test_a_file_without_a_final_newline_can_be_the_input(tmp_path: Path) -> None:
    requests, responses = tmp_path / "requests.jsonl", tmp_path / "responses.jsonl"
    requests.write_text(json.dumps(INITIALIZE))
    with requests.open("rb") as stdin, responses.open("wb") as stdout:
        subprocess.run(
            [sys.executable, TOYS, "stdio", str(tmp_path)], stdin=stdin, stdout=stdout, check=True, timeout=SECONDS
        )
    (line,) = responses.read_text().splitlines()
    assert json.loads(line)["result"]["serverInfo"]["name"] == "scrubjay"


def peak_kilobytes(child: ServerProcess) -> int:
    status = Path(f"/proc/{child.process.pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1])
