"""Passing a request for a chat completion on to a language model's service, and its answer back as it comes."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

from scrubjay.core.errors import InvalidRequest, Misconfigured, ScrubjayError
from scrubjay.models.breaker import CircuitBreaker
from scrubjay.models.breakers import Breakers
from scrubjay.models.choices import CompletionChoice
from scrubjay.models.endpoint import Endpoint, find_key, web_address
from scrubjay.models.failures import Reason, unavailable
from scrubjay.models.sse import ServerEvent, events_of

if TYPE_CHECKING:
    import httpx2

# More than any model says at once, with pictures in it.
MAX_ANSWER_BYTES = 64 * 1024 * 1024
# How much of what a service says of its refusal is read, and how much of that is passed on.
_REFUSAL_BYTES = 64 * 1024
_SAID_CHARACTERS = 1_000
# After these the same words will be refused again: whoever asked must change them.
_CALLERS_FAULT = frozenset({400, 404, 409, 413, 415, 422})


def forwarder_for(
    choice: CompletionChoice, environment: Mapping[str, str], *, concurrency: int, breakers: Breakers | None = None
) -> "Forwarder | UnusableForwarder":
    """The service that is meant. Nothing is asked yet; a choice that cannot work is told to whoever asks."""
    try:
        key = find_key(choice.api_key, choice.api_key_env, environment)
        if key is None and choice.api_key_env is not None:
            raise Misconfigured(f"the language model needs a key, and {choice.api_key_env} is empty")
        url = f"{web_address(choice.base_url)}/chat/completions"
    except Misconfigured as problem:
        return UnusableForwarder(choice.model, problem)
    endpoint = Endpoint(provider=choice.model, url=url, fields={}, key=key)
    breaker = breakers.of("llm", endpoint.provider, endpoint.place) if breakers is not None else None
    return Forwarder(endpoint, choice, concurrency=concurrency, breaker=breaker)


class UnusableForwarder:
    """Satisfies what a `Forwarder` is asked for; always unavailable, and says why."""

    def __init__(self, model: str, problem: ScrubjayError) -> None:
        self.model = model
        self._problem = problem

    @asynccontextmanager
    async def open(self, body: Mapping[str, Any]) -> "AsyncGenerator[Forwarded]":
        raise unavailable(
            Reason.MISCONFIGURED, self._problem.message, hint=self._problem.hint or "look at the llm settings"
        )
        yield  # pyright: ignore[reportUnreachable] - what makes it a generator

    async def close(self) -> None:
        """Nothing to let go of."""


class Forwarder:
    """Asks one service once: who asks us tries again by themselves, as OpenAI's clients do."""

    def __init__(
        self,
        endpoint: Endpoint,
        choice: CompletionChoice,
        *,
        concurrency: int,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self.model = choice.model
        self._endpoint = endpoint
        self._seconds = choice.timeout_seconds
        self._slots = anyio.CapacityLimiter(concurrency)
        self._breaker = breaker or CircuitBreaker(endpoint.place)
        self._client: httpx2.AsyncClient | None = None

    @asynccontextmanager
    async def open(self, body: Mapping[str, Any]) -> "AsyncGenerator[Forwarded]":
        """The answer that begins to come. Leaving, also by being cancelled, ends the request at once.

        Raises `Unavailable` with a `Reason`, or `InvalidRequest` with the service's own `status`, `type`, `code` and
        `param` in its details when it refuses what is asked.
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
                yield Forwarded(response, self._endpoint, self._seconds)
            finally:
                await response.aclose()
        finally:
            self._slots.release()

    async def close(self) -> None:
        """Let go of connections. What is asked later opens them again."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _take_slot(self) -> None:
        with anyio.move_on_after(self._seconds) as scope:
            await self._slots.acquire()
        if scope.cancelled_caught:
            raise unavailable(
                Reason.PAUSED,
                f"{self._endpoint.place} has too much to do for us already",
                hint="try again later",
                retry_after_seconds=1,
            )

    async def _send(self, body: Mapping[str, Any]) -> "httpx2.Response":
        """The answer as soon as its status is known."""
        import httpx2

        endpoint = self._endpoint
        if self._client is None:
            # Every wait has a limit here. A proxy for the world is no way to a service of this machine.
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
            self._client = httpx2.AsyncClient(timeout=None, trust_env=not endpoint.is_here, limits=limits)
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
        """What an answer other than success means."""
        place, status = self._endpoint.place, response.status_code
        if status in (401, 403):  # what it says of the key may quote the key
            return unavailable(
                Reason.UNAUTHORIZED,
                f"{place} does not accept the key (HTTP {status})",
                hint="the operator must mend it",
            )
        said = await self._said(response)
        told = f"(HTTP {status})" + (f": {said['message']}" if said.get("message") else "")
        if status in _CALLERS_FAULT:
            kept = {name: said[name] for name in ("type", "code", "param") if isinstance(said.get(name), str)}
            message = str(said.get("message") or f"{place} refuses the request {told}")
            return InvalidRequest(message, details={"status": status, **kept})
        waits = _retry_after(response)
        if status == 429:
            return unavailable(
                Reason.RATE_LIMITED, f"{place} gets too many requests {told}", hint="try again later", **waits
            )
        if status < 400:
            return unavailable(
                Reason.BROKEN_ANSWER, f"{place} sends elsewhere {told}", hint="the operator must mend base_url"
            )
        return unavailable(Reason.FAILING, f"{place} fails {told}", hint="try again later", **waits)

    async def _said(self, response: "httpx2.Response") -> dict[str, Any]:
        """What the service says of its refusal, without the key."""
        try:
            content = await Forwarded(response, self._endpoint, self._seconds).whole(_REFUSAL_BYTES)
            error = json.loads(content)["error"]
            said = {"message": error} if isinstance(error, str) else dict(error)
        except (ValueError, TypeError, LookupError, RecursionError, ScrubjayError):
            return {}
        return {name: value[:_SAID_CHARACTERS] if isinstance(value, str) else value for name, value in said.items()}


class Forwarded:
    """An answer on its way."""

    def __init__(self, response: "httpx2.Response", endpoint: Endpoint, seconds: float) -> None:
        """`seconds` is how long the whole of it may take, or each piece when it comes in pieces."""
        self._response = response
        self._endpoint = endpoint
        self._seconds = seconds
        self._key = endpoint.key.get_secret_value().encode() if endpoint.key is not None else None

    @property
    def is_stream(self) -> bool:
        return self._response.headers.get("content-type", "").partition(";")[0].strip() == "text/event-stream"

    async def whole(self, max_bytes: int = MAX_ANSWER_BYTES) -> bytes:
        """All of it."""
        found = bytearray()
        deadline = anyio.current_time() + self._seconds
        async for piece in self._pieces(deadline):
            found += piece
            if len(found) > max_bytes:
                raise self.broken(f"answers with more than {max_bytes} bytes")
        return self._without_key(bytes(found))

    async def events(self) -> AsyncIterator[ServerEvent]:
        """Each event as soon as it is complete; the next one is not read before it is asked for."""
        async for event in events_of(self._pieces()):
            if event is None:
                raise self.broken("sends an event that has no end")
            yield event if self._key is None else event.map(self._without_key)

    def broken(self, what: str) -> ScrubjayError:
        """The error of an answer that is none."""
        return unavailable(Reason.BROKEN_ANSWER, f"{self._endpoint.place} {what}", hint="try again later")

    async def _pieces(self, deadline: float | None = None) -> AsyncIterator[bytes]:
        import httpx2

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


def _too_slow(endpoint: Endpoint, seconds: float) -> ScrubjayError:
    return unavailable(
        Reason.TIMEOUT, f"{endpoint.place} said nothing for {seconds:.3g} s", hint="try again, or raise timeout_seconds"
    )


def _unreachable(endpoint: Endpoint, error: Exception) -> ScrubjayError:
    return unavailable(
        Reason.UNREACHABLE,
        f"{endpoint.place} cannot be reached ({type(error).__name__})",
        hint="see whether the service is up",
    )


def _retry_after(response: "httpx2.Response") -> dict[str, float]:
    """The seconds that the service wants to be left alone, when it says so in seconds."""
    given = response.headers.get("retry-after", "").strip()
    return {"retry_after_seconds": float(given)} if given.isascii() and given.isdigit() and len(given) < 7 else {}
