"""A real HTTP service for embeddings and chat completions that can fail like real ones."""

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np

from tests.models.http_server import serve_http

DIMENSIONS = 8
TIMEOUT_SECONDS = 5.0


def raw_vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Return a vector derived from the text, not normalized."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return [float(number) for number in np.random.default_rng(seed).normal(0, 3, dimensions).astype("f4")]


def expected_vector(text: str, dimensions: int = DIMENSIONS) -> bytes:
    """Return the vector that an embedder must return for the text."""
    numbers = np.array(raw_vector(text, dimensions))
    return (numbers / np.linalg.norm(numbers)).astype("<f2").tobytes()


@dataclass(frozen=True)
class Request:
    """A request that the service received."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """An answer that replaces the regular one."""

    status: int = 200
    body: object = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class HangUp:
    """Close the connection without an answer."""


@dataclass(frozen=True)
class Silence:
    """Do not answer until the service is released."""


Behaviour = Answer | HangUp | Silence


def embeddings(texts: Sequence[str], encoding: str = "float") -> list[dict[str, Any]]:
    """Return the `data` of a regular embedding response."""
    rows = [raw_vector(text) for text in texts]
    if encoding == "base64":
        packed = [base64.b64encode(np.array(row, "<f4").tobytes()).decode() for row in rows]
        return [{"index": index, "embedding": row} for index, row in enumerate(packed)]
    return [{"index": index, "embedding": row} for index, row in enumerate(rows)]


def completion(text: object, **fields: Any) -> dict[str, Any]:
    """Return a regular chat completion response."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    return {"model": "a-model-0613", "choices": [{"index": 0, "message": message}], "usage": usage, **fields}


class Service:
    """Embeds texts and answers messages, except for requests that a test assigned another behaviour."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.next: list[Behaviour] = []
        self.always: Behaviour | None = None
        self.silent_after: int | None = None
        """Number of requests after which further ones are not answered."""
        self.refused_text: str | None = None
        """An input that is refused with status 400."""
        self.reply: Callable[[Mapping[str, Any]], str] = lambda body: "Well."
        """Returns the text of a completion for a request body."""
        self.max_concurrent = 0
        self._concurrent = 0
        self._changed = threading.Condition()
        self._released = threading.Event()
        self.url = ""

    def wait_for_requests(self, count: int, seconds: float = TIMEOUT_SECONDS) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= count, seconds)

    @property
    def texts(self) -> list[str]:
        """All texts of embedding requests."""
        return [text for request in self.requests for text in request.body["input"]]

    def release(self) -> None:
        """Unblock the unanswered requests."""
        self._released.set()

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self._changed:
            self.requests.append(Request(handler.path, dict(handler.headers), body))
            self._concurrent += 1
            self.max_concurrent = max(self.max_concurrent, self._concurrent)
            behaviour = self.next.pop(0) if self.next else self.always
            if self.silent_after is not None and len(self.requests) > self.silent_after:
                behaviour = Silence()
            elif self.refused_text in body.get("input", ()):
                behaviour = Answer(status=400, body={"error": "too long"})
            self._changed.notify_all()
        try:
            self._behave(handler, body, behaviour)
        finally:
            with self._changed:
                self._concurrent -= 1

    def _regular_answer(self, body: Mapping[str, Any]) -> Answer:
        if "messages" in body:
            return Answer(body=completion(self.reply(body)))
        return Answer(body={"data": embeddings(body["input"], body.get("encoding_format", "float"))})

    def _behave(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], behaviour: Behaviour | None) -> None:
        match behaviour:
            case HangUp():
                handler.close_connection = True
                return
            case Silence():
                self._released.wait(TIMEOUT_SECONDS)
                answer = self._regular_answer(body)
            case Answer():
                answer = behaviour
            case None:
                answer = self._regular_answer(body)
        content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        try:
            handler.send_response(answer.status)
            for name, value in answer.headers.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content)
        except ConnectionError:  # the client did not wait for the answer
            handler.close_connection = True


@contextmanager
def running_service() -> Generator[Service]:
    """Run the service on a free loopback port."""
    service = Service()
    with serve_http(service.handle, service.release) as service.url:
        yield service
