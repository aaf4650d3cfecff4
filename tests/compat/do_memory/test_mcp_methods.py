"""Requests of do-memory's clients to a real server over standard input, as raw JSON."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest

from scrubjay.app.commands import profile_option
from scrubjay.app.settings import Settings
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.compat.profiles import PROFILES
from scrubjay.tooling.registry import Registry
from tests.surfaces.callers import environment, server
from tests.surfaces.commands import run_dialogue

Json = dict[str, Any]
Ask = Callable[..., Json]
GREETING = {"protocolVersion": "2024-11-05", "clientInfo": {"name": "test", "version": "1"}, "capabilities": {}}
MODERN: Json = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
LIST_ALIASES = ("tools.get", "tools/get", "list_tools", "list-tools")
CALL_ALIASES = ("call_tool", "tool/call", "tools.call")


def run_requests(home: Path, *requests: tuple[str, Mapping[str, Any]], options: Sequence[str] = ()) -> list[Json]:
    """Send requests to a real `scrubjay mcp`; return the responses in the order of the requests."""
    messages: list[Json] = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": GREETING}]
    messages += [{"jsonrpc": "2.0", "method": "notifications/initialized"}]
    messages += [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(requests, 1)
    ]
    with run_dialogue(["mcp", *options], environment(home), home) as (stdin, stdout):
        stdin.writelines(json.dumps(message) + "\n" for message in messages)
        stdin.flush()
        answers: dict[int, Json] = {}
        while len(answers) <= len(requests) and (line := stdout.readline()):
            answer = json.loads(line)
            if "id" in answer:
                answers[answer["id"]] = answer
    return [answers[number] for number in range(1, len(requests) + 1)]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with server(tmp_path_factory.mktemp("home")) as url:
        yield url


@pytest.fixture(params=["2025-11-25", "2026-07-28"])
def ask(request: pytest.FixtureRequest, url: str) -> Generator[Ask]:
    """Return a function that sends requests over HTTP, with or without a handshake."""
    headers = {"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": request.param}
    is_modern = request.param == "2026-07-28"
    meta: Json = {f"io.modelcontextprotocol/{name}": value for name, value in MODERN.items()} if is_modern else {}
    with httpx2.Client(base_url=url, headers=headers, timeout=30, trust_env=False) as http:

        def ask(method: str, **params: Any) -> Json:
            method_headers = {"Mcp-Method": method, **({"Mcp-Name": params["name"]} if "name" in params else {})}
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
            answer = http.post("/mcp", headers=method_headers if is_modern else {}, json=body)
            lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: {")]
            return json.loads(lines[-1] if lines else answer.text)

        if not is_modern:
            handshake = {"jsonrpc": "2.0", "id": 0, "method": "initialize"}
            response = http.post("/mcp", json={**handshake, "params": {**GREETING, "protocolVersion": request.param}})
            http.headers["Mcp-Session-Id"] = response.headers["mcp-session-id"]
            http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield ask


def test_9_10_41_all_methods_work_over_http_in_both_protocol_versions(ask: Ask):
    listed = ask("tools/list", limit=200)["result"]["tools"]
    for alias in LIST_ALIASES:
        assert ask(alias, limit=200)["result"]["tools"] == listed
    for alias in CALL_ALIASES:
        called = ask(alias, name="recall", arguments={"query": "nothing"})["result"]
        assert (called["isError"], called["structuredContent"]["memories"]) == (False, [])
    first = ask("tools/list", limit=5, lazy=True)["result"]
    assert {tuple(sorted(tool)) for tool in first["tools"]} == {("description", "inputSchema", "name", "title")}
    rest = ask("tools/list", limit=200, cursor=first["nextCursor"])["result"]
    assert [tool["name"] for page in (first, rest) for tool in page["tools"]] == [tool["name"] for tool in listed]
    for cursor in ("", "ü", "bm90aGluZw==", "////", first["nextCursor"] + "x"):
        assert ask("tools/list", cursor=cursor)["error"]["code"] == -32602
    assert ask("tools/describe", name="recall")["result"]["tool"] in listed
    many = ask("tools/describe_batch", names=["recall", "nothing"])["result"]["tools"]
    assert [tool["name"] for tool in many] == ["recall"]
    operations = [
        {"id": "keep", "tool": "remember", "arguments": {"content": "Over HTTP as well."}},
        {"id": "drop", "tool": "forget", "arguments": {"id": {"$result": "keep", "pointer": "/id"}}},
    ]
    assert ask("batch/execute", operations=operations)["result"]["success_count"] == 2


def test_41_methods_backed_by_a_tool_answer_like_the_tool(ask: Ask):
    for method in ("health", "health/check"):
        assert ask(method)["result"]["status"] == "healthy"
    assert ask("embedding/config", provider="local")["result"]["success"] is True
    refused = ask("embedding/config", provider="nobody")["error"]
    assert (refused["code"], refused["data"]["code"]) == (-32602, "invalid_request")
    assert "result" in ask("shutdown")
    assert ask("task/list")["error"]["code"] == -32601


def test_10_41_lists_support_page_size_and_brief_entries(tmp_path: Path):
    first, brief, wrong = run_requests(
        tmp_path, ("tools/list", {"limit": 3}), ("tools/list", {"lazy": True}), ("tools/list", {"limit": 0})
    )
    assert [len(first["result"]["tools"]), "nextCursor" in first["result"]] == [3, True]
    assert {tuple(sorted(tool)) for tool in brief["result"]["tools"]} == {
        ("description", "inputSchema", "name", "title")
    }
    assert all(tool["inputSchema"] == {"type": "object"} for tool in brief["result"]["tools"])
    assert wrong["error"]["code"] == -32602
    (rest,) = run_requests(tmp_path, ("tools/list", {"limit": 200, "cursor": first["result"]["nextCursor"]}))
    names = [tool["name"] for part in (first, rest) for tool in part["result"]["tools"]]
    assert names == [tool["name"] for tool in brief["result"]["tools"]]


def test_41_a_tool_is_described_whether_it_is_listed_or_not(tmp_path: Path):
    one, unknown, many = run_requests(
        tmp_path,
        ("tools/describe", {"name": "batch_execute"}),
        ("tools/describe", {"name": "nothing"}),
        ("tools/describe_batch", {"names": ["recall", "nothing", "impact", "recall"]}),
    )
    assert one["result"]["tool"]["inputSchema"]["required"] == ["operations"]
    assert (unknown["error"]["code"], unknown["error"]["message"]) == (-32601, "Tool not found")
    assert unknown["error"]["data"] == {"tool": "nothing"}
    assert [tool["name"] for tool in many["result"]["tools"]] == ["recall", "impact"]


def test_41_methods_have_the_aliases_that_clients_use(tmp_path: Path):
    call = {"name": "recall", "arguments": {"query": "nothing"}}
    nothing: Json = {}
    answers = run_requests(
        tmp_path,
        ("tools/list", nothing),
        *((alias, nothing) for alias in LIST_ALIASES),
        *((alias, call) for alias in CALL_ALIASES),
    )
    listed, *others = [answer["result"] for answer in answers]
    assert all(other["tools"] == listed["tools"] for other in others[: len(LIST_ALIASES)])
    assert all(other["structuredContent"]["memories"] == [] for other in others[len(LIST_ALIASES) :])


def test_9_a_batch_passes_results_on_and_skips_dependents_of_a_failure(tmp_path: Path):
    find = {"id": "find", "tool": "recall", "arguments": {"query": "when is the release"}, "depends_on": ["keep"]}
    keep = {"id": "keep", "tool": "remember", "arguments": {"content": "The release is on Thursday."}}
    reference = {"id": {"$result": "keep", "pointer": "/id"}}
    failing = {"id": "bad", "tool": "no_such_tool"}
    skipped = {"id": "vain", "tool": "remember", "arguments": {"content": "never kept"}, "depends_on": ["bad"]}
    delete = {"id": "gone", "tool": "forget", "arguments": reference, "depends_on": ["find"]}
    batch, after, cycle = run_requests(
        tmp_path,
        ("batch/execute", {"operations": [find, keep, failing, skipped, delete], "max_parallel": 2}),
        ("tools/call", {"name": "recall", "arguments": {"query": "never kept"}}),
        ("batch/execute", {"operations": [{**keep, "depends_on": ["keep"]}]}),
    )
    result = batch["result"]
    outcomes = {outcome["id"]: outcome for outcome in result["results"]}
    assert [outcome["id"] for outcome in result["results"]] == ["find", "keep", "bad", "vain", "gone"]
    assert [outcome["success"] for outcome in result["results"]] == [True, True, False, False, True]
    assert outcomes["find"]["result"]["memories"][0]["id"] == outcomes["keep"]["result"]["id"]
    assert (outcomes["bad"]["error"]["code"], outcomes["bad"]["error"]["details"]["code"]) == (-32000, "unknown_tool")
    assert outcomes["vain"]["error"]["details"] == {"skipped": True, "because": ["bad"]}
    assert (result["success_count"], result["failure_count"]) == (3, 2)
    assert result["stats"]["parallel_executed"] == 4
    assert after["result"]["structuredContent"]["memories"] == []
    assert (cycle["error"]["code"], cycle["error"]["message"]) == (-32603, "Batch execution failed")


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_lists_exactly_the_tools_of_its_system(tmp_path: Path, profile: str):
    (listed,) = run_requests(tmp_path, ("tools/list", {}), options=("--profile", profile))
    assert {tool["name"] for tool in listed["result"]["tools"]} == set(PROFILES[profile])


# Calls with all documented arguments, each after the calls that it depends on; CODE is a folder.
DOCUMENTED: dict[str, list[tuple[str, Json]]] = json.loads(
    Path(__file__).with_name("documented_calls.json").read_text()
)
# These reach beyond the server or answer a waiting client; other tests call them.
ELSEWHERE = {"file", "terminal", "fetch", "search", "sonar", "reply_to_mira"}


@pytest.mark.parametrize("profile", PROFILES)
def test_every_tool_of_a_profile_accepts_the_documented_arguments(tmp_path: Path, profile: str):
    home, code = tmp_path / "home", tmp_path / "code"
    home.mkdir()
    code.mkdir()
    (code / "sample.py").write_text("def greet():\n    return 'hello'\n\n\ndef main():\n    return greet()\n")
    calls = DOCUMENTED[profile]
    assert {tool for tool, _ in calls} == set(PROFILES[profile]) - ELSEWHERE
    operations: list[Json] = [
        {"id": tool, "tool": tool, "arguments": json.loads(json.dumps(arguments).replace("CODE", str(code)))}
        for tool, arguments in calls
    ]
    if operations[0]["tool"] == "ensure_repo_index":  # it returns before the index is built
        with server(home) as url, httpx2.Client(base_url=url, timeout=60, trust_env=False) as http:
            job = http.post("/v1/tools/ensure_repo_index", json=operations[0]["arguments"]).json()["job_id"]
            assert '"completed"' in http.get(f"/v1/jobs/{job}/events").text  # the stream ends with the job
    batch = {"operations": operations, "mode": "sequential"}
    (answer,) = run_requests(home, ("batch/execute", batch), options=("--profile", profile))
    failed = {
        outcome["id"]: outcome["error"]["message"] for outcome in answer["result"]["results"] if not outcome["success"]
    }
    assert failed == {}


def test_there_is_one_list_of_profiles():
    declared = Settings.model_json_schema()["properties"]["profile"]["anyOf"][0]["enum"]
    assert declared == [*PROFILES]
    option = profile_option(lambda: None).__click_params__[0]  # pyright: ignore
    assert [*option.type.choices] == [*PROFILES]  # pyright: ignore
    all_names = {name for names in PROFILES.values() for name in names}
    assert all_names <= set(Registry(TOOL_CATALOG).names)
