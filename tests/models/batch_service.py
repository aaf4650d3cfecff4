"""A real HTTP service with direct embeddings and file-based batches, like OpenAI's."""

import json
import re
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

from tests.models.http_server import serve_http
from tests.models.service import DIMENSIONS, raw_vector

TIMEOUT_SECONDS = 5.0
KEY = "the-key"


class RecordedRequest(NamedTuple):
    """A request that the service received."""

    method: str
    path: str
    texts: tuple[str, ...] = ()


class BatchService:
    """A configurable service: it can be down, refuse texts, and complete, fail or expire batches."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[RecordedRequest] = []
        self.embed: Callable[[str], list[float]] = lambda text: raw_vector(text, DIMENSIONS)
        self.down = False
        self.refused_text: str | None = None
        """Texts that contain this are refused."""
        self.missing_paths: str | None = None
        """A regular expression of paths that return 404."""
        self.final_status = "completed"
        """The status that a batch gets when it is queried; `in_progress` for one that takes a while."""
        self.completed_share = 1.0
        """Share of a batch that is done when it ends."""
        self.on_request: Callable[[int], None] = lambda number: None
        """Called with the number of each request after it was handled, before it is answered."""
        self.files: dict[str, bytes] = {}
        self.names: dict[str, str] = {}
        """File names by file id."""
        self.batches: dict[str, dict[str, Any]] = {}
        self.answering = threading.Event()
        """While it is clear, answers to embedding requests are held back."""
        self.answering.set()
        self._count = 0
        self._changed = threading.Condition()

    @property
    def texts(self) -> list[str]:
        """All texts of direct embedding requests."""
        return [text for request in self.requests for text in request.texts]

    @property
    def batched(self) -> list[list[str]]:
        """The texts of each started batch."""
        return [[line["body"]["input"] for line in batch["lines"]] for batch in self.batches.values()]

    def count_requests(self, method: str, path: str) -> int:
        return sum(one.method == method and re.fullmatch(path, one.path) is not None for one in self.requests)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, TIMEOUT_SECONDS)

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        content = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        path = handler.path.removeprefix("/v1")
        with self._changed:
            texts = tuple(json.loads(content)["input"]) if path == "/embeddings" else ()
            self.requests.append(RecordedRequest(handler.command, path, texts))
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
            self.answering.wait(TIMEOUT_SECONDS)
        try:
            handler.send_response(status)
            handler.send_header("Content-Length", str(len(answer)))
            handler.end_headers()
            handler.wfile.write(answer)
        except ConnectionError:
            handler.close_connection = True

    def _answer(self, method: str, path: str, content: bytes) -> tuple[int, bytes]:
        answer_body: dict[str, Any]
        if self.missing_paths is not None and re.fullmatch(self.missing_paths, path):
            path = ""
        match method, path.partition("?")[0].strip("/").split("/"):
            case "POST", ["embeddings"]:
                answer_body = self._embed(json.loads(content))
            case "POST", ["files"]:
                name, uploaded = _parse_upload(content)
                answer_body = {"id": self._store_file(uploaded)}
                self.names[answer_body["id"]] = name
            case "GET", ["files"]:
                answer_body = {"data": [{"id": file_id, "filename": self.names.get(file_id)} for file_id in self.files]}
            case "POST", ["batches"]:
                answer_body = self._begin(json.loads(content)["input_file_id"])
            case "GET", ["batches"]:
                answer_body = {"data": [_public_fields(batch) for batch in self.batches.values()]}
            case "GET", ["batches", batch_id] if batch_id in self.batches:
                answer_body = _public_fields(self._end(self.batches[batch_id]))
            case "GET", ["files", file_id, "content"] if file_id in self.files:
                return 200, self.files[file_id]
            case "DELETE", ["files", file_id] if file_id in self.files:
                del self.files[file_id]
                answer_body = {"deleted": True}
            case _:
                return 404, b'{"error": {"message": "there is no such thing"}}'
        status = answer_body.pop("status_code", 200)
        return status, json.dumps(answer_body).encode()

    def _embed(self, body: Mapping[str, Any]) -> dict[str, Any]:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if self.refused_text is not None and any(self.refused_text in text for text in texts):
            return {"status_code": 400, "error": {"message": "I do not like this text"}}
        return {"data": [{"index": index, "embedding": self.embed(text)} for index, text in enumerate(texts)]}

    def _store_file(self, content: bytes) -> str:
        file_id = f"file-{len(self.files)}-{len(self.requests)}"
        self.files[file_id] = content
        return file_id

    def _begin(self, file_id: str) -> dict[str, Any]:
        if file_id not in self.files:
            return {"status_code": 400, "error": {"message": "there is no such file"}}
        lines = [json.loads(line) for line in self.files[file_id].splitlines()]
        batch_id = f"batch-{len(self.batches)}"
        self.batches[batch_id] = {"id": batch_id, "input_file_id": file_id, "status": "validating", "lines": lines}
        return _public_fields(self.batches[batch_id])

    def _end(self, batch: dict[str, Any]) -> dict[str, Any]:
        if batch["status"] not in ("validating", "in_progress"):
            return batch
        batch["status"] = self.final_status
        if self.final_status == "failed":
            batch["errors"] = {"data": [{"message": "no such model"}]}
        elif self.final_status != "in_progress":
            done = batch["lines"][: round(self.completed_share * len(batch["lines"]))]
            answered = [(line["custom_id"], self._embed(line["body"])) for line in done]
            lines = [
                json.dumps(
                    {
                        "custom_id": own,
                        "response": {"status_code": answer_body.pop("status_code", 200), "body": answer_body},
                        "error": None,
                    }
                ).encode()
                for own, answer_body in answered
            ]
            right = [line for line in lines if b'"status_code": 200' in line]
            wrong = [line for line in lines if line not in right]
            batch["output_file_id"] = self._store_file(b"\n".join(right)) if right else None
            batch["error_file_id"] = self._store_file(b"\n".join(wrong)) if wrong else None
        return batch


def _public_fields(batch: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in batch.items() if name != "lines"}


def _parse_upload(form: bytes) -> tuple[str, bytes]:
    """Return name and content of the uploaded file, whose purpose must be `batch`."""
    boundary = form.split(b"\r\n", 1)[0]
    parts = [part.partition(b"\r\n\r\n") for part in form.split(boundary)[1:-1]]
    fields = {head.split(b'name="')[1].split(b'"')[0]: body[:-2] for head, _, body in parts}
    assert fields[b"purpose"] == b"batch"
    name = form.split(b'filename="')[1].split(b'"')[0]
    return name.decode(), fields[b"file"]


@contextmanager
def running_batch_service() -> Generator[BatchService]:
    """Run the service on a free loopback port."""
    service = BatchService()
    with serve_http(service.handle, service.answering.set) as service.url:
        yield service
