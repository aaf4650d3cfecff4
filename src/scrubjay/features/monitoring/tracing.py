"""Traces of calls as OpenTelemetry spans, if it is installed and enabled."""

import logging
from typing import TYPE_CHECKING, Any

from scrubjay.core.lazy import lazy_module
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import GIVEN_UP, OK, CallEnded, CallStarted

if TYPE_CHECKING:
    from opentelemetry import trace
else:
    trace = lazy_module("opentelemetry.trace")  # optional: the operator installs it

logger = logging.getLogger("scrubjay.tracing")

_NANOSECONDS = 1_000_000_000


class CallTracer:
    """Creates a span for each call, current while the call runs. The SDK configures the export."""

    def __init__(self, version: str) -> None:
        """Raise `ImportError` if OpenTelemetry is not installed."""
        self._tracer = trace.get_tracer("scrubjay", version)
        self._current: dict[CallStarted, tuple[Any, Any]] = {}

    def subscribe(self, events: EventBus) -> None:
        """Trace the calls published on this bus."""
        events.subscribe(CallStarted, self._call_started)
        events.subscribe(CallEnded, self._call_ended)

    def _call_started(self, event: CallStarted) -> None:
        span = self._start(event.tool.name, event.context, event.time)
        # Entered here and exited in `_call_ended`: both events are published by the task that makes the call.
        current = trace.use_span(span, record_exception=False, set_status_on_exception=False)
        current.__enter__()
        self._current[event] = span, current

    def _call_ended(self, event: CallEnded) -> None:
        if event.started is None:  # refused before it started
            span = self._start(event.tool_label, event.context, event.time - event.milliseconds / 1000)
        else:
            span, current = self._current.pop(event.started)
            current.__exit__(None, None, None)
        self._set_outcome(span, event.outcome)
        span.end()

    def _start(self, tool: str, context: CallContext, seconds: float) -> Any:
        return self._tracer.start_span(
            f"tool {tool}",
            context=self._parent(context.traceparent),
            kind=trace.SpanKind.SERVER,
            attributes={
                "scrubjay.tool": tool,
                "scrubjay.surface": context.surface,
                "scrubjay.request_id": context.request_id,
            },
            start_time=round(seconds * _NANOSECONDS),
            # The message of an exception may quote private data.
            record_exception=False,
            set_status_on_exception=False,
        )

    def _set_outcome(self, span: Any, outcome: str) -> None:
        if outcome == GIVEN_UP:
            return
        span.set_attribute("scrubjay.outcome", str(outcome))
        if outcome != OK:
            span.set_status(trace.Status(trace.StatusCode.ERROR, str(outcome)))

    def _parent(self, traceparent: str | None) -> Any:
        """Return the context of the caller's own span; None when there is none."""
        if traceparent is None:
            return None
        _, trace_id, span_id, flags = traceparent.split("-")
        parent = trace.SpanContext(
            trace_id=int(trace_id, 16),
            span_id=int(span_id, 16),
            is_remote=True,
            trace_flags=trace.TraceFlags(int(flags, 16)),
        )
        return trace.set_span_in_context(trace.NonRecordingSpan(parent))


def call_tracer(version: str) -> CallTracer | None:
    """Return the tracer of calls; log a warning and return None if OpenTelemetry is not installed."""
    try:
        return CallTracer(version)
    except ImportError:
        logger.warning("calls are not traced", extra={"problem": "opentelemetry-api is not installed"})
        return None
