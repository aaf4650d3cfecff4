"""HTTP client for model services, with retries, a concurrency limit and a circuit breaker."""

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
from scrubjay.core.lazy import lazy_module
from scrubjay.models.breaker import CircuitBreaker
from scrubjay.models.endpoint import ServiceEndpoint
from scrubjay.models.failures import FailureReason, unavailable

if TYPE_CHECKING:
    import httpx2
else:
    httpx2 = lazy_module("httpx2")

# Exponential backoff with full jitter: waits of up to 0.5, 1, 2, … seconds.
FIRST_WAIT_SECONDS = 0.5
MAX_WAIT_SECONDS = 8.0
# A longer Retry-After is reported instead of waited for.
MAX_RETRY_AFTER_SECONDS = 30.0
# Characters passed on of a service's error message.
_MAX_ERROR_CHARACTERS = 300

_RETRYABLE = frozenset(
    {
        FailureReason.UNREACHABLE,
        FailureReason.TIMEOUT,
        FailureReason.RATE_LIMITED,
        FailureReason.FAILING,
        FailureReason.BROKEN_ANSWER,
    }
)

T = TypeVar("T")

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryTiming:
    """Clock, sleep and jitter of retries, so that tests can control them."""

    clock: Clock = system_clock
    sleep: Sleep = anyio.sleep
    random: Callable[[], float] = random.random
    """Returns a number in [0, 1)."""


class ServiceRequest(NamedTuple):
    """A request to a service."""

    method: str
    url: str
    content: bytes = b""
    content_type: str = "application/json"


class Upstream:
    """A service with a JSON API."""

    def __init__(
        self,
        endpoint: ServiceEndpoint,
        *,
        timeout_seconds: float,
        retries: int,
        concurrency: int,
        breaker: CircuitBreaker | None = None,
        chance: RetryTiming | None = None,
    ) -> None:
        """`timeout_seconds` is the time limit of one request including its response."""
        self.endpoint = endpoint
        self._timeout_seconds = timeout_seconds
        self._retries = retries
        self._breaker = breaker or CircuitBreaker(endpoint.label)
        self._chance = chance or RetryTiming()
        self._slots = anyio.CapacityLimiter(concurrency)
        self._client: httpx2.AsyncClient | None = None

    async def ask(
        self, asked: Mapping[str, Any], read: Callable[[bytes], T], *, within_seconds: float | None = None
    ) -> T:
        """Post JSON to the endpoint's URL, and return the response parsed by `read`. See `send`."""
        body = json.dumps({**self.endpoint.fields, **asked}).encode()
        return await self.send(ServiceRequest("POST", self.endpoint.url, body), read, within_seconds=within_seconds)

    async def send(
        self,
        message: ServiceRequest,
        read: Callable[[bytes], T],
        *,
        within_seconds: float | None = None,
        retries: int | None = None,
    ) -> T:
        """Send a request with retries, and return the response parsed by `read` in a worker thread.

        `within_seconds` limits all attempts and waits together. `read` raises `Unavailable` for an invalid response.
        """
        deadline = float("inf") if within_seconds is None else anyio.current_time() + within_seconds
        max_retries = self._retries if retries is None else retries
        tries = 0
        while True:
            try:
                return await self._try(message, read, deadline)
            except Unavailable as error:
                tries += 1
                asked_to_wait = error.details.get("retry_after_seconds") or 0.0
                longest = min(MAX_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (tries - 1))
                wait = asked_to_wait + longest * self._chance.random()
                not_retryable = error.details["reason"] not in _RETRYABLE or asked_to_wait > MAX_RETRY_AFTER_SECONDS
                if not_retryable or tries > max_retries or anyio.current_time() + wait >= deadline:
                    raise
                await self._chance.sleep(wait)

    async def close(self) -> None:
        """Close connections. Later requests open new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _try(self, message: ServiceRequest, read: Callable[[bytes], T], deadline: float) -> T:
        await self._take_slot(deadline)
        try:
            # If rejected at once, the second of several batches would cancel the first, which probes the service.
            with anyio.CancelScope(deadline=deadline):
                await self._breaker.wait_for_trial()
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
                FailureReason.TIMEOUT,
                f"{self.endpoint.label} is busy with our other requests",
                hint="try again later, or raise concurrency",
            )

    async def _request(self, message: ServiceRequest, deadline: float) -> bytes:
        """Send one request, and return the content of the response."""
        endpoint = self.endpoint
        if self._client is None:
            # The whole request has a limit below. Environment proxies do not apply to services on this machine.
            self._client = httpx2.AsyncClient(timeout=None, trust_env=not endpoint.is_local)
        headers = {**({"Content-Type": message.content_type} if message.content else {}), **endpoint.headers}
        seconds = max(0.0, min(self._timeout_seconds, deadline - anyio.current_time()))
        try:
            with anyio.fail_after(seconds):
                response = await self._client.request(
                    message.method, message.url, content=message.content, headers=headers
                )
        except TimeoutError as error:
            raise unavailable(
                FailureReason.TIMEOUT,
                f"{endpoint.label} did not answer within {seconds:.3g} s",
                hint="check that the service is running, or raise timeout_seconds",
            ) from error
        except httpx2.HTTPError as error:
            raise unavailable(
                FailureReason.UNREACHABLE,
                f"{endpoint.label} cannot be reached ({type(error).__name__})",
                hint="check that the service is running and that base_url is right",
            ) from error
        if response.status_code not in (200, 201):
            raise self._refusal(response)
        return response.content

    def _refusal(self, response: "httpx2.Response") -> ScrubjayError:
        """Return the error for an unsuccessful response."""
        label, status = self.endpoint.label, response.status_code
        if status in (401, 403):  # the response text may quote the key, so it is not shown
            return unavailable(
                FailureReason.UNAUTHORIZED,
                f"{label} does not accept the key (HTTP {status})",
                hint=self.endpoint.key_hint,
            )
        reported = f"(HTTP {status}){self._error_text(response)}"
        if status == 404:
            return unavailable(
                FailureReason.NOT_FOUND,
                f"{label} does not have this resource {reported}",
                hint=self.endpoint.not_found_hint,
            )
        if status == 429:
            return unavailable(
                FailureReason.RATE_LIMITED,
                f"{label} receives too many requests {reported}",
                hint="lower concurrency, or check the quota of the account",
                **self._retry_after(response),
            )
        if status in (408, 425) or status >= 500:
            return unavailable(
                FailureReason.FAILING,
                f"{label} fails {reported}",
                hint="try again later",
                **self._retry_after(response),
            )
        if status < 400:
            return unavailable(
                FailureReason.BROKEN_ANSWER,
                f"{label} redirects {reported}",
                hint="set base_url to the final address",
            )
        return InvalidRequest(f"{label} rejects the request {reported}", hint=self.endpoint.refused_hint)

    def _error_text(self, response: "httpx2.Response") -> str:
        """Return the service's error message with the key masked, after a colon; empty if there is none."""
        try:
            error = response.json()["error"]
            text = str(error if isinstance(error, str) else error["message"])
        except (ValueError, TypeError, LookupError):
            return ""
        if self.endpoint.key is not None:
            text = text.replace(self.endpoint.key.get_secret_value(), "[key]")
        return f": {text[:_MAX_ERROR_CHARACTERS]}" if text else ""

    def _retry_after(self, response: "httpx2.Response") -> dict[str, float]:
        """Return the Retry-After of the response as an error detail: given in seconds, milliseconds or as a date."""
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
