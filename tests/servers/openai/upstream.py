"""A fake chat completions service: complete and streamed answers, tool calls, and failures."""

import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from itertools import count
from typing import Any

from tests.models.http_server import serve_http

KEY = "sk-upstream-0123456789abcdef"
MODEL = "a-model"
TIMEOUT_SECONDS = 10.0
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
TIME_CALL = {"id": "call_2", "type": "function", "function": {"name": "time", "arguments": '{"zone": "CET"}'}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bern"}'}}

Json = dict[str, Any]


class Upstream:
    """A fake service whose behaviour is chosen by the text of the last user message."""

    def __init__(self) -> None:
        self.bodies: list[Json] = []
        self.headers: list[Mapping[str, str]] = []
        self.disconnected = threading.Event()
        """Set when a client disconnects before its answer is complete."""
        self.request_received = threading.Event()
        self.resume = threading.Event()
        self._released = threading.Event()
        self.written = 0
        """Characters of a flood that the client has accepted."""
        self.url = ""

    def release(self) -> None:
        self._released.set()
        self.resume.set()

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        body: Json = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        self.bodies.append(body)
        self.headers.append(dict(handler.headers))
        self.request_received.set()
        try:
            self._behave(handler, body, _prompt_of(body))
        except ConnectionError:
            self.disconnected.set()
            handler.close_connection = True

    def _behave(self, handler: BaseHTTPRequestHandler, body: Json, prompt: str) -> None:
        if prompt.startswith("fail "):
            status = int(prompt.split()[1])
            error = {"message": f"no: {KEY}", "type": "some_type", "param": "messages", "code": "some_code"}
            _send(handler, status, {"error": error}, {"Retry-After": "7"})
        elif prompt == "nonsense":
            _send(handler, 200, ["nothing"])
        elif prompt == "hang up":
            handler.close_connection = True
        elif prompt == "silence":
            self._wait_until_disconnected(handler)
        elif body.get("stream"):
            self._stream(handler, body, prompt)
        else:
            _send(handler, 200, _completion(body))

    def _stream(self, handler: BaseHTTPRequestHandler, body: Json, prompt: str) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        handler.wfile.write(b": hello\n\n")
        message = _message(body)
        deltas: list[Json] = [{"role": "assistant", "content": ""}]
        if prompt == "think":
            deltas += [{"reasoning_content": "Let me "}, {"reasoning_content": "see."}]
        if calls := message.get("tool_calls"):
            # The chunks of several calls may be interleaved.
            deltas += [piece for pair in zip(*map(_call_chunks, count(), calls), strict=True) for piece in pair]
        elif refusal := message.get("refusal"):
            deltas += [{"refusal": word} for word in refusal.split(" ") for word in (word, " ")][:-1]
        else:
            deltas += [{"content": word} for word in message["content"].split(" ") for word in (word, " ")][:-1]
        for position, delta in enumerate(deltas):
            for index in range(body.get("n") or 1):
                more = {"error": None} if prompt == "null errors" else {}
                _send_chunk(handler, body, [{"index": index, "delta": delta, "finish_reason": None}], **more)
            if position == 1:
                if prompt == "wait":
                    assert self.resume.wait(TIMEOUT_SECONDS)
                if prompt == "endless":
                    self._wait_until_disconnected(handler)
                    return
                if prompt == "break off":
                    return
                if prompt == "break midway":
                    handler.wfile.write(b'data: {"error": {"message": "it broke: %b"}}\n\n' % KEY.encode())
                    return
                if prompt == "flood":
                    self._flood(handler, body)
        for index in range(body.get("n") or 1):
            reason = "tool_calls" if message.get("tool_calls") else "stop"
            _send_chunk(handler, body, [{"index": index, "delta": {}, "finish_reason": reason}])
        options: Json = body.get("stream_options") or {}
        if options.get("include_usage"):
            _send_chunk(handler, body, [], usage=USAGE)
        handler.wfile.write(b"data: [DONE]\n\n")

    def _wait_until_disconnected(self, handler: BaseHTTPRequestHandler) -> None:
        """Wait until the client closes the connection; it sends nothing else."""
        handler.connection.settimeout(TIMEOUT_SECONDS)
        try:
            disconnected = handler.connection.recv(1) == b""
        except TimeoutError:
            return
        except ConnectionError:
            disconnected = True
        if disconnected:
            self.disconnected.set()
        handler.close_connection = True

    def _flood(self, handler: BaseHTTPRequestHandler, body: Json) -> None:
        """Write until the client stops reading; count the characters in `written`."""
        handler.connection.settimeout(1.0)
        self.written = 0
        part = [{"index": 0, "delta": {"content": "x" * 60_000}, "finish_reason": None}]
        try:
            while self.written < 200_000_000:
                _send_chunk(handler, body, part)
                self.written += 60_000
        except TimeoutError:
            self.disconnected.set()
            raise ConnectionError from None


def _prompt_of(body: Json) -> str:
    users = [message for message in body["messages"] if message["role"] == "user"]
    content = users[-1]["content"] if users else ""
    return content if isinstance(content, str) else content[0]["text"]


def _call_chunks(index: int, call: Json) -> list[Json]:
    """Return the two chunks of a call; only the first one has its id and name."""
    function, arguments = call["function"], call["function"]["arguments"]
    first = {**call, "index": index, "function": {**function, "arguments": arguments[:5]}}
    return [{"tool_calls": [first]}, {"tool_calls": [{"index": index, "function": {"arguments": arguments[5:]}}]}]


def _message(body: Json) -> Json:
    prompt = _prompt_of(body)
    tool_results = [message for message in body["messages"] if message["role"] == "tool"]
    if (
        prompt.startswith("use ")
        and not (tool_results and "for ever" not in prompt)
        and body.get("tool_choice") != "none"
    ):
        _, name, arguments = prompt.split(" ", 2)
        function = {"name": name, "arguments": arguments.partition(" for ever")[0]}
        return {"role": "assistant", "content": None, "tool_calls": [{**CALL, "function": function}]}
    if prompt == "refuse":
        return {"role": "assistant", "content": None, "refusal": "I would rather not."}
    if any(tool["function"]["name"] == "weather" for tool in body.get("tools") or ()) and not tool_results:
        calls = [CALL, TIME_CALL] if "time" in prompt else [CALL]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    if tool_results:
        return {"role": "assistant", "content": f"It is {tool_results[-1]['content']}."}
    return {"role": "assistant", "content": f"You said: {_prompt_of(body)}"}


def _completion(body: Json) -> Json:
    message = _message(body)
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choices = [{"index": index, "message": message, "finish_reason": reason} for index in range(body.get("n") or 1)]
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": f"{body['model']}-0613"}
    return {**head, "choices": choices, "usage": USAGE, "system_fingerprint": "fp_1"}


def _send_chunk(handler: BaseHTTPRequestHandler, body: Json, choices: list[Json], **more: Any) -> None:
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
    with serve_http(upstream.handle, upstream.release) as upstream.url:
        yield upstream
