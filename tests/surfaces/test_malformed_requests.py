"""Thousands of malformed heads, bodies and frames neither break the server nor reveal data of other callers."""

import asyncio
import json
import random
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.surfaces.callers import PROGRAM, environment, server

OF_EACH = 340
SEED = 20261116
KEY = "the-operators-key-of-malformed-requests"
SECRET = "heliotrope-lighthouse"  # in a memory of another client
HEADS = (b"GET", b"POST", b"PUT", b"OPTIONS", b"TRACE", b"G\x00T", b"\xff\xfe", b"", b"CONNECT", b"get")
PATHS = (
    *("/health", "/v1/tools", "/v1/tools/recall", "/v1/tools/remember", "/mcp", "/v1/mimo/ask", "/v1/mimo/tool"),
    *("/v1/chat/completions", "/v1/embeddings", "/v1/responses", "/v1/models", "/v1/hooks/permission", "/metrics"),
    *("/api/recall", "/api/memories", "/api/chat", "/api/chat/stream", "/api/broadcast", "/api/index", "/ws"),
    *("/v1/resources?uri=scrubjay%3A%2F%2Fx", "/v1/jobs/none", "/cortex/websocket", "/openapi.json", "/none"),
)
HEADERS = (
    (b"X-Long", [b"a" * 100, b"a" * 70_000]),
    (b"Authorization", [b"Bearer", b"Basic x", b"Bearer \xff\x00", b"Bearer " + b"a" * 9000]),
    (b"Host", [b"evil.example", b"", b"127.0.0.1:99999", b"[::"]),
    (b"Transfer-Encoding", [b"chunked", b"gzip, chunked", b"x"]),
    (b"X-Request-Id", [b"\x01", b"a" * 500, b"../../etc"]),
    (b"traceparent", [b"00-0-0-0", b"a" * 300, b"\xff"]),
    (b"Origin", [b"null", b"http://evil.example", b"\xfe"]),
    (b"Mcp-Session-Id", [b"\x7f", b"a" * 400, b"none"]),
    (b"Content-Type", [b"", b"text/plain", b"application/json; charset=\xff", b"multipart/form-data"]),
    (b"Expect", [b"100-continue", b"200-perhaps"]),
)
STRANGE = (
    "\x00",
    "\ud800",
    "é" * 300,
    "a" * 5000,
    "../" * 40,
    "%00",
    "{{7*7}}",
    "' OR 1=1 --",
    "\r\nX-Evil: 1",
    "💥",
    "",
)


def strange_value(chance: random.Random, depth: int = 0) -> Any:
    """Return random JSON, mostly of the wrong type."""
    kinds = [
        lambda: None,
        lambda: chance.choice([True, False]),
        lambda: chance.choice([0, -1, 2**70, -(2**63), 1e308, 5e-324, 0.1]),
        lambda: chance.choice(STRANGE),
        lambda: [strange_value(chance, depth + 1) for _ in range(chance.randrange(4))],
        lambda: {chance.choice(STRANGE): strange_value(chance, depth + 1) for _ in range(chance.randrange(4))},
    ]
    return chance.choice(kinds[:4] if depth > 4 else kinds)()


def bodies(chance: random.Random) -> Iterator[bytes]:
    """Return broken JSON, valid JSON of the wrong shape, or bytes that are not text."""
    names = ("query", "content", "messages", "model", "input", "jsonrpc", "method", "params", "id", "tool", "arguments")
    while True:
        fields = {chance.choice(names): strange_value(chance) for _ in range(chance.randrange(6))}
        whole = json.dumps(fields).encode()
        yield chance.choice(
            [
                whole,
                whole[: chance.randrange(len(whole) + 1)],
                json.dumps(strange_value(chance)).encode(),
                chance.randbytes(chance.randrange(200)),
                b"[" * chance.choice([10, 5000, 100_000]),
                b'{"query": "' + b"\xc3\x28" * 20 + b'"}',
                b'{"query": NaN, "limit": 1e999}',
                b"\xef\xbb\xbf" + whole,
            ]
        )


def requests(chance: random.Random, key: str, *, broken_heads: bool) -> Iterator[bytes]:
    body_of = bodies(chance)
    while True:
        body = next(body_of)
        path = chance.choice(PATHS).encode()
        lines = [b"POST " + path + b" HTTP/1.1", b"Host: 127.0.0.1", b"Content-Type: application/json"]
        if chance.random() < 0.5:
            lines.append(b"Authorization: Bearer " + key.encode())
        length: bytes = str(len(body)).encode()
        if broken_heads:
            if chance.random() < 0.3:
                lines[0] = (
                    chance.choice([chance.choice(HEADS) + b" " + path, b"POST " + chance.randbytes(30)]) + b" HTTP/1.1"
                )
            else:
                name, values = chance.choice(HEADERS)
                lines += [name + b": " + chance.choice(values)] * chance.choice([1, 1, 2, 300])
                lines.append(b"X-" + chance.randbytes(20) + b": " + chance.randbytes(20))
            length = chance.choice([length, b"-1", b"1e3", b"99999999999999999999", b"0", b"\xff", length + b", 3"])
        yield b"\r\n".join([*lines, b"Content-Length: " + length, b"Connection: close", b"", b""]) + body


def attacks(chance: random.Random, key: str) -> Iterator[bytes]:
    for broken_heads in (True, False):
        yield from islice(requests(chance, key, broken_heads=broken_heads), OF_EACH)


def exchange(address: tuple[str, int], request: bytes) -> bytes:
    """Send these bytes and return the complete response."""
    received = bytearray()
    with socket.create_connection(address, timeout=20) as connection:
        with suppress(OSError):  # the server closes the connection when it need not read the rest
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            while chunk := connection.recv(65536):
                received += chunk
    return bytes(received)


def commands(chance: random.Random) -> Iterator[str | bytes]:
    """Return commands of Mira's event stream, mostly invalid."""
    body_of = bodies(chance)
    kinds = ("ping", "pong", "sync", "cancel", "tool_start", "", "none")
    while True:
        command = {
            "type": chance.choice(kinds),
            "last_event_id": strange_value(chance),
            "call_id": strange_value(chance),
        }
        yield chance.choice([json.dumps(command), next(body_of), next(body_of).decode("utf-8", "replace")])


def frames(chance: random.Random) -> Iterator[str | bytes]:
    body_of = bodies(chance)
    events = ("phx_join", "query", "call", "interrupt", "subscribe", "heartbeat", "phx_leave", "none", "")
    while True:
        yield chance.choice(
            [
                lambda: next(body_of),
                lambda: next(body_of).decode("utf-8", "replace"),
                lambda: json.dumps([strange_value(chance) for _ in range(chance.randrange(8))]),
                lambda: json.dumps(["1", "2", "cortex:mine", chance.choice(events), strange_value(chance)]),
                lambda: json.dumps([None, None, chance.choice(STRANGE), chance.choice(events), {}]),
                lambda: json.dumps(["1", "3", "cortex:mine", "query", {"q": strange_value(chance), "ref": "r"}]),
                lambda: json.dumps(["1", "4", "cortex:mine", "call", {"tool": strange_value(chance), "ref": "r"}]),
            ]
        )()


async def send_frames(url: str, key: str, count: int, chance: random.Random) -> str:
    """Send frames to the Synapse channel and return all received text; reconnect when closed. Some have no key."""
    join = json.dumps(["1", "1", "cortex:mine", "phx_join", {}])
    query = json.dumps(["1", "q", "cortex:mine", "query", {"q": "What is the code?", "ref": "q"}])
    last = json.dumps([None, "last", "phoenix", "heartbeat", {}])
    received: list[str] = []
    attacks = islice(frames(chance), count)
    while batch := [*islice(attacks, 20)]:
        headers = {"Authorization": f"Bearer {key}"} if chance.random() < 0.8 else {}
        received += await exchange_frames(url, headers, [join, query, *batch, last], '"last"')
    return "\n".join(received)


async def send_commands(url: str, key: str, count: int, chance: random.Random) -> str:
    """Like `send_frames`, for Mira's event stream, which needs a key."""
    received: list[str] = []
    attacks = islice(commands(chance), count)
    while batch := [*islice(attacks, 15)]:
        ping = json.dumps({"type": "ping"})
        received += await exchange_frames(url, {"Authorization": f"Bearer {key}"}, [*batch, ping], '"pong"')
    return "\n".join(received)


async def exchange_frames(
    url: str, headers: dict[str, str], sent: list[str | bytes] | list[str], last: str
) -> list[str]:
    """Return all frames up to the answer to the last one, which arrives after all others."""
    received: list[str] = []
    options: dict[str, Any] = {"proxy": None, "ping_interval": None, "max_queue": None}  # a full queue delays the close
    async with connect(url, additional_headers=headers, **options) as connection:
        with suppress(ConnectionClosed):
            for frame in sent:
                await connection.send(frame)
            while last not in (answer := str(await connection.recv())):
                received.append(answer)
    return received


def raw_frames(chance: random.Random) -> Iterator[bytes]:
    """Return bytes that are not a valid WebSocket frame."""
    while True:
        yield chance.choice(
            [
                chance.randbytes(chance.randrange(1, 60)),
                bytes([0x81, 0x05]) + b"hello",  # not masked
                bytes([0xF1, 0x80]) + b"\0\0\0\0",  # reserved bits
                bytes([0x83, 0x80]) + b"\0\0\0\0",  # an undefined opcode
                bytes([0x81, 0xFF]) + (2**63 - 1).to_bytes(8, "big") + b"\0\0\0\0",  # longer than any limit
                bytes([0x81, 0x84]) + b"\0\0\0\0" + b"\xff\xfe\xfd\xfc",  # not UTF-8
                bytes([0x09, 0xFE, 0x00, 0xFF]) + b"\0\0\0\0" + b"x" * 255,  # a fragmented ping that is too long
                bytes([0x80, 0x80]) + b"\0\0\0\0",  # continues a message that was never started
                bytes([0x88, 0x82]) + b"\0\0\0\0" + (999).to_bytes(2, "big"),  # a reserved close code
            ]
        )


UPGRADE = (
    b"GET /cortex/websocket?vsn=2.0.0 HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


@pytest.fixture
def narrow_key(tmp_path: Path) -> str:
    command = [*PROGRAM, "keys", "create", "--name", "narrow", "--scopes", "sessions:read", "--json"]
    completed = subprocess.run(command, env=environment(tmp_path), capture_output=True, check=True)
    return str(json.loads(completed.stdout)["key"])


def test_019_malformed_input_neither_breaks_the_server_nor_reveals_other_callers_data(
    tmp_path: Path, narrow_key: str, capfd: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(SEED)
    with server(tmp_path, SCRUBJAY_API_KEY=KEY, SCRUBJAY_LOG_LEVEL="warning") as url:
        host, port = url.removeprefix("http://").split(":")
        address = (host, int(port))
        owner = {"Authorization": f"Bearer {KEY}", "Scrubjay-Client": "another"}
        stored = httpx2.post(f"{url}/v1/tools/remember", json={"content": f"The code is {SECRET}"}, headers=owner)
        assert stored.status_code == 200, stored.text

        # These have no key, or one that may not read memories.
        answers = [exchange(address, request) for request in attacks(chance, narrow_key)]
        raw = raw_frames(chance)
        answers += [exchange(address, UPGRADE + next(raw)) for _ in range(OF_EACH // 4)]
        socket_url = f"ws://{host}:{port}/cortex/websocket?vsn=2.0.0"
        events_url = f"ws://{host}:{port}/ws"
        received = asyncio.run(send_frames(socket_url, narrow_key, OF_EACH, chance))
        received += asyncio.run(send_commands(events_url, narrow_key, OF_EACH, chance))
        output = b"\n".join(answers) + received.encode("utf-8", "surrogatepass")
        for secret in (SECRET, KEY, "Traceback", "site-packages", str(tmp_path)):
            assert secret.encode() not in output, secret
        # With the owner's key, requests reach every tool.
        answers += [exchange(address, request) for request in attacks(chance, KEY)]
        received += asyncio.run(send_frames(socket_url, KEY, OF_EACH, chance))
        received += asyncio.run(send_commands(events_url, KEY, OF_EACH, chance))
        assert KEY.encode() not in b"\n".join(answers) + received.encode("utf-8", "surrogatepass")

        statuses = [int(found[1]) for answer in answers if (found := re.match(rb"HTTP/1\.1 (\d{3})", answer))]
        assert len(statuses) > len(answers) * 0.9, "most requests get a response, not only a closed connection"
        assert {200, 400, 401, 403, 404, 405, 422} <= set(statuses)
        assert not [status for status in statuses if status >= 500]
        assert '"internal"' not in received
        recalled = httpx2.post(f"{url}/v1/tools/recall", json={"query": "What is the code?"}, headers=owner)
        assert SECRET in recalled.text
    stderr = capfd.readouterr().err
    assert not re.search("broke|Traceback", stderr), stderr[:2000]
