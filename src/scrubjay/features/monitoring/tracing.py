"""Calls as OpenTelemetry spans, where it is installed and the owner wants them."""

import logging
from typing import Any

from scrubjay.tooling.context import CallContext
from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import GIVEN_UP, OK, CallEnded, CallStarted

logger = logging.getLogger("scrubjay.tracing")

_NANOSECONDS = 1_000_000_000


class CallTracer:
    """Makes each call a span, which is the current one while the call runs. The SDK decides where spans go."""

    def __init__(self, trace: Any, version: str) -> None:
        """`trace` is the module `opentelemetry.trace`."""
        self._trace = trace
        self._tracer = trace.get_tracer("scrubjay", version)
        self._current: dict[CallStarted, tuple[Any, Any]] = {}

    def subscribe(self, events: EventBus) -> None:
        """Trace the calls that are published there."""
        events.subscribe(CallStarted, self._call_started)
        events.subscribe(CallEnded, self._call_ended)

    def _call_started(self, event: CallStarted) -> None:
        span = self._start(event.tool.name, event.context, event.time)
        # Entered here and left when the call has ended: both events are published by the task that makes the call.
        current = self._trace.use_span(span, record_exception=False, set_status_on_exception=False)
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
            kind=self._trace.SpanKind.SERVER,
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
            span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, str(outcome)))

    def _parent(self, traceparent: str | None) -> Any:
        """Return the context of the caller's own span; None when there is none."""
        if traceparent is None:
            return None
        trace = self._trace
        _, trace_id, span_id, flags = traceparent.split("-")
        parent = trace.SpanContext(
            trace_id=int(trace_id, 16),
            span_id=int(span_id, 16),
            is_remote=True,
            trace_flags=trace.TraceFlags(int(flags, 16)),
        )
        return trace.set_span_in_context(trace.NonRecordingSpan(parent))


def call_tracer(version: str) -> CallTracer | None:
    """Return the tracer of calls; None, and a warning, when OpenTelemetry is not installed."""
    try:
        from opentelemetry import trace
    except ImportError:
        logger.warning("calls are not traced", extra={"problem": "opentelemetry-api is not installed"})
        return None
    return CallTracer(trace, version)
