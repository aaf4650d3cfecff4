"""A language model's service that speaks chat completions: whole, in pieces, with tools, and in trouble."""

import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from itertools import count
from typing import Any

from tests.models.serving import served

KEY = "sk-upstream-0123456789abcdef"
MODEL = "a-model"
PATIENCE_SECONDS = 10.0
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
TIME_CALL = {"id": "call_2", "type": "function", "function": {"name": "time", "arguments": '{"zone": "CET"}'}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bern"}'}}

Json = dict[str, Any]


class Upstream:
    """What the last message of the user says decides how it behaves."""

    def __init__(self) -> None:
        self.bodies: list[Json] = []
        self.headers: list[Mapping[str, str]] = []
        self.left = threading.Event()
        """Whether a client went away before it had its answer."""
        self.asked = threading.Event()
        self.go_on = threading.Event()
        self._released = threading.Event()
        self.written = 0
        """How much of a flood was taken."""
        self.url = ""

    def release(self) -> None:
        self._released.set()
        self.go_on.set()

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        body: Json = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        self.bodies.append(body)
        self.headers.append(dict(handler.headers))
        self.asked.set()
        try:
            self._behave(handler, body, _asked(body))
        except ConnectionError:
            self.left.set()
            handler.close_connection = True

    def _behave(self, handler: BaseHTTPRequestHandler, body: Json, asked: str) -> None:
        if asked.startswith("fail "):
            status = int(asked.split()[1])
            error = {"message": f"no: {KEY}", "type": "some_type", "param": "messages", "code": "some_code"}
            _send(handler, status, {"error": error}, {"Retry-After": "7"})
        elif asked == "nonsense":
            _send(handler, 200, ["nothing"])
        elif asked == "hang up":
            handler.close_connection = True
        elif asked == "silence":
            self._wait_until_left(handler)
        elif body.get("stream"):
            self._stream(handler, body, asked)
        else:
            _send(handler, 200, _completion(body))

    def _stream(self, handler: BaseHTTPRequestHandler, body: Json, asked: str) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        handler.wfile.write(b": hello\n\n")
        message = _message(body)
        pieces: list[Json] = [{"role": "assistant", "content": ""}]
        if asked == "think":
            pieces += [{"reasoning_content": "Let me "}, {"reasoning_content": "see."}]
        if calls := message.get("tool_calls"):
            # The pieces of several calls come as they are made, which may be at the same time.
            pieces += [piece for pair in zip(*map(_pieces_of_call, count(), calls), strict=True) for piece in pair]
        elif refusal := message.get("refusal"):
            pieces += [{"refusal": word} for word in refusal.split(" ") for word in (word, " ")][:-1]
        else:
            pieces += [{"content": word} for word in message["content"].split(" ") for word in (word, " ")][:-1]
        for place, delta in enumerate(pieces):
            for index in range(body.get("n") or 1):
                more = {"error": None} if asked == "null errors" else {}
                _piece(handler, body, [{"index": index, "delta": delta, "finish_reason": None}], **more)
            if place == 1:
                if asked == "wait":
                    assert self.go_on.wait(PATIENCE_SECONDS)
                if asked == "endless":
                    self._wait_until_left(handler)
                    return
                if asked == "break off":
                    return
                if asked == "break midway":
                    handler.wfile.write(b'data: {"error": {"message": "it broke: %b"}}\n\n' % KEY.encode())
                    return
                if asked == "flood":
                    self._flood(handler, body)
        for index in range(body.get("n") or 1):
            reason = "tool_calls" if message.get("tool_calls") else "stop"
            _piece(handler, body, [{"index": index, "delta": {}, "finish_reason": reason}])
        options: Json = body.get("stream_options") or {}
        if options.get("include_usage"):
            _piece(handler, body, [], usage=USAGE)
        handler.wfile.write(b"data: [DONE]\n\n")

    def _wait_until_left(self, handler: BaseHTTPRequestHandler) -> None:
        """Wait for the other side to close the connection, on which nothing else can come."""
        handler.connection.settimeout(PATIENCE_SECONDS)
        try:
            gone = handler.connection.recv(1) == b""
        except TimeoutError:
            return
        except ConnectionError:
            gone = True
        if gone:
            self.left.set()
        handler.close_connection = True

    def _flood(self, handler: BaseHTTPRequestHandler, body: Json) -> None:
        """Write until nobody takes any more; `written` says how much that was."""
        handler.connection.settimeout(1.0)
        self.written = 0
        part = [{"index": 0, "delta": {"content": "x" * 60_000}, "finish_reason": None}]
        try:
            while self.written < 200_000_000:
                _piece(handler, body, part)
                self.written += 60_000
        except TimeoutError:
            self.left.set()
            raise ConnectionError from None


def _asked(body: Json) -> str:
    users = [message for message in body["messages"] if message["role"] == "user"]
    content = users[-1]["content"] if users else ""
    return content if isinstance(content, str) else content[0]["text"]


def _pieces_of_call(place: int, call: Json) -> list[Json]:
    """A call whose arguments come in two pieces, of which only the first names it."""
    function, arguments = call["function"], call["function"]["arguments"]
    first = {**call, "index": place, "function": {**function, "arguments": arguments[:5]}}
    return [{"tool_calls": [first]}, {"tool_calls": [{"index": place, "function": {"arguments": arguments[5:]}}]}]


def _message(body: Json) -> Json:
    asked = _asked(body)
    answered = [message for message in body["messages"] if message["role"] == "tool"]
    if asked.startswith("use ") and not (answered and "for ever" not in asked) and body.get("tool_choice") != "none":
        _, name, arguments = asked.split(" ", 2)
        function = {"name": name, "arguments": arguments.partition(" for ever")[0]}
        return {"role": "assistant", "content": None, "tool_calls": [{**CALL, "function": function}]}
    if asked == "refuse":
        return {"role": "assistant", "content": None, "refusal": "I would rather not."}
    if any(tool["function"]["name"] == "weather" for tool in body.get("tools") or ()) and not answered:
        calls = [CALL, TIME_CALL] if "time" in asked else [CALL]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    if answered:
        return {"role": "assistant", "content": f"It is {answered[-1]['content']}."}
    return {"role": "assistant", "content": f"You said: {_asked(body)}"}


def _completion(body: Json) -> Json:
    message = _message(body)
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choices = [{"index": index, "message": message, "finish_reason": reason} for index in range(body.get("n") or 1)]
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": f"{body['model']}-0613"}
    return {**head, "choices": choices, "usage": USAGE, "system_fingerprint": "fp_1"}


def _piece(handler: BaseHTTPRequestHandler, body: Json, choices: list[Json], **more: Any) -> None:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": f"{body['model']}-0613"}
    handler.wfile.write(b"data: " + json.dumps({**head, "choices": choices, **more}).encode() + b"\n\n")


def _send(handler: BaseHTTPRequestHandler, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
    content = json.dumps(body).encode()
    handler.send_response(status)
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


@contextmanager
def running_upstream() -> Generator[Upstream]:
    upstream = Upstream()
    with served(upstream.handle, upstream.release) as upstream.url:
        yield upstream
