"""Embeddings from any service that speaks OpenAI's protocol, in the cloud or on the next machine."""

import base64
import binascii
import email.utils
import json
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from pydantic import SecretStr

from recollect.domain.clock import Clock, system_clock
from recollect.domain.errors import InvalidRequest, RecollectError, Unavailable
from recollect.inference.breaker import CircuitBreaker
from recollect.inference.choices import Pace
from recollect.inference.failures import Reason, unavailable

if TYPE_CHECKING:
    import httpx2

# Waits between tries: up to half a second, one, two, … seconds, chosen at random so that many clients spread out.
FIRST_WAIT_SECONDS = 0.5
MAX_WAIT_SECONDS = 8.0
# A service that wants us to stay away for longer is reported instead of waited for.
MAX_RETRY_AFTER_SECONDS = 30.0
# How much of what a service says of its refusal is passed on.
_SAID_CHARACTERS = 300

_WORTH_ANOTHER_TRY = frozenset(
    {Reason.UNREACHABLE, Reason.TIMEOUT, Reason.RATE_LIMITED, Reason.FAILING, Reason.BROKEN_ANSWER}
)

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a service is, and what it wants to be sent."""

    provider: str
    url: str
    """The whole address that requests go to."""
    fields: Mapping[str, Any]
    """What each request holds beside the texts."""
    key: SecretStr | None = None
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    key_hint: str = "set its API key"
    not_found_hint: str = "check the model's name and the base_url"

    @property
    def place(self) -> str:
        """The service by name and host: an address may hold secrets in its other parts."""
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{self.provider} at {parts.hostname}{port}"

    @property
    def is_here(self) -> bool:
        """Whether the service runs on this machine."""
        return urlsplit(self.url).hostname in ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """Time and luck, so that tests can decide them."""

    clock: Clock = system_clock
    sleep: Sleep = anyio.sleep
    random: Callable[[], float] = random.random
    """At least 0, less than 1."""


class OpenAICompatibleEmbedder:
    """Sends texts in batches, several at a time; tries again what may work, and leaves alone what keeps failing."""

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
        self._endpoint = endpoint
        self._pace = pace
        self._breaker = breaker or CircuitBreaker(endpoint.place)
        self._chance = chance or Chance()
        self._slots = anyio.CapacityLimiter(pace.concurrency)
        self._client: httpx2.AsyncClient | None = None

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        vectors = [b""] * len(texts)
        wanted = [place for place, text in enumerate(texts) if text.strip()]
        size = self._pace.batch_size
        failures: list[RecollectError] = []

        async def fill(places: Sequence[int]) -> None:
            try:
                made = await self._embed([texts[place][: self._pace.max_characters] for place in places])
            except RecollectError as error:  # raised below: the task group would wrap it in a group of errors
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
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _embed(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of one batch, after as many tries as it takes or as are allowed."""
        tries = 0
        while True:
            try:
                async with self._slots:
                    with self._breaker.attempt():
                        content = await self._request(texts)
                        return await anyio.to_thread.run_sync(self._vectors, content, len(texts))
            except Unavailable as error:
                tries += 1
                asked = error.details.get("retry_after_seconds")
                hopeless = error.details["reason"] not in _WORTH_ANOTHER_TRY or (asked or 0) > MAX_RETRY_AFTER_SECONDS
                if hopeless or tries > self._pace.retries:
                    raise
            longest = min(MAX_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (tries - 1))
            await self._chance.sleep((asked or 0.0) + longest * self._chance.random())

    async def _request(self, texts: Sequence[str]) -> bytes:
        """One request and the answer's content."""
        import httpx2

        endpoint = self._endpoint
        if self._client is None:
            # The whole request has a limit below. A proxy for the world is no way to a service of this machine.
            self._client = httpx2.AsyncClient(timeout=None, trust_env=not endpoint.is_here)
        headers = {"Content-Type": "application/json"}
        if endpoint.key is not None:
            headers[endpoint.key_header] = endpoint.key_prefix + endpoint.key.get_secret_value()
        body = json.dumps({**endpoint.fields, "input": texts}).encode()
        try:
            with anyio.fail_after(self._pace.timeout_seconds):
                response = await self._client.post(endpoint.url, content=body, headers=headers)
        except TimeoutError as error:
            raise unavailable(
                Reason.TIMEOUT,
                f"{endpoint.place} did not answer within {self._pace.timeout_seconds:g} s",
                hint="see whether the service is up, or raise timeout_seconds",
            ) from error
        except httpx2.HTTPError as error:
            raise unavailable(
                Reason.UNREACHABLE,
                f"{endpoint.place} cannot be reached ({type(error).__name__})",
                hint="see whether the service is up and base_url is right",
            ) from error
        if response.status_code != 200:
            raise self._refusal(response)
        return response.content

    def _refusal(self, response: "httpx2.Response") -> RecollectError:
        """What an answer other than success means."""
        place, status = self._endpoint.place, response.status_code
        if status in (401, 403):  # what it says of the key may quote the key
            return unavailable(
                Reason.UNAUTHORIZED, f"{place} does not accept the key (HTTP {status})", hint=self._endpoint.key_hint
            )
        said = f"(HTTP {status}){self._said(response)}"
        if status == 404:
            return unavailable(
                Reason.NOT_FOUND, f"{place} does not know this {said}", hint=self._endpoint.not_found_hint
            )
        if status == 429:
            return unavailable(
                Reason.RATE_LIMITED,
                f"{place} gets too many requests {said}",
                hint="lower concurrency, or see what the account may use",
                **self._retry_after(response),
            )
        if status in (408, 425) or status >= 500:
            return unavailable(
                Reason.FAILING, f"{place} fails {said}", hint="try again later", **self._retry_after(response)
            )
        if status < 400:
            return unavailable(
                Reason.BROKEN_ANSWER, f"{place} sends elsewhere {said}", hint="give the address that answers itself"
            )
        return InvalidRequest(
            f"{place} refuses the request {said}",
            hint="check model and dimensions; for texts that are too long lower max_characters",
        )

    def _said(self, response: "httpx2.Response") -> str:
        """What the service says of it, without the key."""
        try:
            error = response.json()["error"]
            said = str(error if isinstance(error, str) else error["message"])
        except (ValueError, TypeError, LookupError):
            return ""
        if self._endpoint.key is not None:
            said = said.replace(self._endpoint.key.get_secret_value(), "[key]")
        return f": {said[:_SAID_CHARACTERS]}" if said else ""

    def _retry_after(self, response: "httpx2.Response") -> dict[str, float]:
        """How long the service wants to be left alone, when it says so: seconds, milliseconds or a date."""
        headers = response.headers
        given = headers.get("retry-after", "")
        try:
            if "retry-after-ms" in headers:
                seconds = float(headers["retry-after-ms"]) / 1000
            elif given.strip().replace(".", "", 1).isdigit():
                seconds = float(given)
            else:
                seconds = (email.utils.parsedate_to_datetime(given) - self._chance.clock()).total_seconds()
        except (ValueError, TypeError):
            return {}
        return {"retry_after_seconds": max(0.0, seconds)}

    def _vectors(self, content: bytes, count: int) -> list[bytes]:
        """The vectors of an answer in the order of the texts, whatever order they came in."""
        import numpy as np

        place = self._endpoint.place
        try:
            entries: list[dict[str, Any]] = json.loads(content)["data"]
            # Some services leave out an index of 0, or all of them.
            by_index = {int(entry.get("index", position)): entry for position, entry in enumerate(entries)}
            rows = [_numbers(by_index[index]["embedding"]) for index in range(count)]
            complete = len(entries) == count and all(row.ndim == 1 and bool(np.isfinite(row).all()) for row in rows)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError) as error:
            raise unavailable(
                Reason.BROKEN_ANSWER,
                f"{place} answers with something else than embeddings",
                hint="see whether base_url is that of an OpenAI-compatible service",
            ) from error
        if not complete:
            raise unavailable(
                Reason.BROKEN_ANSWER, f"{place} does not answer with one vector a text", hint="try again later"
            )
        for row in rows:
            if len(row) != self.dimensions:
                raise unavailable(
                    Reason.WRONG_DIMENSIONS,
                    f"{place} answers with {len(row)} dimensions instead of {self.dimensions}",
                    hint=f"set dimensions to {len(row)} if this is the right model",
                    found=len(row),
                    expected=self.dimensions,
                )
        return [_of_length_one(row) for row in rows]


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
