"""Asking a service over HTTP: what may work is tried again, and what keeps failing is left alone."""

import email.utils
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import anyio
import anyio.to_thread

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import InvalidRequest, ScrubjayError, Unavailable
from scrubjay.models.breaker import CircuitBreaker
from scrubjay.models.endpoint import Endpoint
from scrubjay.models.failures import Reason, unavailable

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

T = TypeVar("T")

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """Time and luck, so that tests can decide them."""

    clock: Clock = system_clock
    sleep: Sleep = anyio.sleep
    random: Callable[[], float] = random.random
    """At least 0, less than 1."""


class Message(NamedTuple):
    """One request to a service."""

    method: str
    url: str
    content: bytes = b""
    content_type: str = "application/json"


class Upstream:
    """One service that takes JSON and answers with it."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout_seconds: float,
        retries: int,
        concurrency: int,
        breaker: CircuitBreaker | None = None,
        chance: Chance | None = None,
    ) -> None:
        """`timeout_seconds` is for one request, from its first byte to the last of its answer."""
        self.endpoint = endpoint
        self._timeout_seconds = timeout_seconds
        self._retries = retries
        self._breaker = breaker or CircuitBreaker(endpoint.place)
        self._chance = chance or Chance()
        self._slots = anyio.CapacityLimiter(concurrency)
        self._client: httpx2.AsyncClient | None = None

    async def ask(
        self, asked: Mapping[str, Any], read: Callable[[bytes], T], *, within_seconds: float | None = None
    ) -> T:
        """What `read` makes of the answer to what is asked at the endpoint's own address. See `send`."""
        body = json.dumps({**self.endpoint.fields, **asked}).encode()
        return await self.send(Message("POST", self.endpoint.url, body), read, within_seconds=within_seconds)

    async def send(
        self,
        message: Message,
        read: Callable[[bytes], T],
        *,
        within_seconds: float | None = None,
        retries: int | None = None,
    ) -> T:
        """What `read` makes of the answer, on another thread, after as many tries as it takes or as are allowed.

        `within_seconds` is for all tries and the waits between them. `read` raises `Unavailable` for a broken answer.
        """
        deadline = float("inf") if within_seconds is None else anyio.current_time() + within_seconds
        most = self._retries if retries is None else retries
        tries = 0
        while True:
            try:
                return await self._try(message, read, deadline)
            except Unavailable as error:
                tries += 1
                asked_to_wait = error.details.get("retry_after_seconds") or 0.0
                longest = min(MAX_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (tries - 1))
                wait = asked_to_wait + longest * self._chance.random()
                hopeless = error.details["reason"] not in _WORTH_ANOTHER_TRY or asked_to_wait > MAX_RETRY_AFTER_SECONDS
                if hopeless or tries > most or anyio.current_time() + wait >= deadline:
                    raise
                await self._chance.sleep(wait)

    async def close(self) -> None:
        """Let go of connections. What is asked later opens them again."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _try(self, message: Message, read: Callable[[bytes], T], deadline: float) -> T:
        await self._take_slot(deadline)
        try:
            # Refused at once, the second of several batches would end the first, which tries the service.
            with anyio.CancelScope(deadline=deadline):
                await self._breaker.no_trial()
            with self._breaker.attempt():
                content = await self._request(message, deadline)
                return await anyio.to_thread.run_sync(read, content)
        finally:
            self._slots.release()

    async def _take_slot(self, deadline: float) -> None:
        with anyio.CancelScope(deadline=deadline) as scope:
            await self._slots.acquire()
        if scope.cancelled_caught:
            raise unavailable(
                Reason.TIMEOUT,
                f"{self.endpoint.place} has too much to do for us already",
                hint="try again later, or raise concurrency",
            )

    async def _request(self, message: Message, deadline: float) -> bytes:
        """One request and the answer's content."""
        import httpx2

        endpoint = self.endpoint
        if self._client is None:
            # The whole request has a limit below. A proxy for the world is no way to a service of this machine.
            self._client = httpx2.AsyncClient(timeout=None, trust_env=not endpoint.is_here)
        headers = {**({"Content-Type": message.content_type} if message.content else {}), **endpoint.headers}
        seconds = max(0.0, min(self._timeout_seconds, deadline - anyio.current_time()))
        try:
            with anyio.fail_after(seconds):
                response = await self._client.request(
                    message.method, message.url, content=message.content, headers=headers
                )
        except TimeoutError as error:
            raise unavailable(
                Reason.TIMEOUT,
                f"{endpoint.place} did not answer within {seconds:.3g} s",
                hint="see whether the service is up, or raise timeout_seconds",
            ) from error
        except httpx2.HTTPError as error:
            raise unavailable(
                Reason.UNREACHABLE,
                f"{endpoint.place} cannot be reached ({type(error).__name__})",
                hint="see whether the service is up and base_url is right",
            ) from error
        if response.status_code not in (200, 201):
            raise self._refusal(response)
        return response.content

    def _refusal(self, response: "httpx2.Response") -> ScrubjayError:
        """What an answer other than success means."""
        place, status = self.endpoint.place, response.status_code
        if status in (401, 403):  # what it says of the key may quote the key
            return unavailable(
                Reason.UNAUTHORIZED, f"{place} does not accept the key (HTTP {status})", hint=self.endpoint.key_hint
            )
        said = f"(HTTP {status}){self._said(response)}"
        if status == 404:
            return unavailable(
                Reason.NOT_FOUND, f"{place} does not know this {said}", hint=self.endpoint.not_found_hint
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
        return InvalidRequest(f"{place} refuses the request {said}", hint=self.endpoint.refused_hint)

    def _said(self, response: "httpx2.Response") -> str:
        """What the service says of it, without the key."""
        try:
            error = response.json()["error"]
            said = str(error if isinstance(error, str) else error["message"])
        except (ValueError, TypeError, LookupError):
            return ""
        if self.endpoint.key is not None:
            said = said.replace(self.endpoint.key.get_secret_value(), "[key]")
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
