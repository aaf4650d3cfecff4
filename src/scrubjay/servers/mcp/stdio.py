"""MCP over stdin and stdout: one process and one client, one message per line or with Content-Length headers.

The SDK's own transport silently drops invalid lines, buffers lines of any length, and crashes on lone surrogates; this
one answers each of them with an error and continues.
"""

import json
import os
import re
import select
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, Final, Self

import anyio
import anyio.lowlevel
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from scrubjay.core.errors import InvalidRequest, ScrubjayError, TooLarge
from scrubjay.core.streams import BorrowedStream
from scrubjay.servers.mcp.errors import error_data
from scrubjay.servers.mcp.framing import InvalidHeaders, MessageReader, MessageTooLong, with_headers
from scrubjay.servers.mcp.server import ToolServer

_READ_BYTES: Final = 64 * 1024
# Seconds in which a client may read its last responses after it has closed its end.
_FLUSH_SECONDS: Final = 1.0
# Seconds for pending requests after the end of the input: a script that pipes in a few requests wants responses.
# Clients that close the pipe to stop the server kill it after two seconds.
_DRAIN_SECONDS: Final = 1.5
# Both SDKs put a request's id after the version or at the very end, so that the two ends suffice to answer it.
_FIRST_ID: Final = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,18}|"[\w-]{1,100}")\s*,')
_LAST_ID: Final = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[\w-]{1,100}")\s*\}\s*$')


async def serve_stdio(server: ToolServer, *, max_message_bytes: int = 16 * 1024 * 1024) -> None:
    """Serve until the client closes stdin; calls that still run 1.5 seconds later are cancelled."""
    with _private_pipes() as (source, sink):
        pending = _PendingRequests()
        async with anyio.create_task_group() as tasks:
            writer = _StdioWriter(sink, pending, tasks.cancel_scope)
            tasks.start_soon(writer.write)
            reader = _StdioReader(source, writer, max_message_bytes, pending)
            await server.run(reader, writer, server.create_initialization_options())
            tasks.cancel_scope.deadline = anyio.current_time() + _FLUSH_SECONDS


@contextmanager
def _private_pipes() -> Generator[tuple[int, int]]:
    """Reserve stdin and stdout for the protocol: other readers of stdin see EOF, and prints go to stderr."""
    source, sink, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    try:
        yield source, sink
    finally:
        sys.stdout.flush()
        os.dup2(source, 0)
        os.dup2(sink, 1)
        for descriptor in (source, sink, nothing):
            os.close(descriptor)


class _InvalidMessage(Exception):
    """An invalid message, with the error response to send."""

    def __init__(self, request_id: RequestId | None, code: int, error: ScrubjayError) -> None:
        self.response = SessionMessage(JSONRPCError(jsonrpc="2.0", id=request_id, error=error_data(error, code)))


class _PendingRequests:
    """The requests without a response yet."""

    def __init__(self) -> None:
        self._ids: set[RequestId] = set()
        self._emptied: anyio.Event | None = None

    def add(self, message: JSONRPCMessage) -> None:
        # A subscription has no response until it is closed.
        if isinstance(message, JSONRPCRequest) and message.method != "subscriptions/listen":
            self._ids.add(message.id)

    def remove(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._ids.discard(message.id)
            if self._emptied is not None and not self._ids:
                self._emptied.set()

    async def wait_until_empty(self) -> None:
        if self._ids:
            self._emptied = anyio.Event()
            with anyio.move_on_after(_DRAIN_SECONDS):
                await self._emptied.wait()


class _StdioReader(BorrowedStream):
    """The client's messages, as a stream for the SDK. Invalid lines are answered with an error and skipped."""

    def __init__(self, source: int, writer: "_StdioWriter", max_bytes: int, pending: _PendingRequests) -> None:
        self._pending = pending
        self._source = source
        self._writer = writer
        self._max_bytes = max_bytes
        self._messages = MessageReader(self._read, max_bytes)

    async def receive(self) -> SessionMessage:
        while True:
            try:
                if (found := await self._next()) is None:
                    await self._pending.wait_until_empty()
                    raise anyio.EndOfStream
                message = _parse(found)
                self._pending.add(message)
                return SessionMessage(message)
            except _InvalidMessage as invalid:
                await self._writer.send(invalid.response)

    async def _next(self) -> bytes | None:
        """Return the next message, or None at the end; raise `_InvalidMessage`."""
        try:
            return await self._messages.next()
        except MessageTooLong as message:
            raise _InvalidMessage(
                _id_in_ends(message.head, message.tail),
                INVALID_REQUEST,
                TooLarge(
                    f"the message is larger than {self._max_bytes} bytes",
                    hint="send it in smaller parts",
                    details={"limit_bytes": self._max_bytes},
                ),
            ) from None
        except InvalidHeaders:
            refusal = InvalidRequest(
                "the headers have no valid Content-Length", hint="send Content-Length, or one message per line"
            )
            raise _InvalidMessage(None, PARSE_ERROR, refusal) from None
        finally:
            self._writer.has_headers = self._messages.has_headers

    async def _read(self) -> bytes:
        await _wait_ready(anyio.wait_readable, self._source)
        try:
            return os.read(self._source, _READ_BYTES)
        except ConnectionResetError:
            return b""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


def _parse(line: bytes) -> JSONRPCMessage:
    with suppress(ValidationError):
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        # A request with an invalid id validates as a notification, which would never be answered.
        if not isinstance(message, JSONRPCNotification) or b'"id"' not in line:
            return message
    try:
        found: Any = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise _InvalidMessage(None, PARSE_ERROR, InvalidRequest(f"the line is not JSON: {error}")) from None
    # Unlike the strict parser, Python accepts lone surrogates; tool validation refuses them with a better message.
    with suppress(ValidationError):
        message = jsonrpc_message_adapter.validate_python(found, by_name=False)
        if not isinstance(message, JSONRPCNotification) or "id" not in found:
            return message
    refusal = InvalidRequest("the line is not a JSON-RPC 2.0 message", hint="send one request or notification per line")
    raise _InvalidMessage(_id_of(found), INVALID_REQUEST, refusal)


def _id_of(message: Any) -> RequestId | None:
    """Return the id of an invalid request, to answer it; an invalid response must not be answered."""
    match message:
        case {"result": _} | {"error": _} | {"id": bool()}:
            return None
        case {"id": int() | str() as request_id}:
            return request_id
        case _:
            return None


def _id_in_ends(head: bytes, tail: bytes) -> RequestId | None:
    found = _FIRST_ID.match(head) or _LAST_ID.search(tail)
    return json.loads(found[1]) if found else None


class _StdioWriter(BorrowedStream):
    """Messages to the client. The sending task writes a short one itself when the pipe has room, which is fastest."""

    def __init__(self, sink: int, pending: _PendingRequests, serving: anyio.CancelScope) -> None:
        self._sink = sink
        self._pending = pending
        self._serving = serving
        self.has_headers = False
        """True when the client's last message had headers; responses then have them too."""
        self._queue, self._unwritten = anyio.create_memory_object_stream[SessionMessage]()
        self._unwritten_count = 0
        """Messages that were sent but are not completely written; no other may be written before them."""
        self._poll = select.poll()
        self._poll.register(sink, select.POLLOUT)

    async def send(self, item: SessionMessage, /) -> None:
        if not self._unwritten_count:
            text = self._text(item.message)
            if len(text) <= select.PIPE_BUF and self._poll.poll(0):
                await self._write_all(text, item)
                return
        self._unwritten_count += 1
        try:
            await self._queue.send(item)
        except BaseException:
            self._unwritten_count -= 1
            raise

    async def aclose(self) -> None:
        await self._queue.aclose()

    async def write(self) -> None:
        """Write the queued messages until the stream is closed or the client is gone."""
        async with self._unwritten:
            async for message in self._unwritten:
                await self._write_all(self._text(message.message), message)
                self._unwritten_count -= 1

    def _text(self, message: JSONRPCMessage) -> bytes:
        return with_headers(_json(message)) if self.has_headers else _json(message) + b"\n"

    async def _write_all(self, text: bytes, message: SessionMessage) -> None:
        rest = memoryview(text)
        try:
            while rest:
                if not self._poll.poll(0):  # waiting is rarely needed and costs much more than this check
                    await _wait_ready(anyio.wait_writable, self._sink)
                # A pipe that is ready accepts PIPE_BUF bytes, so the event loop is never blocked.
                rest = rest[os.write(self._sink, rest[: select.PIPE_BUF]) :]
        except (BrokenPipeError, ConnectionResetError):  # the client is gone
            self._serving.cancel()
            return
        self._pending.remove(message.message)


def _json(message: JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except PydanticSerializationError:  # a lone surrogate, as in a file name that is not UTF-8
        data = message.model_dump(by_alias=True, exclude_unset=True)
        return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")


async def _wait_ready(wait: Callable[[int], Awaitable[None]], descriptor: int) -> None:
    try:
        await wait(descriptor)
    except PermissionError:  # a regular file is always ready and cannot be polled
        await anyio.lowlevel.checkpoint()
