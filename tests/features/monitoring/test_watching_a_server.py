"""What one sees of a running server: its numbers, its audit log, its parts and the services that it asks."""

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
from scrubjay.app.tool_catalog import ALL
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
    answer = http.get("/metrics", headers={"Accept": accept}).raise_for_status()
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
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


def test_025_no_label_has_a_word_of_a_caller(http: httpx2.Client) -> None:
    samples = scrape(http)
    assert not [labels for _, labels in samples for _, label in labels if re.search(r"nothing-|nowhere", label)]
    unknown = {"tool": "other", "surface": "rest", "outcome": "unknown_tool"}
    assert value(samples, "scrubjay_calls_total", **unknown) == 60
    assert value(samples, "scrubjay_http_requests_total", method="GET", route="other", status="404") == 60
    assert len(samples) < 1000


def test_025_the_metrics_need_the_key_like_all_else(http: httpx2.Client) -> None:
    assert http.get("/metrics", headers={"Authorization": ""}).status_code == 401
    answer = http.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


async def test_025_a_key_without_the_scope_does_not_open_the_metrics(tmp_path: Path) -> None:
    command = [*PROGRAM, "keys", "create", "--name", "guest", "--scopes", "memory"]
    made = await anyio.run_process(command, env=environment(tmp_path))
    bearer = {"Authorization": f"Bearer {made.stdout.split()[0].decode()}"}
    async with running(Settings(home=tmp_path)) as application:
        door = httpx2.ASGITransport(build_http(application))
        async with httpx2.AsyncClient(transport=door, base_url="http://localhost") as client:
            answer = await client.get("/metrics", headers=bearer)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")


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


def test_025_the_file_for_prometheus_asks_where_the_server_answers() -> None:
    (job,) = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    assert job["metrics_path"] == "/metrics"
    assert job["static_configs"][0]["targets"] == [f"127.0.0.1:{Settings().port}"]


# -- the audit log ---------------------------------------------------------------------------------------


def test_021_the_audit_log_tells_of_calls_and_refusals_and_of_no_content(http: httpx2.Client) -> None:
    def audit(**wanted: Any) -> list[dict[str, Any]]:
        return http.post("/v1/tools/audit_log", json=wanted).raise_for_status().json()["entries"]

    (mine,) = audit(request_id="mine")
    told = {name: mine[name] for name in ("kind", "decision", "caller", "tool", "surface", "outcome", "address")}
    assert told == {
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


async def test_021_only_who_has_the_whole_scope_reads_the_audit_log(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as application:

        async def read(*scopes: str) -> None:
            caller = Caller("k", frozenset(scopes))
            await application.dispatcher.call("audit_log", {}, CallContext(surface="python", caller=caller))

        await read("server")
        for scopes in (["server:read"], ["*:read"], ["memory"]):
            with pytest.raises(Forbidden):
                await read(*scopes)
    async with running(Settings.model_validate({"home": tmp_path / "b", "audit": {"enabled": False}})) as application:
        with pytest.raises(Unavailable, match="no audit log"):
            await application.dispatcher.call("audit_log", {}, CallContext(surface="python"))
    assert not (tmp_path / "b" / "audit.jsonl").exists()


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (f"00-{TRACE}-{'cd' * 8}-01", True),
        (f"cc-{TRACE}-{'cd' * 8}-01-later", True),
        (f"00-{TRACE}-{'cd' * 8}-01-later", False),
        (f"ff-{TRACE}-{'cd' * 8}-01", False),
        (f"00-{'0' * 32}-{'cd' * 8}-01", False),
        ("garbage", False),
    ],
)
async def test_024_request_ids_and_traces_go_from_the_request_to_the_log_and_the_answer(
    tmp_path: Path, given: str, taken: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    headers = {"X-Request-Id": "mine", "traceparent": given}
    async with (
        running(Settings(home=tmp_path)) as application,
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(build_http(application)), base_url="http://localhost", headers=headers
        ) as client,
    ):
        answer = await client.post("/v1/tools/get_project", json={})
    (call,) = [vars(record) for record in caplog.records if record.name == "scrubjay.calls"]
    assert (answer.headers["x-request-id"], call["request_id"]) == ("mine", "mine")
    assert call.get("trace_id") == (TRACE if taken else None)


# -- parts and services ----------------------------------------------------------------------------------


async def status(application: Any) -> dict[str, Any]:
    return (await application.dispatcher.call("cortex_status", {}, CallContext(surface="python"))).model_dump(
        mode="json"
    )


async def test_023_a_service_that_fails_is_left_alone_and_the_status_tells_what_is_done_without_it(
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
        chosen = {"home": tmp_path, "embedding": embedding, "upstreams": {"failures": 2}}
        async with running(Settings.model_validate(chosen)) as application:
            await application.dispatcher.call("remember", {"content": "Tea at four."}, CallContext(surface="python"))
            await application.dispatcher.call("remember", {"content": "Rain."}, CallContext(surface="python"))
            found = await application.dispatcher.call("recall", {"query": "tea"}, CallContext(surface="python"))
            told = await status(application)
            text, _ = await application.oversight.metrics.text("")
    assert found.model_dump()["memories"][0]["content"] == "Tea at four."
    (breaker,) = told["breakers"]
    assert (breaker["service"], breaker["state"], breaker["failures"]) == ("embedding", "open", 2)
    assert 0 < breaker["retry_after_seconds"] <= 60
    assert told["degradation"]["embedding"]["degraded"] is True
    assert told["degradation"]["embedding"]["status"] == "degraded"
    assert "HTTP 500" in told["degradation"]["embedding"]["problem"]
    assert told["degradation"]["llm"]["status"] == "off"
    assert b'scrubjay_breaker_state{service="embedding",state="open"} 1.0' in text


async def test_023_the_status_has_mimos_shape_and_says_honestly_what_is_not_there(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as application:
        told = await status(application)
    there, nothing = ({"enabled": is_there, "tables_exist": is_there} for is_there in (True, False))
    assert (told["semantic_store"], told["procedural_store"]) == (there, nothing)
    assert set(told["rust_nifs"]) == {"enabled", "loaded"}
    assert told["websocket_synapse"] == {"enabled": False, "connections": 0}
    assert told["degradation"]["embedding"]["status"] == "local"


class RelateRequest(Request):
    pass


class RelateResult(Result):
    pass


@tool("knowledge")
async def relate_things(request: RelateRequest) -> RelateResult:
    """Say how two things are related."""
    return RelateResult()


@pytest.mark.parametrize("is_on", [True, False])
async def test_010_a_part_that_is_switched_off_is_in_no_list_and_answers_that_it_is_unavailable(
    tmp_path: Path, is_on: bool
) -> None:
    settings = Settings.model_validate({"home": tmp_path, "features": {"semantic_store": is_on}})
    async with (
        running(settings, tools=[*ALL, relate_things]) as application,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(build_http(application)), base_url="http://localhost") as web,
    ):
        told = await status(application)
        listed = [found["name"] for found in (await web.get("/v1/tools", params={"tools": "all"})).json()["tools"]]
        found = (await web.post("/v1/tools/search_tools", json={"query": "relate things"})).json()
        answer = await web.post("/v1/tools/relate_things", json={})
        described = (await web.get("/openapi.json")).json()["paths"]
    assert told["semantic_store"]["enabled"] is is_on
    assert ("relate_things" in listed) is is_on
    assert ("relate_things" in json.dumps(found)) is is_on
    assert ("/v1/tools/relate_things" in described) is is_on
    if is_on:
        assert answer.status_code == 200
    else:
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (503, "unavailable")
        assert "SCRUBJAY_FEATURES_SEMANTIC_STORE=true" in error["hint"]


async def test_010_the_websocket_that_is_switched_off_says_so(tmp_path: Path) -> None:
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

        metrics = application.oversight.metrics
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


def test_023_only_who_is_connected_by_the_websocket_itself_is_told_as_such(http: httpx2.Client) -> None:
    async def counted(path: str) -> int:
        url = f"{http.base_url}{path}".replace("http", "ws", 1)
        async with connect(url, proxy=None, additional_headers={"Authorization": f"Bearer {KEY}"}):
            answer = await anyio.to_thread.run_sync(lambda: http.post("/v1/tools/cortex_status", json={}))
            return answer.json()["websocket_synapse"]["connections"]

    assert anyio.run(counted, "/cortex/websocket?vsn=2.0.0") == 1
    assert anyio.run(counted, "/ws") == 0


@pytest.mark.parametrize(("value", "is_on"), [("true", True), ("1", True), ("yes", False), ("false", False)])
def test_010_mimos_variables_switch_parts(monkeypatch: pytest.MonkeyPatch, value: str, is_on: bool) -> None:
    monkeypatch.setenv("WEBSOCKET_ENABLED", value)
    monkeypatch.setenv("RUST_NIFS_ENABLED", value)
    features = load_settings().features
    assert (features.websocket_synapse, features.rust_nifs) == (is_on, is_on)
    assert features.semantic_store
    monkeypatch.setenv("SCRUBJAY_FEATURES_WEBSOCKET_SYNAPSE", "true")
    assert load_settings().features.websocket_synapse


async def test_010_the_compiled_part_is_not_used_when_it_is_switched_off(tmp_path: Path) -> None:
    from scrubjay.native import library

    settings = Settings.model_validate({"home": tmp_path, "features": {"rust_nifs": False}})
    try:
        async with running(settings) as application:
            assert (await status(application))["rust_nifs"] == {"enabled": False, "loaded": False}
            assert library.library() is None
            assert not library.is_wanted()
    finally:
        library.use_library(True)


def test_the_numbers_are_not_loaded_before_somebody_serves_http() -> None:
    look = "[name for name in sys.modules if name.startswith(('prometheus', 'opentelemetry'))]"
    code = f"import sys, scrubjay.app.application; print({look})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
