"""Prometheus metrics of this process. Labels never contain caller input."""

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
from scrubjay.models.breakers import BreakerReport
from scrubjay.tooling.event_bus import EventBus, Unsubscribe
from scrubjay.tooling.events import CallEnded, RequestRefused, SecurityEvent
from scrubjay.tooling.process_events import PROCESS_EVENTS

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

logger = logging.getLogger("scrubjay.metrics")

Metric = TypeVar("Metric", Counter, Histogram)

OTHER = "other"
"""Label for values that have no label of their own."""

# From 1 ms, the time of a fast recall, to 30 s, after which most clients time out.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
# Minimum interval between counts of the store.
COUNT_SECONDS = 15.0
_MAX_VALUES = 50
# Breaker states, best first.
_SEVERITY = (BreakerState.CLOSED, BreakerState.HALF_OPEN, BreakerState.OPEN)
_LABEL = re.compile(r"[a-z][a-z0-9_ -]{0,39}", re.ASCII)


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """Counts of the store at one moment."""

    memories: int
    jobs: Mapping[str, int]
    """Number of jobs by state."""


class Labels:
    """Limits a label to short words and at most `_MAX_VALUES` different values."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def of(self, value: object) -> str:
        text = str(value)
        if text in self._known:
            return text
        if len(self._known) >= _MAX_VALUES or not _LABEL.fullmatch(text):
            return OTHER
        self._known.add(text)
        return text


class Metrics:
    """Counts calls, requests and refusals as they happen; reads everything else on demand."""

    def __init__(
        self,
        tools: Container[str],
        *,
        version: str,
        breakers: Callable[[], Iterable[BreakerReport]],
        count: Callable[[], Awaitable[StoreCounts]],
        audited: Callable[[], bool] = lambda: True,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`tools` are the known tool names; calls of other names are counted as `other`."""
        self._tools = tools
        self._breakers = breakers
        self._count = count
        self._clock = clock
        self._counted_at: float | None = None
        self._subscriptions: list[Unsubscribe] = []
        self._labels = {name: Labels() for name in ("surface", "outcome", "event")}
        self._labelled: dict[tuple[object, tuple[str, ...]], Any] = {}
        self.registry = registry = CollectorRegistry()
        self._calls = Counter("scrubjay_calls", "Tool calls.", ["tool", "surface", "outcome"], registry=registry)
        self._seconds = Histogram(
            "scrubjay_call_seconds", "Duration of tool calls.", ["tool"], buckets=SECONDS, registry=registry
        )
        self._requests = Counter(
            "scrubjay_http_requests", "HTTP requests.", ["method", "route", "status"], registry=registry
        )
        self._request_seconds = Histogram(
            "scrubjay_http_request_seconds",
            "Duration of HTTP requests until the response was complete.",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        self._refusals = Counter(
            "scrubjay_refusals", "Requests refused before a tool was called.", ["code"], registry=registry
        )
        self._security = Counter("scrubjay_security_events", "Security events.", ["event"], registry=registry)
        self._websockets = Gauge("scrubjay_websockets", "Open WebSockets.", registry=registry)
        self._jobs = Gauge("scrubjay_jobs", "Jobs by state.", ["state"], registry=registry)
        self._memories = Gauge("scrubjay_memories", "Memories in the store.", registry=registry)
        self._breaker = Gauge(
            "scrubjay_breaker_state",
            "1 for the current breaker state of a service; the worst one if it has several breakers.",
            ["service", "state"],
            registry=registry,
        )
        written = Gauge("scrubjay_audit_written", "1 while the audit log can be written.", registry=registry)
        written.set_function(lambda: float(audited()))
        Gauge("scrubjay_info", "Always 1.", ["version"], registry=registry).labels(version).set(1)
        ProcessCollector(registry=registry)

    def subscribe(self, events: EventBus = PROCESS_EVENTS) -> None:
        """Count the events published on this bus."""
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
        """Count a finished HTTP request; `route` is a route template, not the requested path."""
        self._of(self._requests, method, route, str(status)).inc()
        self._of(self._request_seconds, route).observe(seconds)

    def _of(self, metric: Metric, *labels: str) -> Metric:
        """Return the child metric with these labels, cached to avoid the lock of `labels()`."""
        key = (metric, labels)
        if key not in self._labelled:
            self._labelled[key] = metric.labels(*labels)
        return self._labelled[key]

    def websocket_opened(self) -> None:
        self._websockets.inc()

    def websocket_closed(self) -> None:
        self._websockets.dec()

    async def text(self, accept: str) -> tuple[bytes, str]:
        """Return all metrics in an accepted text format, and its content type."""
        await self._count_store()
        self._update_breakers()
        collector: Collector = self.registry
        encode, content_type = choose_encoder(accept)
        return encode(collector), content_type

    async def _count_store(self) -> None:
        now = self._clock()
        if self._counted_at is not None and now - self._counted_at < COUNT_SECONDS:
            return
        try:
            counts = await self._count()
        except ScrubjayError as error:  # the other metrics are still valid
            logger.warning("cannot count the store", extra={"problem": error.message})
            return
        self._counted_at = now
        self._memories.set(counts.memories)
        for state, jobs in counts.jobs.items():
            self._jobs.labels(state).set(jobs)

    def _update_breakers(self) -> None:
        worst: dict[str, BreakerState] = {}
        for report in self._breakers():
            state = worst.get(report.service, BreakerState.CLOSED)
            worst[report.service] = max(state, report.standing.state, key=_SEVERITY.index)
        for service, current in worst.items():
            for state in BreakerState:
                self._breaker.labels(service, state.value).set(state is current)
