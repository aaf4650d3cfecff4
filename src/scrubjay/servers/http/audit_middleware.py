"""Publish an event for each request that calls no tool, for the audit log."""

import time
from collections.abc import Generator
from contextlib import contextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

from scrubjay.core.errors import ScrubjayError
from scrubjay.servers.http.errors import STATUS
from scrubjay.servers.http.requests import requester_of
from scrubjay.servers.http.response_status import StatusRecorder
from scrubjay.tooling.events import GIVEN_UP, OK, RequestEnded
from scrubjay.tooling.process_events import PROCESS_EVENTS
from scrubjay.tooling.validation import printable

_OK = 200
# These statuses are refusals; any other status of 400 and above is a failure.
_REFUSED = frozenset({401, 403, 413, 429})


class AuditMiddleware:
    """Publishes a `RequestEnded` for each request to the wrapped endpoint."""

    def __init__(self, app: ASGIApp, surface: str) -> None:
        self._app = app
        self._surface = surface

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = StatusRecorder(send)
        started = time.perf_counter()
        try:
            await self._app(scope, receive, response)
        finally:
            _publish(scope, self._surface, response.status, started)


@contextmanager
def audited(scope: Scope, surface: str) -> Generator[None]:
    """Publish how the body of this `with` statement ended, as the end of the request."""
    status: int | None = None
    started = time.perf_counter()
    try:
        yield
        status = _OK
    except ScrubjayError as error:
        status = STATUS[error.code]
        raise
    finally:
        _publish(scope, surface, status, started)


def _publish(scope: Scope, surface: str, status: int | None, started: float) -> None:
    """Publish the event; a status of None means that there was no response: the client left, or there is a bug."""
    succeeded = status is not None and status < 400
    PROCESS_EVENTS.publish(
        RequestEnded(
            method=scope["method"],
            path=printable(scope["path"]),
            surface=surface,
            outcome=OK if succeeded else GIVEN_UP if status is None else f"http {status}",
            decision="allowed" if succeeded else "refused" if status in _REFUSED else "failed",
            milliseconds=round((time.perf_counter() - started) * 1000, 2),
            requester=requester_of(scope),
        )
    )
