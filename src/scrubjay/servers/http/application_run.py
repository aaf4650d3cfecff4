"""Run the application for one admitted request: within its time, while its key is valid, in its sender's share."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import anyio
from starlette.types import ASGIApp, Receive, Scope

from scrubjay.core.callers import Authenticator, Caller
from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import ScrubjayError
from scrubjay.core.request_context import RequestScope
from scrubjay.servers.http.admission import OPEN_PATHS
from scrubjay.servers.http.client_connection import connection_of
from scrubjay.servers.http.edge_response import EdgeResponse
from scrubjay.servers.http.errors import error_response, internal_error
from scrubjay.servers.http.load_limits import RunningRequest
from scrubjay.servers.http.places import Place, Places
from scrubjay.servers.http.refusals import RequestTimedOut
from scrubjay.servers.http.request_metadata import address_of, request_id_of, traceparent_of
from scrubjay.tooling.events import Requester, RequestFailed
from scrubjay.tooling.process_events import PROCESS_EVENTS
from scrubjay.tooling.security_events import security_event
from scrubjay.tooling.validation import printable

# Interval at which the key of an open stream is checked, also while the stream is idle.
KEY_CHECK_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class ApplicationLimits:
    """Limits that all requests share."""

    authenticator: Authenticator
    streams: Places
    """Places of open streams."""
    request_seconds: float | None
    """Maximum seconds until a response starts."""


class ApplicationRun:
    """One request in the application."""

    def __init__(
        self,
        limits: ApplicationLimits,
        scope: Scope,
        response: EdgeResponse,
        running: RunningRequest | None,
        senders: Sequence[str],
    ) -> None:
        self._limits = limits
        self._scope = scope
        self._response = response
        self._running = running
        self._senders = senders
        self._caller: Caller = scope["state"]["caller"]
        self._work = anyio.CancelScope(deadline=deadline_after(limits.request_seconds))
        self._problem: ScrubjayError | None = None
        self._stream_place: Place | None = None
        self._watching: asyncio.Task[None] | None = None

    async def run(self, app: ASGIApp, receive: Receive) -> ScrubjayError | None:
        """Run the application until its response has been read; return why it was stopped before its response."""
        response = self._response
        response.on_start = self._on_start
        if self._scope["path"] not in OPEN_PATHS:
            response.may_continue = self._may_continue
        try:
            with self._work:
                await self._run_application(app, receive)
            if not response.started and (self._problem is not None or self._work.cancelled_caught):
                return self._problem or self._timeout_error()
            if self._work.cancelled_caught:
                await response.end_body()
            await connection_of(self._scope).wait_until_read()
        finally:
            response.on_start = response.may_continue = None
            if self._stream_place is not None:
                self._stream_place.release()
        return None

    async def _run_application(self, app: ASGIApp, receive: Receive) -> None:
        scope, request_id = self._scope, request_id_of(self._scope)
        try:
            with RequestScope(request_id, traceparent_of(scope)):
                await app(scope, receive, self._response)
        except Exception as error:  # a bug: its message may quote the request, so only the location is logged
            PROCESS_EVENTS.publish(_request_failed(scope, error))
            if not self._response.started:
                await error_response(internal_error(error, request_id), request_id)(scope, receive, self._response)
        finally:
            if self._watching is not None:
                self._watching.cancel()

    def _on_start(self, is_stream: bool) -> bool:
        """Admit the response; a stream leaves its place to other requests and takes one of the streams."""
        if is_stream:
            try:
                self._stream_place = self._limits.streams.take(self._senders)
            except ScrubjayError as error:
                self._problem = error
                self._work.cancel()
                return False
            if self._running is not None:
                self._running.end()
            if self._response.may_continue is not None:
                self._watching = asyncio.create_task(self._watch_key())
        elif self._running is not None:
            self._running.respond()
        self._work.deadline = math.inf  # a started response may stream without a time limit
        return True

    def _may_continue(self) -> bool:
        if self._limits.authenticator.is_authorized(self._caller):
            return True
        self._publish_revoked()
        self._work.cancel()
        return False

    async def _watch_key(self) -> None:
        while True:
            await anyio.sleep(KEY_CHECK_SECONDS)
            if not self._may_continue():
                return

    def _publish_revoked(self) -> None:
        security_event(
            "cut_off",
            reason="the key is no longer valid",
            address=self._scope["state"]["address"],
            path=self._scope["path"],
            method=self._scope["method"],
            key_id=self._caller.key_id,
            request_id=request_id_of(self._scope),
        )

    def _timeout_error(self) -> RequestTimedOut:
        seconds = self._limits.request_seconds or 0
        return RequestTimedOut(
            f"the request was stopped after {seconds:g} seconds without a response",
            hint="request less data, or run it as a job",
            details={"timeout_ms": round(seconds * 1000)},
        )


def deadline_after(seconds: float | None) -> float:
    """Return the deadline on the event loop's clock; infinity without a limit."""
    return math.inf if not seconds else asyncio.get_running_loop().time() + seconds


def _request_failed(scope: Scope, error: Exception) -> RequestFailed:
    """Return the event of a bug, without the query and the headers, which may hold secrets."""
    traceparent = traceparent_of(scope)
    return RequestFailed(
        path=printable(scope["path"]),
        method=printable(scope["method"]),
        requester=Requester(
            request_id=request_id_of(scope),
            address=address_of(scope),
            trace_id=traceparent.split("-")[1] if traceparent is not None else None,
        ),
        place=error_fields(error),
    )
