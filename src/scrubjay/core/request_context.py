"""The current request, so that outgoing HTTP requests can carry its id and trace."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RequestContext:
    """Id and trace of a request."""

    request_id: str
    traceparent: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers for outgoing HTTP requests."""
        headers = {"X-Request-Id": self.request_id, "traceparent": self.traceparent}
        return {name: value for name, value in headers.items() if value is not None}


_now: ContextVar[RequestContext | None] = ContextVar("request", default=None)


def current_request() -> RequestContext | None:
    """Return the current request; None in background work."""
    return _now.get()


class RequestScope:
    """Context manager that sets the current request, also for tasks started inside.

    A class, because every call enters two of them and a generator costs more.
    """

    __slots__ = ("_before", "_now")

    def __init__(self, request_id: str, traceparent: str | None = None) -> None:
        self._now = RequestContext(request_id, traceparent)

    def __enter__(self) -> None:
        self._before = _now.set(self._now)

    def __exit__(self, *_: object) -> None:
        _now.reset(self._before)
