"""Client of the OpenAI batch API for embeddings, which is cheaper and slower than single requests."""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import quote

from scrubjay.models.breaker import CircuitBreaker
from scrubjay.models.choices import Pace
from scrubjay.models.endpoint import ServiceEndpoint
from scrubjay.models.failures import FailureReason, unavailable
from scrubjay.models.http_client import RetryTiming, ServiceRequest, Upstream
from scrubjay.models.openai_compatible import vectors_in

T = TypeVar("T")

# Timeout of file transfers: thousands of texts take longer than a few.
FILE_SECONDS = 120.0
# Newest batches searched for one of ours.
MAX_LISTED = 100
_EMBEDDINGS = "/embeddings"
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
# Status of a text that the service will never accept.
_REJECTED_STATUS = frozenset({400, 413, 422})


class ProviderBatch(NamedTuple):
    """A batch, as reported by the service."""

    id: str
    input_file_id: str
    status: str
    output_file_id: str = ""
    """File with the responses; partial for a batch that expired."""
    error_file_id: str = ""
    problem: str = ""

    @property
    def ended(self) -> bool:
        return self.status in _ENDED


class BatchAnswers(NamedTuple):
    """The results of a batch, by the ids of the texts."""

    vectors: Mapping[str, bytes]
    refused: frozenset[str]


class EmbeddingBatches:
    """The batch API of one service."""

    def __init__(
        self,
        endpoint: ServiceEndpoint,
        *,
        dimensions: int,
        pace: Pace,
        breaker: CircuitBreaker | None = None,
        chance: RetryTiming | None = None,
    ) -> None:
        """`endpoint` is the service's embeddings endpoint; the batch and file URLs are derived from it."""
        self._endpoint = endpoint
        self._dimensions = dimensions
        self._pace = pace
        self._address = endpoint.url.removesuffix(_EMBEDDINGS)
        self._upstream = Upstream(
            endpoint,
            timeout_seconds=max(FILE_SECONDS, pace.timeout_seconds),
            retries=pace.retries,
            concurrency=1,
            breaker=breaker,
            chance=chance,
        )

    async def upload(self, name: str, texts: Mapping[str, str]) -> str:
        """Upload the texts, given by id, as a file of this name; return the id of the file."""
        lines = [self._line(own_id, text) for own_id, text in texts.items()]
        content, content_type = _form({"purpose": "batch"}, f"{name}.jsonl", b"\n".join(lines) + b"\n")
        return await self._ask(ServiceRequest("POST", f"{self._address}/files", content, content_type), _id_in)

    async def find_file(self, name: str) -> str | None:
        """Return the id of the file uploaded under this name, in case the response of the upload was lost."""

        def ours(answer: Any) -> str | None:
            return next((_id_in(one) for one in answer["data"] if one.get("filename") == f"{name}.jsonl"), None)

        return await self._ask(ServiceRequest("GET", f"{self._address}/files?purpose=batch"), ours)

    async def start(self, file_id: str) -> ProviderBatch:
        """Start a batch for an uploaded file. Never retried, as a second batch would be paid too; see `find_batch`."""
        asked = {"input_file_id": file_id, "endpoint": "/v1/embeddings", "completion_window": "24h"}
        message = ServiceRequest("POST", f"{self._address}/batches", json.dumps(asked).encode())
        return await self._ask(message, _batch, retries=0)

    async def find_batch(self, file_id: str) -> ProviderBatch | None:
        """Return the batch of a file, in case the response of `start` was lost."""

        def ours(answer: Any) -> ProviderBatch | None:
            return next((batch for one in answer["data"] if (batch := _batch(one)).input_file_id == file_id), None)

        return await self._ask(ServiceRequest("GET", f"{self._address}/batches?limit={MAX_LISTED}"), ours)

    async def get(self, batch_id: str) -> ProviderBatch:
        """Return the current state of a batch."""
        return await self._ask(ServiceRequest("GET", f"{self._address}/batches/{quote(batch_id, safe='')}"), _batch)

    async def answers(self, batch: ProviderBatch) -> BatchAnswers:
        """Return the results of a batch that has ended."""
        vectors: dict[str, bytes] = {}
        refused: set[str] = set()
        for file_id in (batch.output_file_id, batch.error_file_id):
            if file_id:
                message = ServiceRequest("GET", f"{self._address}/files/{quote(file_id, safe='')}/content")
                found, never = await self._upstream.send(message, self._answers_in)
                vectors |= found
                refused |= never
        return BatchAnswers(vectors, frozenset(refused))

    async def remove(self, file_id: str) -> None:
        """Delete a file at the service."""
        await self._ask(
            ServiceRequest("DELETE", f"{self._address}/files/{quote(file_id, safe='')}"), lambda answer: None
        )

    async def close(self) -> None:
        await self._upstream.close()

    def _line(self, own_id: str, text: str) -> bytes:
        body = {**self._endpoint.fields, "input": text[: self._pace.max_characters]}
        return json.dumps({"custom_id": own_id, "method": "POST", "url": "/v1/embeddings", "body": body}).encode()

    def _answers_in(self, content: bytes) -> tuple[dict[str, bytes], set[str]]:
        vectors: dict[str, bytes] = {}
        refused: set[str] = set()
        for line in self._lines(content):
            try:
                own_id, answer = str(line["custom_id"]), cast(dict[str, Any], line.get("response") or {})
                status = int(answer.get("status_code") or 0)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise self._broken() from error
            if status == 200:
                (vectors[own_id],) = vectors_in(answer.get("body"), 1, self._dimensions, self._endpoint.label)
            elif status in _REJECTED_STATUS:
                refused.add(own_id)
        return vectors, refused

    def _lines(self, content: bytes) -> Iterator[Any]:
        for line in content.splitlines():
            if line.strip():
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise self._broken() from error

    async def _ask(self, message: ServiceRequest, read: Callable[[Any], T], *, retries: int | None = None) -> T:
        def parse(content: bytes) -> T:
            try:
                return read(json.loads(content))
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
                raise self._broken() from error

        return await self._upstream.send(message, parse, retries=retries)

    def _broken(self) -> Exception:
        return unavailable(
            FailureReason.BROKEN_ANSWER,
            f"{self._endpoint.label} did not return a valid file or batch",
            hint="check that the service has a batch API, or set SCRUBJAY_CODE_BATCH_API to false",
        )


def _form(fields: Mapping[str, str], name: str, content: bytes) -> tuple[bytes, str]:
    """Return a multipart form with one file, and its content type."""
    boundary = uuid.uuid4().hex
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
        for field, value in fields.items()
    ]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    parts += [f"{head}Content-Type: application/jsonl\r\n\r\n".encode(), content, f"\r\n--{boundary}--\r\n".encode()]
    return b"".join(parts), f"multipart/form-data; boundary={boundary}"


def _id_in(answer: Any) -> str:
    return str(answer["id"])


def _batch(answer: Any) -> ProviderBatch:
    return ProviderBatch(
        id=str(answer["id"]),
        input_file_id=str(answer.get("input_file_id") or ""),
        status=str(answer["status"]),
        output_file_id=str(answer.get("output_file_id") or ""),
        error_file_id=str(answer.get("error_file_id") or ""),
        problem=_problem(answer.get("errors")),
    )


def _problem(errors: Any) -> str:
    try:
        return str(errors["data"][0]["message"])[:300]
    except (TypeError, LookupError):
        return ""
