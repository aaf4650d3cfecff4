"""Calls become OpenTelemetry spans if it is installed and enabled; a fake SDK records them."""

import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.errors import ScrubjayError
from scrubjay.core.lazy import lazy_module
from scrubjay.features.monitoring import tracing
from scrubjay.features.monitoring.tracing import call_tracer
from scrubjay.tooling.context import CallContext

TRACEPARENT = f"00-{'ab' * 16}-{'cd' * 8}-01"


class Span(trace.NonRecordingSpan):
    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(trace.INVALID_SPAN_CONTEXT)
        self.name = name
        self.options = options
        self.attributes: dict[str, Any] = dict(options["attributes"])
        self.status: Any = None

    def set_attribute(self, key: str, value: Any) -> None:
        self.attributes[key] = value

    def set_status(self, status: Any, description: str | None = None) -> None:
        self.status = status


class Tracer(trace.NoOpTracer):
    def __init__(self) -> None:
        self.spans: list[Span] = []

    def start_span(self, name: str, **options: Any) -> Span:  # pyright: ignore
        self.spans.append(Span(name, **options))
        return self.spans[-1]


@pytest.fixture
def tracer(monkeypatch: pytest.MonkeyPatch) -> Tracer:
    tracer = Tracer()
    monkeypatch.setattr(trace, "get_tracer", lambda name, version: tracer)  # pyright: ignore
    return tracer


def settings(home: Path, enabled: bool = True) -> Settings:
    return Settings.model_validate({"home": home, "tracing": {"enabled": enabled}})


async def test_025_each_call_is_a_child_of_the_callers_span(tmp_path: Path, tracer: Tracer) -> None:
    context = CallContext(surface="rest", request_id="r1", traceparent=TRACEPARENT)
    async with running(settings(tmp_path)) as application:
        await application.dispatcher.call("get_project", {}, context)
        for tool in ("forget", "unknown-tool"):
            with pytest.raises(ScrubjayError):
                await application.dispatcher.call(tool, {"id": "private"}, CallContext(surface="rest"))
    spans = [span for span in tracer.spans if span.attributes["scrubjay.surface"] == "rest"]
    done, failed, unknown = spans
    assert (done.name, done.status) == ("tool get_project", None)
    assert done.attributes == {
        "scrubjay.tool": "get_project",
        "scrubjay.surface": "rest",
        "scrubjay.request_id": "r1",
        "scrubjay.outcome": "ok",
    }
    parent = trace.get_current_span(done.options["context"]).get_span_context()
    assert (f"{parent.trace_id:032x}", f"{parent.span_id:016x}") == ("ab" * 16, "cd" * 8)
    assert parent.is_remote
    assert failed.status.status_code is trace.StatusCode.ERROR
    assert failed.status.description == failed.attributes["scrubjay.outcome"]
    assert "private" not in str(vars(failed))
    assert unknown.name == "tool unknown"
    assert not any(span.options["record_exception"] for span in spans)


async def test_025_nothing_is_traced_by_default(tmp_path: Path, tracer: Tracer) -> None:
    async with running(settings(tmp_path, enabled=False)) as application:
        await application.dispatcher.call("get_project", {}, CallContext(surface="rest"))
    assert tracer.spans == []


def test_025_without_opentelemetry_only_a_warning_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.setattr(tracing, "trace", lazy_module("opentelemetry.trace"))
    assert call_tracer("1") is None
    assert "calls are not traced" in caplog.text
