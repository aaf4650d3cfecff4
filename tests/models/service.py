"""A real HTTP service that embeds and talks, and fails in the ways that such services fail."""

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

from tests.models.serving import served

DIMENSIONS = 8
PATIENCE_SECONDS = 5.0


def numbers_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A vector that is this text's own, not of length 1."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return [float(number) for number in np.random.default_rng(seed).normal(0, 3, dimensions).astype("f4")]


def vector_of(text: str, dimensions: int = DIMENSIONS) -> bytes:
    """What an embedder must make of it."""
    numbers = np.array(numbers_of(text, dimensions))
    return (numbers / np.linalg.norm(numbers)).astype("<f2").tobytes()


@dataclass(frozen=True)
class Request:
    """What was asked of the service."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What the service answers instead of what it was asked for."""

    status: int = 200
    body: object = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class HangUp:
    """The connection is closed without a word."""


@dataclass(frozen=True)
class Silence:
    """Nothing comes until the service is released."""


Behaviour = Answer | HangUp | Silence


def embeddings(texts: Sequence[str], encoding: str = "float") -> list[dict[str, Any]]:
    """A right answer's entries."""
    rows = [numbers_of(text) for text in texts]
    if encoding == "base64":
        packed = [base64.b64encode(np.array(row, "<f4").tobytes()).decode() for row in rows]
        return [{"index": index, "embedding": row} for index, row in enumerate(packed)]
    return [{"index": index, "embedding": row} for index, row in enumerate(rows)]


def completion(text: object, **fields: Any) -> dict[str, Any]:
    """A right answer of a language model."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    return {"model": "a-model-0613", "choices": [{"index": 0, "message": message}], "usage": usage, **fields}


class Service:
    """Embeds texts and answers messages, except for the next requests that somebody gave another behaviour."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.next: list[Behaviour] = []
        self.always: Behaviour | None = None
        self.silent_after: int | None = None
        """How many requests are answered before all others are kept in silence."""
        self.poison: str | None = None
        """A text that it refuses."""
        self.says: Callable[[Mapping[str, Any]], str] = lambda body: "Well."
        """What the language model makes of a request."""
        self.most_at_once = 0
        self._at_once = 0
        self._changed = threading.Condition()
        self._released = threading.Event()
        self.url = ""

    def wait_for_requests(self, count: int, seconds: float = PATIENCE_SECONDS) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= count, seconds)

    @property
    def texts(self) -> list[str]:
        """Every text that it was asked to embed."""
        return [text for request in self.requests for text in request.body["input"]]

    def release(self) -> None:
        """Let those go on that are kept in silence."""
        self._released.set()

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self._changed:
            self.requests.append(Request(handler.path, dict(handler.headers), body))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            behaviour = self.next.pop(0) if self.next else self.always
            if self.silent_after is not None and len(self.requests) > self.silent_after:
                behaviour = Silence()
            elif self.poison in body.get("input", ()):
                behaviour = Answer(status=400, body={"error": "too long"})
            self._changed.notify_all()
        try:
            self._behave(handler, body, behaviour)
        finally:
            with self._changed:
                self._at_once -= 1

    def _right_answer(self, body: Mapping[str, Any]) -> Answer:
        if "messages" in body:
            return Answer(body=completion(self.says(body)))
        return Answer(body={"data": embeddings(body["input"], body.get("encoding_format", "float"))})

    def _behave(self, handler: BaseHTTPRequestHandler, body: Mapping[str, Any], behaviour: Behaviour | None) -> None:
        match behaviour:
            case HangUp():
                handler.close_connection = True
                return
            case Silence():
                self._released.wait(PATIENCE_SECONDS)
                answer = self._right_answer(body)
            case Answer():
                answer = behaviour
            case None:
                answer = self._right_answer(body)
        content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        try:
            handler.send_response(answer.status)
            for name, value in answer.headers.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content)
        except ConnectionError:  # who asked did not wait for the answer
            handler.close_connection = True


@contextmanager
def running_service() -> Generator[Service]:
    """The service on a free port of loopback, until the end."""
    service = Service()
    with served(service.handle, service.release) as service.url:
        yield service
