"""Metrics, audit log, status and health of a running server."""

import json
import logging
import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from websockets.asyncio.client import connect

from scrubjay.app.http_server import build_http
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings, load_settings
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.core.callers import Caller
from scrubjay.core.errors import Forbidden, Unavailable
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool
from tests.models.service import DIMENSIONS, Answer, running_service
from tests.surfaces.callers import PROGRAM, environment, server

DEPLOY = Path(__file__).parents[3] / "deploy"
KEY = "correct-horse-battery-staple"
TRACE = "ab" * 16

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Generator[httpx2.Client]:
    """A real server with a key, after some calls and refusals."""
    with (
        server(tmp_path_factory.mktemp("home"), SCRUBJAY_API_KEY=KEY) as url,
        httpx2.Client(base_url=url, timeout=30, trust_env=False, headers={"Authorization": f"Bearer {KEY}"}) as client,
    ):
        client.post("/v1/tools/remember", json={"content": "Tea is served at four."}).raise_for_status()
        client.post("/v1/tools/recall", json={"query": "tea"}, headers={"X-Request-Id": "mine"}).raise_for_status()
        client.post("/v1/tools/recall", json={"wrong": 1})
        for number in range(60):
            assert client.post(f"/v1/tools/nothing-{number}", json={}).status_code == 404
            assert client.get(f"/nowhere/{number}").status_code == 404
        client.get("/v1/tools", headers={"Authorization": "Bearer wrong-wrong-wrong"})
        yield client


def scrape(http: httpx2.Client, accept: str = "text/plain") -> Samples:
    response = http.get("/metrics", headers={"Accept": accept}).raise_for_status()
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, frozenset(labels.items())]


def test_025_calls_requests_refusals_and_the_process_are_counted(http: httpx2.Client) -> None:
    samples = scrape(http)
    ok = {"surface": "rest", "outcome": "ok"}
    assert value(samples, "scrubjay_calls_total", tool="remember", **ok) == 1
    assert value(samples, "scrubjay_calls_total", tool="recall", **ok) == 1
    failed = {"surface": "rest", "outcome": "invalid_request"}
    assert value(samples, "scrubjay_calls_total", tool="recall", **failed) == 1
    assert value(samples, "scrubjay_call_seconds_count", tool="recall") == 2
    requests = {"method": "POST", "route": "/v1/tools/{name}"}
    assert value(samples, "scrubjay_http_requests_total", status="404", **requests) == 60
    assert value(samples, "scrubjay_refusals_total", code="unauthenticated") >= 1
    assert value(samples, "scrubjay_memories") == 1
    assert value(samples, "scrubjay_websockets") == 0
    assert value(samples, "scrubjay_jobs", state="queued") == 0
    assert value(samples, "process_resident_memory_bytes") > 10_000_000
    assert value(samples, "process_cpu_seconds_total") > 0


def test_025_no_label_contains_caller_input(http: httpx2.Client) -> None:
    samples = scrape(http)
    assert not [labels for _, labels in samples for _, label in labels if re.search(r"nothing-|nowhere", label)]
    unknown = {"tool": "other", "surface": "rest", "outcome": "unknown_tool"}
    assert value(samples, "scrubjay_calls_total", **unknown) == 60
    assert value(samples, "scrubjay_http_requests_total", method="GET", route="other", status="404") == 60
    assert len(samples) < 1000


def test_025_metrics_require_a_key(http: httpx2.Client) -> None:
    assert http.get("/metrics", headers={"Authorization": ""}).status_code == 401
    response = http.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert response.headers["content-type"].startswith("application/openmetrics-text")
    assert response.text.endswith("# EOF\n")


async def test_025_metrics_require_the_scope(tmp_path: Path) -> None:
    command = [*PROGRAM, "keys", "create", "--name", "guest", "--scopes", "memory"]
    created = await anyio.run_process(command, env=environment(tmp_path))
    bearer = {"Authorization": f"Bearer {created.stdout.split()[0].decode()}"}
    async with running(Settings(home=tmp_path)) as application:
        transport = httpx2.ASGITransport(build_http(application))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            response = await client.get("/metrics", headers=bearer)
    assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden")


def test_025_every_query_of_the_dashboard_names_a_metric_that_exists(http: httpx2.Client) -> None:
    dashboard = json.loads((DEPLOY / "grafana" / "scrubjay.json").read_text("utf-8"))
    text = http.get("/metrics").text
    known = {name for name, _ in scrape(http)} | set(re.findall(r"# TYPE (\S+)", text))
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(queries) >= 15
    for query in queries:
        names = set(re.findall(r"\b(?:scrubjay|process)_\w+", query))
        assert names, query
        assert names <= known, query
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))


def test_025_the_prometheus_configuration_uses_the_servers_address() -> None:
    (job,) = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    assert job["metrics_path"] == "/metrics"
    assert job["static_configs"][0]["targets"] == [f"127.0.0.1:{Settings().port}"]


# -- the audit log ---------------------------------------------------------------------------------------


def test_021_the_audit_log_records_calls_and_refusals_without_content(http: httpx2.Client) -> None:
    def audit(**filters: Any) -> list[dict[str, Any]]:
        return http.post("/v1/tools/audit_log", json=filters).raise_for_status().json()["entries"]

    (mine,) = audit(request_id="mine")
    names = ("kind", "decision", "caller", "tool", "surface", "outcome", "address")
    assert {name: mine[name] for name in names} == {
        "kind": "call",
        "decision": "allowed",
        "caller": "SCRUBJAY_API_KEY",
        "tool": "recall",
        "surface": "rest",
        "outcome": "ok",
        "address": "127.0.0.1",
    }
    refusal = audit(kind="refusal")[-1]
    assert (refusal["path"], refusal["method"], refusal["outcome"]) == ("/v1/tools", "GET", "unauthenticated")
    everything = http.post("/v1/tools/audit_log", json={"limit": 500}).text
    assert "four" not in everything
    assert "wrong-wrong" not in everything


async def test_021_reading_the_audit_log_requires_the_full_scope(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as application:

        async def read(*scopes: str) -> None:
            caller = Caller("k", frozenset(scopes))
            await application.dispatcher.call("audit_log", {}, CallContext(surface="python", caller=caller))

        await read("server")
        for scopes in (["server:read"], ["*:read"], ["memory"]):
            with pytest.raises(Forbidden):
                await read(*scopes)
    async with running(Settings.model_validate({"home": tmp_path / "b", "audit": {"enabled": False}})) as application:
        with pytest.raises(Unavailable, match="audit log is disabled"):
            await application.dispatcher.call("audit_log", {}, CallContext(surface="python"))
    assert not (tmp_path / "b" / "audit.jsonl").exists()


@pytest.mark.parametrize(
    ("traceparent", "is_valid"),
    [
        (f"00-{TRACE}-{'cd' * 8}-01", True),
        (f"cc-{TRACE}-{'cd' * 8}-01-later", True),
        (f"00-{TRACE}-{'cd' * 8}-01-later", False),
        (f"ff-{TRACE}-{'cd' * 8}-01", False),
        (f"00-{'0' * 32}-{'cd' * 8}-01", False),
        ("garbage", False),
    ],
)
async def test_024_request_ids_and_trace_ids_are_in_the_log_and_the_response(
    tmp_path: Path, traceparent: str, is_valid: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    headers = {"X-Request-Id": "mine", "traceparent": traceparent}
    async with (
        running(Settings(home=tmp_path)) as application,
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(build_http(application)), base_url="http://localhost", headers=headers
        ) as client,
    ):
        response = await client.post("/v1/tools/get_project", json={})
    (call,) = [vars(record) for record in caplog.records if record.name == "scrubjay.calls"]
    assert (response.headers["x-request-id"], call["request_id"]) == ("mine", "mine")
    assert call.get("trace_id") == (TRACE if is_valid else None)


# -- features and services -------------------------------------------------------------------------------


async def status(application: Any) -> dict[str, Any]:
    return (await application.dispatcher.call("cortex_status", {}, CallContext(surface="python"))).model_dump(
        mode="json"
    )


async def test_023_a_failing_service_opens_its_breaker_and_the_status_shows_the_fallback(
    tmp_path: Path,
) -> None:
    with running_service() as service:
        service.always = Answer(status=500)
        embedding = {
            "provider": "openai",
            "base_url": service.url,
            "model": "some-model",
            "dimensions": DIMENSIONS,
            "retries": 0,
        }
        settings = {"home": tmp_path, "embedding": embedding, "upstreams": {"failures": 2}}
        async with running(Settings.model_validate(settings)) as application:
            await application.dispatcher.call("remember", {"content": "Tea at four."}, CallContext(surface="python"))
            await application.dispatcher.call("remember", {"content": "Rain."}, CallContext(surface="python"))
            found = await application.dispatcher.call("recall", {"query": "tea"}, CallContext(surface="python"))
            report = await status(application)
            text, _ = await application.observability.metrics.text("")
    assert found.model_dump()["memories"][0]["content"] == "Tea at four."
    (breaker,) = report["breakers"]
    assert (breaker["service"], breaker["state"], breaker["failures"]) == ("embedding", "open", 2)
    assert 0 < breaker["retry_after_seconds"] <= 60
    assert report["degradation"]["embedding"]["degraded"] is True
    assert report["degradation"]["embedding"]["status"] == "degraded"
    assert "HTTP 500" in report["degradation"]["embedding"]["problem"]
    assert report["degradation"]["llm"]["status"] == "off"
    assert b'scrubjay_breaker_state{service="embedding",state="open"} 1.0' in text


async def test_023_the_status_has_mimos_shape_and_reports_missing_stores(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as application:
        report = await status(application)
    present, missing = ({"enabled": exists, "tables_exist": exists} for exists in (True, False))
    assert (report["semantic_store"], report["procedural_store"]) == (present, missing)
    assert set(report["rust_nifs"]) == {"enabled", "loaded"}
    assert report["websocket_synapse"] == {"enabled": False, "connections": 0}
    assert report["degradation"]["embedding"]["status"] == "local"


class RelateRequest(Request):
    pass


class RelateResult(Result):
    pass


@tool("knowledge")
async def relate_things(request: RelateRequest) -> RelateResult:
    """Return the relation of two things."""
    return RelateResult()


@pytest.mark.parametrize("is_on", [True, False])
async def test_010_a_disabled_feature_is_not_listed_and_is_unavailable(tmp_path: Path, is_on: bool) -> None:
    settings = Settings.model_validate({"home": tmp_path, "features": {"semantic_store": is_on}})
    async with (
        running(settings, tools=[*TOOL_CATALOG, relate_things]) as application,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(build_http(application)), base_url="http://localhost") as web,
    ):
        report = await status(application)
        listed = [found["name"] for found in (await web.get("/v1/tools", params={"tools": "all"})).json()["tools"]]
        found = (await web.post("/v1/tools/search_tools", json={"query": "relate things"})).json()
        response = await web.post("/v1/tools/relate_things", json={})
        described = (await web.get("/openapi.json")).json()["paths"]
    assert report["semantic_store"]["enabled"] is is_on
    assert ("relate_things" in listed) is is_on
    assert ("relate_things" in json.dumps(found)) is is_on
    assert ("/v1/tools/relate_things" in described) is is_on
    if is_on:
        assert response.status_code == 200
    else:
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (503, "unavailable")
        assert "SCRUBJAY_FEATURES_SEMANTIC_STORE=true" in error["hint"]


async def test_010_a_disabled_websocket_reports_it(tmp_path: Path) -> None:
    settings = Settings.model_validate({"home": tmp_path, "features": {"websocket_synapse": False}})
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    async with running(settings) as application:
        app = build_http(application)
        scope = {"type": "websocket", "path": "/cortex/websocket", "headers": [(b"host", b"localhost")]}
        await app({**scope, "extensions": {"websocket.http.response": {}}}, receive, send)
        await app(dict(scope), receive, send)
    assert (sent[0]["type"], sent[0]["status"]) == ("websocket.http.response.start", 503)
    assert json.loads(sent[1]["body"])["error"]["code"] == "unavailable"
    assert (sent[2]["type"], sent[2]["code"]) == ("websocket.close", 1013)


async def test_025_websockets_are_counted_while_they_are_open(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as application:
        from scrubjay.servers.http.metrics_middleware import MetricsMiddleware

        metrics = application.observability.metrics
        counted: list[float | None] = []

        async def socket(scope: Any, receive: Any, send: Any) -> None:
            counted.append(metrics.registry.get_sample_value("scrubjay_websockets"))
            await send({"type": "websocket.accept"})
            counted.append(metrics.registry.get_sample_value("scrubjay_websockets"))
            raise ConnectionError

        async def send(message: Any) -> None:
            pass

        with pytest.raises(ConnectionError):
            await MetricsMiddleware(socket, metrics, lambda: ())({"type": "websocket", "path": "/x"}, None, send)  # pyright: ignore
        counted.append(metrics.registry.get_sample_value("scrubjay_websockets"))
        assert (await status(application))["websocket_synapse"]["connections"] == 0
    assert counted == [0, 1, 0]


def test_023_only_real_websocket_clients_are_counted_as_connected(http: httpx2.Client) -> None:
    async def counted(path: str) -> int:
        url = f"{http.base_url}{path}".replace("http", "ws", 1)
        async with connect(url, proxy=None, additional_headers={"Authorization": f"Bearer {KEY}"}):
            response = await anyio.to_thread.run_sync(lambda: http.post("/v1/tools/cortex_status", json={}))
            return response.json()["websocket_synapse"]["connections"]

    assert anyio.run(counted, "/cortex/websocket?vsn=2.0.0") == 1
    assert anyio.run(counted, "/ws") == 0


@pytest.mark.parametrize(("value", "is_on"), [("true", True), ("1", True), ("yes", False), ("false", False)])
def test_010_mimos_variables_toggle_features(monkeypatch: pytest.MonkeyPatch, value: str, is_on: bool) -> None:
    monkeypatch.setenv("WEBSOCKET_ENABLED", value)
    monkeypatch.setenv("RUST_NIFS_ENABLED", value)
    features = load_settings().features
    assert (features.websocket_synapse, features.native_extension) == (is_on, is_on)
    assert features.semantic_store
    monkeypatch.setenv("SCRUBJAY_FEATURES_WEBSOCKET_SYNAPSE", "true")
    assert load_settings().features.websocket_synapse


async def test_010_the_compiled_accelerator_is_not_used_when_disabled(tmp_path: Path) -> None:
    from scrubjay.native import library

    settings = Settings.model_validate({"home": tmp_path, "features": {"native_extension": False}})
    try:
        async with running(settings) as application:
            assert (await status(application))["rust_nifs"] == {"enabled": False, "loaded": False}
            assert library.library() is None
            assert not library.is_wanted()
    finally:
        library.use_library(True)


def test_metrics_are_not_imported_before_http_is_served() -> None:
    loaded = "[name for name in sys.modules if name.startswith(('prometheus', 'opentelemetry'))]"
    code = f"import sys, scrubjay.app.application; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
