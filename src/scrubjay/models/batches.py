"""Embeddings that a service makes when it has time, for less money: files of requests, batches, files of answers."""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import quote

from scrubjay.models.breaker import CircuitBreaker
from scrubjay.models.choices import Pace
from scrubjay.models.endpoint import Endpoint
from scrubjay.models.failures import Reason, unavailable
from scrubjay.models.http_client import Chance, Message, Upstream
from scrubjay.models.openai_compatible import vectors_in

T = TypeVar("T")

# A file of thousands of texts takes longer than a few texts do.
FILE_SECONDS = 120.0
# So many of the newest batches are looked through for one of ours.
NEWEST = 100
_EMBEDDINGS = "/embeddings"
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
# What a service says of a text that it will never take.
_REFUSED = frozenset({400, 413, 422})


class Batch(NamedTuple):
    """A batch as the service tells of it."""

    id: str
    input_file_id: str
    status: str
    output_file_id: str = ""
    """The answers; also of a batch that expired, as far as it got."""
    error_file_id: str = ""
    problem: str = ""

    @property
    def ended(self) -> bool:
        return self.status in _ENDED


class BatchAnswers(NamedTuple):
    """What came of the texts of a batch, by the ids that they were sent under."""

    vectors: Mapping[str, bytes]
    refused: frozenset[str]


class EmbeddingBatches:
    """One service's batches of embeddings."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        dimensions: int,
        pace: Pace,
        breaker: CircuitBreaker | None = None,
        chance: Chance | None = None,
    ) -> None:
        """The endpoint is the one that embeds at once; files and batches are beside it."""
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
        """Send the texts, by ids of our choosing, as a file of this name; the id that it has there."""
        lines = [self._line(own_id, text) for own_id, text in texts.items()]
        content, content_type = _form({"purpose": "batch"}, f"{name}.jsonl", b"\n".join(lines) + b"\n")
        return await self._ask(Message("POST", f"{self._address}/files", content, content_type), _id_in)

    async def uploaded(self, name: str) -> str | None:
        """The id of a file that was uploaded by this name, when nobody heard the answer."""

        def ours(told: Any) -> str | None:
            return next((_id_in(one) for one in told["data"] if one.get("filename") == f"{name}.jsonl"), None)

        return await self._ask(Message("GET", f"{self._address}/files?purpose=batch"), ours)

    async def begin(self, file_id: str) -> Batch:
        """Have an uploaded file done within a day. It is tried once: done twice, it is paid twice. See `begun`."""
        asked = {"input_file_id": file_id, "endpoint": "/v1/embeddings", "completion_window": "24h"}
        message = Message("POST", f"{self._address}/batches", json.dumps(asked).encode())
        return await self._ask(message, _batch, retries=0)

    async def begun(self, file_id: str) -> Batch | None:
        """The batch that was begun of a file, when nobody heard the answer."""

        def ours(told: Any) -> Batch | None:
            return next((batch for one in told["data"] if (batch := _batch(one)).input_file_id == file_id), None)

        return await self._ask(Message("GET", f"{self._address}/batches?limit={NEWEST}"), ours)

    async def look(self, batch_id: str) -> Batch:
        """The batch as it is now."""
        return await self._ask(Message("GET", f"{self._address}/batches/{quote(batch_id, safe='')}"), _batch)

    async def answers(self, batch: Batch) -> BatchAnswers:
        """What came of a batch that has ended."""
        vectors: dict[str, bytes] = {}
        refused: set[str] = set()
        for file_id in (batch.output_file_id, batch.error_file_id):
            if file_id:
                message = Message("GET", f"{self._address}/files/{quote(file_id, safe='')}/content")
                found, never = await self._upstream.send(message, self._answers_in)
                vectors |= found
                refused |= never
        return BatchAnswers(vectors, frozenset(refused))

    async def remove(self, file_id: str) -> None:
        """Have the service forget a file."""
        await self._ask(Message("DELETE", f"{self._address}/files/{quote(file_id, safe='')}"), lambda told: None)

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
                (vectors[own_id],) = vectors_in(answer.get("body"), 1, self._dimensions, self._endpoint.place)
            elif status in _REFUSED:
                refused.add(own_id)
        return vectors, refused

    def _lines(self, content: bytes) -> Iterator[Any]:
        for line in content.splitlines():
            if line.strip():
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise self._broken() from error

    async def _ask(self, message: Message, read: Callable[[Any], T], *, retries: int | None = None) -> T:
        def told(content: bytes) -> T:
            try:
                return read(json.loads(content))
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
                raise self._broken() from error

        return await self._upstream.send(message, told, retries=retries)

    def _broken(self) -> Exception:
        return unavailable(
            Reason.BROKEN_ANSWER,
            f"{self._endpoint.place} answers with something else than files and batches",
            hint="see whether the service offers batches, or set SCRUBJAY_CODE_BATCH_API to false",
        )


def _form(fields: Mapping[str, str], name: str, content: bytes) -> tuple[bytes, str]:
    """A form with one file, and its type."""
    boundary = uuid.uuid4().hex
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
        for field, value in fields.items()
    ]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    parts += [f"{head}Content-Type: application/jsonl\r\n\r\n".encode(), content, f"\r\n--{boundary}--\r\n".encode()]
    return b"".join(parts), f"multipart/form-data; boundary={boundary}"


def _id_in(told: Any) -> str:
    return str(told["id"])


def _batch(told: Any) -> Batch:
    return Batch(
        id=str(told["id"]),
        input_file_id=str(told.get("input_file_id") or ""),
        status=str(told["status"]),
        output_file_id=str(told.get("output_file_id") or ""),
        error_file_id=str(told.get("error_file_id") or ""),
        problem=_problem(told.get("errors")),
    )


def _problem(errors: Any) -> str:
    try:
        return str(errors["data"][0]["message"])[:300]
    except (TypeError, LookupError):
        return ""
