"""Calls as spans of OpenTelemetry, where it is installed and the owner wants them."""

import logging
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from scrubjay.core.errors import ScrubjayError

logger = logging.getLogger("scrubjay.tracing")


class Traced(Protocol):
    """What a span needs to know of a call."""

    @property
    def surface(self) -> str: ...
    @property
    def request_id(self) -> str: ...
    @property
    def traceparent(self) -> str | None: ...


def spans(version: str) -> Callable[[str, Traced], AbstractContextManager[object]] | None:
    """What a call happens inside of; None, and a warning, when OpenTelemetry is not installed.

    Where spans go, and whether they go anywhere, is decided by its SDK.
    """
    try:
        from opentelemetry import trace
    except ImportError:
        logger.warning("calls are not traced", extra={"problem": "opentelemetry-api is not installed"})
        return None
    tracer = trace.get_tracer("scrubjay", version)

    @contextmanager
    def span_of(tool: str, call: Traced) -> Generator[object]:
        attributes = {
            "scrubjay.tool": tool,
            "scrubjay.surface": call.surface,
            "scrubjay.request_id": call.request_id,
        }
        parent = _parent(trace, call.traceparent)
        # An exception is not recorded: its message may quote what somebody confided.
        with tracer.start_as_current_span(
            f"tool {tool}",
            context=parent,
            kind=trace.SpanKind.SERVER,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except ScrubjayError as error:
                span.set_attribute("scrubjay.outcome", error.code.value)
                span.set_status(trace.Status(trace.StatusCode.ERROR, error.code.value))
                raise
            span.set_attribute("scrubjay.outcome", "ok")

    return span_of


def _parent(trace: Any, traceparent: str | None) -> Any:
    """The caller's own span, as the place where ours belongs; None where there is none."""
    if traceparent is None:
        return None
    _, trace_id, span_id, flags = traceparent.split("-")
    there = trace.SpanContext(
        trace_id=int(trace_id, 16),
        span_id=int(span_id, 16),
        is_remote=True,
        trace_flags=trace.TraceFlags(int(flags, 16)),
    )
    return trace.set_span_in_context(trace.NonRecordingSpan(there))
