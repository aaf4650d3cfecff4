"""Numbers of a running server in the form of Prometheus. No label ever has a word of a caller's."""

import logging
import re
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import choose_encoder

from scrubjay.core.errors import ScrubjayError
from scrubjay.models.breaker import BreakerState
from scrubjay.models.breakers import Guarded
from scrubjay.tooling.event_bus import EventBus, Unsubscribe
from scrubjay.tooling.events import CallEnded, RequestRefused, SecurityEvent
from scrubjay.tooling.process_events import PROCESS_EVENTS

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

logger = logging.getLogger("scrubjay.metrics")

Metric = TypeVar("Metric", Counter, Histogram)

OTHER = "other"
"""What stands for a value that has no label of its own."""

# From a millisecond, in which a memory is found, to the half minute after which most clients give up.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
# What has to be counted in the store is not counted more often.
COUNT_SECONDS = 15.0
_MOST_VALUES = 50
_SANE = re.compile(r"[a-z][a-z0-9_ -]{0,39}", re.ASCII)


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """What the store has at one moment."""

    memories: int
    jobs: Mapping[str, int]
    """How many jobs are in each state."""


class Labels:
    """Values of a label that our own code gives: words, and never more than some dozens, whatever comes."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def of(self, value: object) -> str:
        text = str(value)
        if text in self._known:
            return text
        if len(self._known) >= _MOST_VALUES or not _SANE.fullmatch(text):
            return OTHER
        self._known.add(text)
        return text


class Metrics:
    """Counts calls, requests and refusals as they happen, and reads everything else when it is asked."""

    def __init__(
        self,
        tools: Container[str],
        *,
        version: str,
        breakers: Callable[[], Iterable[Guarded]],
        count: Callable[[], Awaitable[StoreCounts]],
        audited: Callable[[], bool] = lambda: True,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`tools` are those that there are: a call of any other is counted under one name."""
        self._tools = tools
        self._breakers = breakers
        self._count = count
        self._clock = clock
        self._counted_at: float | None = None
        self._subscriptions: list[Unsubscribe] = []
        self._labels = {name: Labels() for name in ("surface", "outcome", "event")}
        self._labelled: dict[tuple[object, tuple[str, ...]], Any] = {}
        self.registry = registry = CollectorRegistry()
        self._calls = Counter("scrubjay_calls", "Calls of tools.", ["tool", "surface", "outcome"], registry=registry)
        self._seconds = Histogram(
            "scrubjay_call_seconds", "How long calls of tools took.", ["tool"], buckets=SECONDS, registry=registry
        )
        self._requests = Counter(
            "scrubjay_http_requests", "HTTP requests.", ["method", "route", "status"], registry=registry
        )
        self._request_seconds = Histogram(
            "scrubjay_http_request_seconds",
            "How long HTTP requests took until their answer was whole.",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        self._refusals = Counter(
            "scrubjay_refusals", "Requests that were refused before any tool was asked.", ["code"], registry=registry
        )
        self._security = Counter("scrubjay_security_events", "Events of security.", ["event"], registry=registry)
        self._websockets = Gauge("scrubjay_websockets", "WebSockets that are open.", registry=registry)
        self._jobs = Gauge("scrubjay_jobs", "Jobs in each state.", ["state"], registry=registry)
        self._memories = Gauge("scrubjay_memories", "Memories in the store.", registry=registry)
        self._breaker = Gauge(
            "scrubjay_breaker_state",
            "1 for the state in which the breaker of a service is; the worst one where it has several.",
            ["service", "state"],
            registry=registry,
        )
        written = Gauge("scrubjay_audit_written", "1 while the audit log is written.", registry=registry)
        written.set_function(lambda: float(audited()))
        Gauge("scrubjay_info", "Always 1.", ["version"], registry=registry).labels(version).set(1)
        ProcessCollector(registry=registry)

    def subscribe(self, events: EventBus = PROCESS_EVENTS) -> None:
        """Count what is published there from now on."""
        self._subscriptions += (
            events.subscribe(CallEnded, self._count_call),
            events.subscribe(SecurityEvent, self._count_security_event),
            events.subscribe(RequestRefused, self._count_refusal),
        )

    def close(self) -> None:
        """End the subscriptions."""
        for unsubscribe in self._subscriptions:
            unsubscribe()
        self._subscriptions.clear()

    def _count_call(self, event: CallEnded) -> None:
        tool = event.name if event.name in self._tools else OTHER
        surface = self._labels["surface"].of(event.context.surface)
        self._of(self._calls, tool, surface, self._labels["outcome"].of(event.outcome)).inc()
        self._of(self._seconds, tool).observe(event.milliseconds / 1000)

    def _count_security_event(self, event: SecurityEvent) -> None:
        self._security.labels(self._labels["event"].of(event.event)).inc()

    def _count_refusal(self, event: RequestRefused) -> None:
        self._refusals.labels(self._labels["outcome"].of(event.outcome)).inc()
        self._count_security_event(event)

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """An HTTP request has ended; `route` is one of the server's own, not the path that was asked for."""
        self._of(self._requests, method, route, str(status)).inc()
        self._of(self._request_seconds, route).observe(seconds)

    def _of(self, metric: Metric, *labels: str) -> Metric:
        """The one with these labels, of which there are as few as are kept anyway: looked up without a lock."""
        known = (metric, labels)
        if known not in self._labelled:
            self._labelled[known] = metric.labels(*labels)
        return self._labelled[known]

    def websocket_opened(self) -> None:
        self._websockets.inc()

    def websocket_closed(self) -> None:
        self._websockets.dec()

    async def text(self, accept: str) -> tuple[bytes, str]:
        """Everything as text, in a form that the reader accepts, and the name of that form."""
        await self._count_store()
        self._look_at_breakers()
        collector: Collector = self.registry
        encode, content_type = choose_encoder(accept)
        return encode(collector), content_type

    async def _count_store(self) -> None:
        now = self._clock()
        if self._counted_at is not None and now - self._counted_at < COUNT_SECONDS:
            return
        try:
            counts = await self._count()
        except ScrubjayError as error:  # the other numbers are worth as much as ever
            logger.warning("the store could not be counted", extra={"problem": error.message})
            return
        self._counted_at = now
        self._memories.set(counts.memories)
        for state, jobs in counts.jobs.items():
            self._jobs.labels(state).set(jobs)

    def _look_at_breakers(self) -> None:
        worst: dict[str, BreakerState] = {}
        order = list(BreakerState)
        for one in self._breakers():
            state = worst.get(one.service, BreakerState.CLOSED)
            worst[one.service] = max(state, one.standing.state, key=_WORSE.index)
        for service, now in worst.items():
            for state in order:
                self._breaker.labels(service, state.value).set(state is now)


_WORSE = (BreakerState.CLOSED, BreakerState.HALF_OPEN, BreakerState.OPEN)
