"""Proxy chat completion requests to a language model's service, and stream the response back."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

from scrubjay.core.errors import InvalidRequest, Misconfigured, ScrubjayError
from scrubjay.core.lazy import lazy_module
from scrubjay.models.breaker import CircuitBreaker
from scrubjay.models.breakers import BreakerRegistry
from scrubjay.models.choices import CompletionChoice
from scrubjay.models.endpoint import ServiceEndpoint, find_key, web_address
from scrubjay.models.failures import FailureReason, unavailable
from scrubjay.models.sse import ServerEvent, events_of

if TYPE_CHECKING:
    import httpx2
else:
    httpx2 = lazy_module("httpx2")

# Larger than any response of a model, including images.
MAX_ANSWER_BYTES = 64 * 1024 * 1024
# Bytes read of an error response, and characters passed on of its message.
_REFUSAL_BYTES = 64 * 1024
_MAX_ERROR_CHARACTERS = 1_000
# Errors in the request itself: a retry would fail again.
_CLIENT_ERRORS = frozenset({400, 404, 409, 413, 415, 422})


def chat_proxy_for(
    choice: CompletionChoice,
    environment: Mapping[str, str],
    *,
    concurrency: int,
    breakers: BreakerRegistry | None = None,
) -> "ChatProxy | UnusableChatProxy":
    """Return the proxy of the chosen service. Sends nothing; a choice that cannot work gives an unusable proxy."""
    try:
        key = find_key(choice.api_key, choice.api_key_env, environment)
        if key is None and choice.api_key_env is not None:
            raise Misconfigured(f"the language model needs a key, and {choice.api_key_env} is empty")
        url = f"{web_address(choice.base_url)}/chat/completions"
    except Misconfigured as problem:
        return UnusableChatProxy(choice.model, problem)
    endpoint = ServiceEndpoint(provider=choice.model, url=url, fields={}, key=key)
    breaker = breakers.of("llm", endpoint.provider, endpoint.label) if breakers is not None else None
    return ChatProxy(endpoint, choice, concurrency=concurrency, breaker=breaker)


class UnusableChatProxy:
    """Stands in for a `ChatProxy` that cannot work; raises `Unavailable` with the reason."""

    def __init__(self, model: str, problem: ScrubjayError) -> None:
        self.model = model
        self._problem = problem

    @asynccontextmanager
    async def open(self, body: Mapping[str, Any]) -> "AsyncGenerator[ProxiedResponse]":
        raise unavailable(
            FailureReason.MISCONFIGURED, self._problem.message, hint=self._problem.hint or "check the llm settings"
        )
        yield  # pyright: ignore[reportUnreachable] - makes this function a generator

    async def close(self) -> None:
        """Do nothing: there is no connection."""


class ChatProxy:
    """Proxies to one service without retries: clients retry themselves, as OpenAI's do."""

    def __init__(
        self,
        endpoint: ServiceEndpoint,
        choice: CompletionChoice,
        *,
        concurrency: int,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self.model = choice.model
        self._endpoint = endpoint
        self._seconds = choice.timeout_seconds
        self._slots = anyio.CapacityLimiter(concurrency)
        self._breaker = breaker or CircuitBreaker(endpoint.label)
        self._client: httpx2.AsyncClient | None = None

    @asynccontextmanager
    async def open(self, body: Mapping[str, Any]) -> "AsyncGenerator[ProxiedResponse]":
        """Open the response; leaving the context, also by cancellation, closes the request at once.

        Raises `Unavailable` with a `FailureReason`, or `InvalidRequest` with the service's `status`, `type`, `code`
        and `param` in its details if the service rejects the request.
        """
        await self._take_slot()
        try:
            with self._breaker.attempt():
                response = await self._send(body)
                if response.status_code != 200:
                    try:
                        raise await self._refusal(response)
                    finally:
                        await response.aclose()
            try:
                yield ProxiedResponse(response, self._endpoint, self._seconds)
            finally:
                await response.aclose()
        finally:
            self._slots.release()

    async def close(self) -> None:
        """Close connections. Later requests open new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _take_slot(self) -> None:
        with anyio.move_on_after(self._seconds) as scope:
            await self._slots.acquire()
        if scope.cancelled_caught:
            raise unavailable(
                FailureReason.PAUSED,
                f"{self._endpoint.label} is busy with our other requests",
                hint="try again later",
                retry_after_seconds=1,
            )

    async def _send(self, body: Mapping[str, Any]) -> "httpx2.Response":
        """Send the request, and return the response once its status is known."""
        endpoint = self._endpoint
        if self._client is None:
            # Every wait below has its own limit. Environment proxies do not apply to services on this machine.
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
            self._client = httpx2.AsyncClient(timeout=None, trust_env=not endpoint.is_local, limits=limits)
        kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        headers = {**kinds, **endpoint.headers}
        request = self._client.build_request("POST", endpoint.url, content=json.dumps(body), headers=headers)
        try:
            with anyio.fail_after(self._seconds):
                return await self._client.send(request, stream=True)
        except TimeoutError as error:
            raise _too_slow(endpoint, self._seconds) from error
        except httpx2.HTTPError as error:
            raise _unreachable(endpoint, error) from error

    async def _refusal(self, response: "httpx2.Response") -> ScrubjayError:
        """Return the error for a response other than 200."""
        label, status = self._endpoint.label, response.status_code
        if status in (401, 403):  # the response text may quote the key, so it is not shown
            return unavailable(
                FailureReason.UNAUTHORIZED,
                f"{label} does not accept the key (HTTP {status})",
                hint="the operator must fix the key",
            )
        said = await self._said(response)
        reported = f"(HTTP {status})" + (f": {said['message']}" if said.get("message") else "")
        if status in _CLIENT_ERRORS:
            kept = {name: said[name] for name in ("type", "code", "param") if isinstance(said.get(name), str)}
            message = str(said.get("message") or f"{label} rejects the request {reported}")
            return InvalidRequest(message, details={"status": status, **kept})
        waits = _retry_after(response)
        if status == 429:
            return unavailable(
                FailureReason.RATE_LIMITED,
                f"{label} receives too many requests {reported}",
                hint="try again later",
                **waits,
            )
        if status < 400:
            return unavailable(
                FailureReason.BROKEN_ANSWER, f"{label} redirects {reported}", hint="the operator must fix base_url"
            )
        return unavailable(FailureReason.FAILING, f"{label} fails {reported}", hint="try again later", **waits)

    async def _said(self, response: "httpx2.Response") -> dict[str, Any]:
        """Return the fields of the error in the response, truncated."""
        try:
            content = await ProxiedResponse(response, self._endpoint, self._seconds).whole(_REFUSAL_BYTES)
            error = json.loads(content)["error"]
            said = {"message": error} if isinstance(error, str) else dict(error)
        except (ValueError, TypeError, LookupError, RecursionError, ScrubjayError):
            return {}
        return {
            name: value[:_MAX_ERROR_CHARACTERS] if isinstance(value, str) else value for name, value in said.items()
        }


class ProxiedResponse:
    """A response that is being received."""

    def __init__(self, response: "httpx2.Response", endpoint: ServiceEndpoint, seconds: float) -> None:
        """`seconds` is the time limit of the whole body, or of each chunk of a stream."""
        self._response = response
        self._endpoint = endpoint
        self._seconds = seconds
        self._key = endpoint.key.get_secret_value().encode() if endpoint.key is not None else None

    @property
    def is_stream(self) -> bool:
        return self._response.headers.get("content-type", "").partition(";")[0].strip() == "text/event-stream"

    async def whole(self, max_bytes: int = MAX_ANSWER_BYTES) -> bytes:
        """Return the complete body."""
        found = bytearray()
        deadline = anyio.current_time() + self._seconds
        async for piece in self._pieces(deadline):
            found += piece
            if len(found) > max_bytes:
                raise self.broken(f"sent more than {max_bytes} bytes")
        return self._without_key(bytes(found))

    async def events(self) -> AsyncIterator[ServerEvent]:
        """Yield each event as soon as it is complete; the next one is read on demand."""
        async for event in events_of(self._pieces()):
            if event is None:
                raise self.broken("sent an event that exceeds the size limit")
            yield event if self._key is None else event.map(self._without_key)

    def broken(self, what: str) -> ScrubjayError:
        """Return the error for an invalid response."""
        return unavailable(FailureReason.BROKEN_ANSWER, f"{self._endpoint.label} {what}", hint="try again later")

    async def _pieces(self, deadline: float | None = None) -> AsyncIterator[bytes]:
        pieces = self._response.aiter_bytes()
        while True:
            try:
                with anyio.fail_after(self._seconds if deadline is None else deadline - anyio.current_time()):
                    piece = await anext(pieces, None)
            except TimeoutError as error:
                raise _too_slow(self._endpoint, self._seconds) from error
            except httpx2.HTTPError as error:
                raise _unreachable(self._endpoint, error) from error
            if piece is None:
                return
            yield piece

    def _without_key(self, content: bytes) -> bytes:
        return content if self._key is None else content.replace(self._key, b"[key]")


def _too_slow(endpoint: ServiceEndpoint, seconds: float) -> ScrubjayError:
    return unavailable(
        FailureReason.TIMEOUT,
        f"{endpoint.label} sent nothing for {seconds:.3g} s",
        hint="try again, or raise timeout_seconds",
    )


def _unreachable(endpoint: ServiceEndpoint, error: Exception) -> ScrubjayError:
    return unavailable(
        FailureReason.UNREACHABLE,
        f"{endpoint.label} cannot be reached ({type(error).__name__})",
        hint="check that the service is running",
    )


def _retry_after(response: "httpx2.Response") -> dict[str, float]:
    """Return the Retry-After of the response as an error detail, if it is given in seconds."""
    given = response.headers.get("retry-after", "").strip()
    return {"retry_after_seconds": float(given)} if given.isascii() and given.isdigit() and len(given) < 7 else {}
