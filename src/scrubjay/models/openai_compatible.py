"""Embeddings from any service that speaks OpenAI's protocol, in the cloud or on the next machine."""

import base64
import binascii
import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import anyio

from scrubjay.core.errors import ScrubjayError, Unavailable
from scrubjay.models.breaker import CircuitBreaker
from scrubjay.models.choices import Pace
from scrubjay.models.endpoint import Endpoint
from scrubjay.models.failures import Reason, unavailable
from scrubjay.models.http_client import Chance, Upstream


class OpenAICompatibleEmbedder:
    """Sends texts in batches, several at a time."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        model: str,
        dimensions: int,
        pace: Pace,
        breaker: CircuitBreaker | None = None,
        chance: Chance | None = None,
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
        wanted = [place for place, text in enumerate(texts) if text.strip()]
        size = self._pace.batch_size
        failures: list[ScrubjayError] = []

        async def fill(places: Sequence[int]) -> None:
            try:
                made = await self._embed([texts[place][: self._pace.max_characters] for place in places])
            except ScrubjayError as error:  # raised below: the task group would wrap it in a group of errors
                failures.append(error)
                tasks.cancel_scope.cancel()
            else:
                for place, vector in zip(places, made, strict=True):
                    vectors[place] = vector

        async with anyio.create_task_group() as tasks:
            for begin in range(0, len(wanted), size):
                tasks.start_soon(fill, wanted[begin : begin + size])
        if failures:
            raise failures[0]
        return vectors

    async def close(self) -> None:
        await self._upstream.close()

    async def _embed(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of one batch."""
        return await self._upstream.ask({"input": texts}, partial(self._vectors, count=len(texts)))

    def _vectors(self, content: bytes, count: int) -> list[bytes]:
        place = self._upstream.endpoint.place
        return vectors_in(_json_of(content, place), count, self.dimensions, place)


def _json_of(content: bytes, place: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _no_embeddings(place) from error


def vectors_in(answer: Any, count: int, dimensions: int, place: str) -> list[bytes]:
    """The vectors of an answer in the order of the texts, whatever order they came in."""
    import numpy as np

    try:
        entries: list[dict[str, Any]] = answer["data"]
        # Some services leave out an index of 0, or all of them.
        by_index = {int(entry.get("index", position)): entry for position, entry in enumerate(entries)}
        rows = [_numbers(by_index[index]["embedding"]) for index in range(count)]
        complete = len(entries) == count and all(row.ndim == 1 and bool(np.isfinite(row).all()) for row in rows)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError) as error:
        raise _no_embeddings(place) from error
    if not complete:
        raise unavailable(
            Reason.BROKEN_ANSWER, f"{place} does not answer with one vector a text", hint="try again later"
        )
    for row in rows:
        if len(row) != dimensions:
            raise unavailable(
                Reason.WRONG_DIMENSIONS,
                f"{place} answers with {len(row)} dimensions instead of {dimensions}",
                hint=f"set dimensions to {len(row)} if this is the right model",
                found=len(row),
                expected=dimensions,
            )
    return [_of_length_one(row) for row in rows]


def _no_embeddings(place: str) -> Unavailable:
    return unavailable(
        Reason.BROKEN_ANSWER,
        f"{place} answers with something else than embeddings",
        hint="see whether base_url is that of an OpenAI-compatible service",
    )


def _numbers(embedding: Any) -> Any:
    """The numbers of a vector, sent as a list or as the base64 of little-endian float32 values."""
    import numpy as np

    if isinstance(embedding, str):
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4").astype(np.float64)
        except binascii.Error as error:
            raise ValueError("not base64") from error
    return np.array(embedding, np.float64)


def _of_length_one(row: Any) -> bytes:
    import numpy as np

    length = float(np.linalg.norm(row))
    return (row / length).astype("<f2").tobytes() if length else b""
