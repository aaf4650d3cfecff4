"""A real HTTP service that embeds at once, and by batches of uploaded files, as OpenAI's does."""

import json
import re
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

from tests.models.service import DIMENSIONS, numbers_of
from tests.models.serving import served

PATIENCE_SECONDS = 5.0
KEY = "the-key"


class Asked(NamedTuple):
    """What was asked of the service."""

    method: str
    path: str
    texts: tuple[str, ...] = ()


class BatchService:
    """What it does can be changed: whether it is down, which text it refuses, what becomes of batches."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[Asked] = []
        self.meaning: Callable[[str], list[float]] = lambda text: numbers_of(text, DIMENSIONS)
        self.down = False
        self.refuses: str | None = None
        """What a text has that it does not take."""
        self.lacks: str | None = None
        """What it knows nothing of: an expression for paths."""
        self.ends = "completed"
        """What becomes of batches that are looked at; in_progress for those that take a while."""
        self.share = 1.0
        """How much of a batch is done when it ends."""
        self.on_request: Callable[[int], None] = lambda number: None
        """Told the number of each request after it was carried out, before it is answered."""
        self.files: dict[str, bytes] = {}
        self.names: dict[str, str] = {}
        """Those that files were uploaded by."""
        self.batches: dict[str, dict[str, Any]] = {}
        self.answering = threading.Event()
        """While it is clear, embeddings are not answered."""
        self.answering.set()
        self._count = 0
        self._changed = threading.Condition()

    @property
    def texts(self) -> list[str]:
        """All that it was asked to embed at once."""
        return [text for asked in self.asked for text in asked.texts]

    @property
    def batched(self) -> list[list[str]]:
        """The texts of each batch that was begun."""
        return [[line["body"]["input"] for line in batch["lines"]] for batch in self.batches.values()]

    def asked_for(self, method: str, path: str) -> int:
        return sum(one.method == method and re.fullmatch(path, one.path) is not None for one in self.asked)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, PATIENCE_SECONDS)

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        content = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        path = handler.path.removeprefix("/v1")
        with self._changed:
            texts = tuple(json.loads(content)["input"]) if path == "/embeddings" else ()
            self.asked.append(Asked(handler.command, path, texts))
            status, answer = 200, b""
            if self.down:
                status = 503
            elif handler.headers.get("Authorization") != f"Bearer {KEY}":
                status = 401
            else:
                status, answer = self._answer(handler.command, path, content)
            self._count += 1
            number = self._count
            self._changed.notify_all()
        self.on_request(number)
        if path == "/embeddings":
            self.answering.wait(PATIENCE_SECONDS)
        try:
            handler.send_response(status)
            handler.send_header("Content-Length", str(len(answer)))
            handler.end_headers()
            handler.wfile.write(answer)
        except ConnectionError:
            handler.close_connection = True

    def _answer(self, method: str, path: str, content: bytes) -> tuple[int, bytes]:
        told: dict[str, Any]
        if self.lacks is not None and re.fullmatch(self.lacks, path):
            path = ""
        match method, path.partition("?")[0].strip("/").split("/"):
            case "POST", ["embeddings"]:
                told = self._embedded(json.loads(content))
            case "POST", ["files"]:
                name, uploaded = _file_in(content)
                told = {"id": self._keep(uploaded)}
                self.names[told["id"]] = name
            case "GET", ["files"]:
                told = {"data": [{"id": file_id, "filename": self.names.get(file_id)} for file_id in self.files]}
            case "POST", ["batches"]:
                told = self._begin(json.loads(content)["input_file_id"])
            case "GET", ["batches"]:
                told = {"data": [_shown(batch) for batch in self.batches.values()]}
            case "GET", ["batches", batch_id] if batch_id in self.batches:
                told = _shown(self._end(self.batches[batch_id]))
            case "GET", ["files", file_id, "content"] if file_id in self.files:
                return 200, self.files[file_id]
            case "DELETE", ["files", file_id] if file_id in self.files:
                del self.files[file_id]
                told = {"deleted": True}
            case _:
                return 404, b'{"error": {"message": "there is no such thing"}}'
        status = told.pop("status_code", 200)
        return status, json.dumps(told).encode()

    def _embedded(self, body: Mapping[str, Any]) -> dict[str, Any]:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if self.refuses is not None and any(self.refuses in text for text in texts):
            return {"status_code": 400, "error": {"message": "I do not like this text"}}
        return {"data": [{"index": place, "embedding": self.meaning(text)} for place, text in enumerate(texts)]}

    def _keep(self, content: bytes) -> str:
        file_id = f"file-{len(self.files)}-{len(self.asked)}"
        self.files[file_id] = content
        return file_id

    def _begin(self, file_id: str) -> dict[str, Any]:
        if file_id not in self.files:
            return {"status_code": 400, "error": {"message": "there is no such file"}}
        lines = [json.loads(line) for line in self.files[file_id].splitlines()]
        batch_id = f"batch-{len(self.batches)}"
        self.batches[batch_id] = {"id": batch_id, "input_file_id": file_id, "status": "validating", "lines": lines}
        return _shown(self.batches[batch_id])

    def _end(self, batch: dict[str, Any]) -> dict[str, Any]:
        if batch["status"] not in ("validating", "in_progress"):
            return batch
        batch["status"] = self.ends
        if self.ends == "failed":
            batch["errors"] = {"data": [{"message": "no such model"}]}
        elif self.ends != "in_progress":
            done = batch["lines"][: round(self.share * len(batch["lines"]))]
            answered = [(line["custom_id"], self._embedded(line["body"])) for line in done]
            lines = [
                json.dumps(
                    {
                        "custom_id": own,
                        "response": {"status_code": told.pop("status_code", 200), "body": told},
                        "error": None,
                    }
                ).encode()
                for own, told in answered
            ]
            right = [line for line in lines if b'"status_code": 200' in line]
            wrong = [line for line in lines if line not in right]
            batch["output_file_id"] = self._keep(b"\n".join(right)) if right else None
            batch["error_file_id"] = self._keep(b"\n".join(wrong)) if wrong else None
        return batch


def _shown(batch: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in batch.items() if name != "lines"}


def _file_in(form: bytes) -> tuple[str, bytes]:
    """The name and content of the file of a form; it must be one for batches."""
    boundary = form.split(b"\r\n", 1)[0]
    parts = [part.partition(b"\r\n\r\n") for part in form.split(boundary)[1:-1]]
    fields = {head.split(b'name="')[1].split(b'"')[0]: body[:-2] for head, _, body in parts}
    assert fields[b"purpose"] == b"batch"
    name = form.split(b'filename="')[1].split(b'"')[0]
    return name.decode(), fields[b"file"]


@contextmanager
def running_batch_service() -> Generator[BatchService]:
    """The service on a free port of loopback, until the end."""
    service = BatchService()
    with served(service.handle, service.answering.set) as service.url:
        yield service
