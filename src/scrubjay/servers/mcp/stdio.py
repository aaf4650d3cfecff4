"""MCP over stdin and stdout: one process, one client, one message a line, or each behind headers.

The SDK's own transport drops a line that is no message without a word, keeps a line of any length, and dies of text
that is not Unicode; this one answers each of them with an error and goes on.
"""

import json
import os
import re
import select
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from types import TracebackType
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
from scrubjay.servers.mcp.errors import error_data
from scrubjay.servers.mcp.framing import BadHeaders, MessageReader, TooLong, with_headers
from scrubjay.servers.mcp.server import ToolServer

_READ_BYTES: Final = 64 * 1024
# How long a client that has left may still take to read its last answers.
_FLUSH_SECONDS: Final = 1.0
# How long what was asked before the end of the input may still take: whoever pipes in a few requests wants them
# answered. Clients that close the pipe to end us wait two seconds before they use force.
_FINISH_SECONDS: Final = 1.5
# Both SDKs put a request's id behind the version or at the very end, so that its ends suffice to answer it.
_FIRST_ID: Final = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,18}|"[\w-]{1,100}")\s*,')
_LAST_ID: Final = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[\w-]{1,100}")\s*\}\s*$')


async def serve_stdio(server: ToolServer, *, max_message_bytes: int = 16 * 1024 * 1024) -> None:
    """Serve until the client closes its end; calls that then still run for long are cancelled."""
    with _private_pipes() as (source, sink):
        unanswered = _Unanswered()
        async with anyio.create_task_group() as tasks:
            outgoing = _Outgoing(sink, unanswered, tasks.cancel_scope)
            tasks.start_soon(outgoing.write)
            incoming = _Incoming(source, outgoing, max_message_bytes, unanswered)
            await server.run(incoming, outgoing, server.create_initialization_options())
            tasks.cancel_scope.deadline = anyio.current_time() + _FLUSH_SECONDS


@contextmanager
def _private_pipes() -> Generator[tuple[int, int]]:
    """Both pipes for us alone: whoever else reads stdin finds it empty, and what is printed goes to stderr."""
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


class _Refused(Exception):
    """A line that is no message for us, and what its sender is told."""

    def __init__(self, request_id: RequestId | None, code: int, error: ScrubjayError) -> None:
        self.answer = SessionMessage(JSONRPCError(jsonrpc="2.0", id=request_id, error=error_data(error, code)))


class _Unanswered:
    """The requests that are being worked on."""

    def __init__(self) -> None:
        self._ids: set[RequestId] = set()
        self._awaited: anyio.Event | None = None

    def asked(self, message: JSONRPCMessage) -> None:
        # One that listens is never answered by itself.
        if isinstance(message, JSONRPCRequest) and message.method != "subscriptions/listen":
            self._ids.add(message.id)

    def answered(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._ids.discard(message.id)
            if self._awaited is not None and not self._ids:
                self._awaited.set()

    async def wait_for_none(self) -> None:
        if self._ids:
            self._awaited = anyio.Event()
            with anyio.move_on_after(_FINISH_SECONDS):
                await self._awaited.wait()


class _Stream:
    """What the SDK wants of a stream beside what it carries."""

    async def aclose(self) -> None:
        """Nothing to do: the pipes are not ours to close."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class _Incoming(_Stream):
    """The client's messages, as a stream for the SDK. Lines that are none are answered here and passed over."""

    def __init__(self, source: int, outgoing: "_Outgoing", max_bytes: int, unanswered: _Unanswered) -> None:
        self._unanswered = unanswered
        self._source = source
        self._outgoing = outgoing
        self._max_bytes = max_bytes
        self._messages = MessageReader(self._read, max_bytes)

    async def receive(self) -> SessionMessage:
        while True:
            try:
                if (found := await self._next()) is None:
                    await self._unanswered.wait_for_none()
                    raise anyio.EndOfStream
                message = _parse(found)
                self._unanswered.asked(message)
                return SessionMessage(message)
            except _Refused as refused:
                await self._outgoing.send(refused.answer)

    async def _next(self) -> bytes | None:
        """The next message; `_Refused` for one that is none."""
        try:
            return await self._messages.next()
        except TooLong as message:
            raise _Refused(
                _id_at_the_ends(message.head, message.tail),
                INVALID_REQUEST,
                TooLarge(
                    f"the message is larger than {self._max_bytes} bytes",
                    hint="send it in smaller parts",
                    details={"limit_bytes": self._max_bytes},
                ),
            ) from None
        except BadHeaders:
            refusal = InvalidRequest("the headers tell no length", hint="send Content-Length, or one message a line")
            raise _Refused(None, PARSE_ERROR, refusal) from None
        finally:
            self._outgoing.has_headers = self._messages.has_headers

    async def _read(self) -> bytes:
        await _ready(anyio.wait_readable, self._source)
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
        # A request whose id is no id passes for a notification, which nobody would answer.
        if not isinstance(message, JSONRPCNotification) or b'"id"' not in line:
            return message
    try:
        found: Any = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise _Refused(None, PARSE_ERROR, InvalidRequest(f"the line is not JSON: {error}")) from None
    # Unlike the strict reader, Python takes halves of surrogate pairs; the border has better words to refuse them.
    with suppress(ValidationError):
        message = jsonrpc_message_adapter.validate_python(found, by_name=False)
        if not isinstance(message, JSONRPCNotification) or "id" not in found:
            return message
    refusal = InvalidRequest("the line is not a JSON-RPC 2.0 message", hint="send one request or notification a line")
    raise _Refused(_id_of(found), INVALID_REQUEST, refusal)


def _id_of(message: Any) -> RequestId | None:
    """The id under which a broken request can be answered; a broken response must not be."""
    match message:
        case {"result": _} | {"error": _} | {"id": bool()}:
            return None
        case {"id": int() | str() as request_id}:
            return request_id
        case _:
            return None


def _id_at_the_ends(head: bytes, tail: bytes) -> RequestId | None:
    found = _FIRST_ID.match(head) or _LAST_ID.search(tail)
    return json.loads(found[1]) if found else None


class _Outgoing(_Stream):
    """Messages to the client. A short one is written by whoever sends it, when the pipe has room: that is quickest."""

    def __init__(self, sink: int, unanswered: _Unanswered, serving: anyio.CancelScope) -> None:
        self._sink = sink
        self._unanswered = unanswered
        self._serving = serving
        self.has_headers = False
        """Whether the client put headers before its last message, and so wants them."""
        self._queue, self._unwritten = anyio.create_memory_object_stream[SessionMessage]()
        self._waiting = 0
        """How many messages were sent and are not written as a whole: no other may be written before them."""
        self._poll = select.poll()
        self._poll.register(sink, select.POLLOUT)

    async def send(self, item: SessionMessage, /) -> None:
        if not self._waiting:
            text = self._text(item.message)
            if len(text) <= select.PIPE_BUF and self._poll.poll(0):
                await self._put(text, item)
                return
        self._waiting += 1
        try:
            await self._queue.send(item)
        except BaseException:
            self._waiting -= 1
            raise

    async def aclose(self) -> None:
        await self._queue.aclose()

    async def write(self) -> None:
        """Write what had to wait, until nothing more is sent or nobody reads it."""
        async with self._unwritten:
            async for message in self._unwritten:
                await self._put(self._text(message.message), message)
                self._waiting -= 1

    def _text(self, message: JSONRPCMessage) -> bytes:
        return with_headers(_json(message)) if self.has_headers else _json(message) + b"\n"

    async def _put(self, text: bytes, message: SessionMessage) -> None:
        rest = memoryview(text)
        try:
            while rest:
                if not self._poll.poll(0):  # asking first saves most of the cost of waiting, which is rarely needed
                    await _ready(anyio.wait_writable, self._sink)
                # No more than this: a pipe that is ready takes it whole, and the loop is never blocked.
                rest = rest[os.write(self._sink, rest[: select.PIPE_BUF]) :]
        except (BrokenPipeError, ConnectionResetError):  # nobody is left to serve
            self._serving.cancel()
            return
        self._unanswered.answered(message.message)


def _json(message: JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except PydanticSerializationError:  # text that is not Unicode, as in the name of a strange file
        data = message.model_dump(by_alias=True, exclude_unset=True)
        return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")


async def _ready(wait: Callable[[int], Awaitable[None]], descriptor: int) -> None:
    try:
        await wait(descriptor)
    except PermissionError:  # a regular file: always ready, and nothing that can be waited for
        await anyio.lowlevel.checkpoint()
