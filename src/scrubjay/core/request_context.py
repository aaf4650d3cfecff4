"""Which request is worked on, for whoever asks others on its behalf: so that it can be followed there too."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tracked:
    """One request."""

    request_id: str
    traceparent: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """What a service over HTTP is told of it."""
        told = {"X-Request-Id": self.request_id, "traceparent": self.traceparent}
        return {name: value for name, value in told.items() if value is not None}


_now: ContextVar[Tracked | None] = ContextVar("tracked", default=None)


def tracked() -> Tracked | None:
    """The request that is worked on; None of what nobody asked for."""
    return _now.get()


class tracking:  # noqa: N801 - read as the statement that it begins; each call passes two, so it is no generator
    """All that is done in here, and all tasks that begin in here, are done for this request."""

    __slots__ = ("_before", "_now")

    def __init__(self, request_id: str, traceparent: str | None = None) -> None:
        self._now = Tracked(request_id, traceparent)

    def __enter__(self) -> None:
        self._before = _now.set(self._now)

    def __exit__(self, *_: object) -> None:
        _now.reset(self._before)
