"""Embeddings from any service with an OpenAI-compatible API, in the cloud or local."""

import base64
import binascii
import json
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from scrubjay.core.errors import ScrubjayError, Unavailable
from scrubjay.core.lazy import lazy_module
from scrubjay.models.breaker import CircuitBreaker
from scrubjay.models.choices import Pace
from scrubjay.models.endpoint import ServiceEndpoint
from scrubjay.models.failures import FailureReason, unavailable
from scrubjay.models.http_client import RetryTiming, Upstream

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")


class OpenAICompatibleEmbedder:
    """Sends texts in batches, several at a time."""

    def __init__(
        self,
        endpoint: ServiceEndpoint,
        *,
        model: str,
        dimensions: int,
        pace: Pace,
        breaker: CircuitBreaker | None = None,
        chance: RetryTiming | None = None,
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self._pace = pace
        self._upstream = Upstream(
            endpoint,
            timeout_seconds=pace.timeout_seconds,
            retries=pace.retries,
            concurrency=pace.concurrency,
            breaker=breaker,
            chance=chance,
        )

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        vectors = [b""] * len(texts)
        wanted = [index for index, text in enumerate(texts) if text.strip()]
        size = self._pace.batch_size
        failures: list[ScrubjayError] = []

        async def fill(indexes: Sequence[int]) -> None:
            try:
                batch = await self._embed([texts[index][: self._pace.max_characters] for index in indexes])
            except ScrubjayError as error:  # raised below: the task group would wrap it in a group of errors
                failures.append(error)
                tasks.cancel_scope.cancel()
            else:
                for index, vector in zip(indexes, batch, strict=True):
                    vectors[index] = vector

        async with anyio.create_task_group() as tasks:
            for begin in range(0, len(wanted), size):
                tasks.start_soon(fill, wanted[begin : begin + size])
        if failures:
            raise failures[0]
        return vectors

    async def close(self) -> None:
        await self._upstream.close()

    async def _embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of one batch."""
        return await self._upstream.ask({"input": texts}, partial(self._vectors, count=len(texts)))

    def _vectors(self, content: bytes, count: int) -> list[bytes]:
        label = self._upstream.endpoint.label
        return vectors_in(_json_of(content, label), count, self.dimensions, label)


def _json_of(content: bytes, label: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _no_embeddings(label) from error


def vectors_in(answer: Any, count: int, dimensions: int, label: str) -> list[bytes]:
    """Return the vectors of a response in the order of the texts, whatever their order in the response."""
    try:
        entries: list[dict[str, Any]] = answer["data"]
        # Some services omit an index of 0, or all indexes.
        by_index = {int(entry.get("index", position)): entry for position, entry in enumerate(entries)}
        rows = [_numbers(by_index[index]["embedding"]) for index in range(count)]
        complete = len(entries) == count and all(row.ndim == 1 and bool(np.isfinite(row).all()) for row in rows)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError) as error:
        raise _no_embeddings(label) from error
    if not complete:
        raise unavailable(
            FailureReason.BROKEN_ANSWER, f"{label} did not return one vector per text", hint="try again later"
        )
    for row in rows:
        if len(row) != dimensions:
            raise unavailable(
                FailureReason.WRONG_DIMENSIONS,
                f"{label} returned {len(row)} dimensions instead of {dimensions}",
                hint=f"set dimensions to {len(row)} if this is the right model",
                found=len(row),
                expected=dimensions,
            )
    return [_of_length_one(row) for row in rows]


def _no_embeddings(label: str) -> Unavailable:
    return unavailable(
        FailureReason.BROKEN_ANSWER,
        f"{label} did not return embeddings",
        hint="check that base_url is an OpenAI-compatible service",
    )


def _numbers(embedding: Any) -> Any:
    """Return the numbers of a vector, sent as a list or as base64 of little-endian float32 values."""
    if isinstance(embedding, str):
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4").astype(np.float64)
        except binascii.Error as error:
            raise ValueError("not base64") from error
    return np.array(embedding, np.float64)


def _of_length_one(row: Any) -> bytes:
    length = float(np.linalg.norm(row))
    return (row / length).astype("<f2").tobytes() if length else b""
