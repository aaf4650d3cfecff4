"""Mimo's own routes on a real server: the unchanged examples of its document, and its envelopes."""

import json
import os
import re
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.surfaces.callers import server

# The five documents are outside of the repository, so a plain checkout has none.
SEEDS = Path(__file__).parents[3] / "shared" / "seeds"
MIMO = next((path for path in SEEDS.glob("*.txt") if path.read_text("utf-8").startswith("# Mimo-MCP")), None)
# The examples that need the internet; without access or a key, their documented error is accepted.
OUTSIDE = {
    "fetch": r"DNS resolution failed|Request timed out|Connection (refused|failed)|Invalid JSON response",
    "search": r"EXA_API_KEY not configured",
}
# The key that the examples send.
KEY = "YOUR_API_KEY"
BEARER = {"Authorization": f"Bearer {KEY}"}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    root = tmp_path_factory.mktemp("root")
    (root / "README.md").write_text("# A project\n")
    settings = {"SCRUBJAY_API_KEY": KEY, "SCRUBJAY_FILES_ROOT": str(root), "EXA_API_KEY": ""}
    with server(tmp_path_factory.mktemp("home"), **settings) as url:
        yield url


def post(url: str, body: Any, path: str = "/v1/mimo/tool", **headers: str) -> httpx2.Response:
    content = body if isinstance(body, str) else json.dumps(body)
    return httpx2.post(url + path, content=content, headers={**BEARER, **headers}, trust_env=False, timeout=30)


def test_4_a_tool_is_called_with_mimos_envelope(url: str):
    stored = post(url, {"tool": "store_fact", "arguments": {"content": "Ada prefers dark mode", "category": "fact"}})
    body = stored.json()
    assert (stored.status_code, body["status"], set(body)) == (
        200,
        "success",
        {"tool_call_id", "status", "data", "latency_ms"},
    )
    assert body["data"]["stored"]
    assert float(stored.headers["x-mimo-latency-ms"]) >= body["latency_ms"]
    results = post(url, {"tool": "search_vibes", "arguments": {"query": "dark mode", "threshold": 0}}).json()["data"]
    assert [(memory["id"], memory["content"], memory["category"]) for memory in results] == [
        (body["data"]["id"], "Ada prefers dark mode", "fact")
    ]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "Missing required parameter: tool"),
        ({"tool": ""}, "Missing required parameter: tool"),
        ({"tool": 3}, "Missing required parameter: tool"),
        ({"tool": "recall", "arguments": []}, "must be a JSON object"),
        ("no JSON", "not JSON"),
        ("[1]", "not a JSON object"),
    ],
)
def test_4_an_invalid_call_is_refused_before_any_tool_is_called(url: str, body: Any, error: str):
    answer = post(url, body)
    assert (answer.status_code, set(answer.json())) == (400, {"error"})
    assert error in answer.json()["error"]


@pytest.mark.parametrize("call", [{"tool": "recal"}, {"tool": "recall"}, {"tool": "forget", "arguments": {"id": "no"}}])
def test_4_a_failed_tool_is_reported_in_the_envelope(url: str, call: dict[str, Any]):
    answer = post(url, call)
    body = answer.json()
    assert (answer.status_code, body["status"], set(body)) == (
        400,
        "error",
        {"tool_call_id", "status", "error", "latency_ms"},
    )
    assert body["error"]


def test_4_all_tools_are_listed(url: str):
    tools = httpx2.get(f"{url}/v1/mimo/tools", headers=BEARER, trust_env=False).json()["tools"]
    assert {tuple(tool) for tool in tools} == {("name", "description", "inputSchema")}
    assert {"recall", "batch_execute", "impact", "ask_mimo"} <= {tool["name"] for tool in tools}


def test_4_an_unknown_mimo_path_lists_the_existing_ones(url: str):
    answer = httpx2.get(f"{url}/v1/mimo/nothing", headers=BEARER, trust_env=False)
    body = answer.json()
    assert (answer.status_code, body["error"], body["path"]) == (404, "Not found", "/v1/mimo/nothing")
    assert len(body["available_endpoints"]) == 6


def test_15_22_tools_that_write_cannot_be_called_from_the_sandbox(url: str):
    fact = {"content": "written from the sandbox", "category": "fact"}
    answer = post(url, {"tool": "store_fact", "arguments": fact}, **{"x-mimo-sandbox": "1"})
    assert answer.status_code == 403
    assert answer.json() == {"error": "Tool disabled in sandbox mode", "tool": "store_fact", "sandbox_mode": True}
    for tool in ("recall_procedure", "mimo_store_memory", "remember"):
        refused = post(url, {"tool": tool, "arguments": {"content": "x"}}, **{"x-mimo-sandbox": ""})
        assert (refused.status_code, refused.json()["tool"], refused.json()["sandbox_mode"]) == (403, tool, True)
    recalled = post(url, {"tool": "recall", "arguments": {"query": "sandbox"}}, **{"x-mimo-sandbox": "1"})
    assert (recalled.status_code, recalled.json()["data"]["memories"]) == (200, [])


@pytest.mark.skipif(MIMO is None, reason="Mimo's document is not part of the project")
def test_4_the_examples_of_mimos_document_run_unchanged(url: str):
    assert MIMO
    blocks = re.findall(r"```bash\n(.*?)```", MIMO.read_text("utf-8"), re.DOTALL)
    commands = [
        command
        for block in blocks
        for command in re.findall(r"(?m)^curl (?:.*\\\n)*.*(?:\n.*?)*?(?=\n\n|\n?\Z)", block)
    ]
    responses: dict[str, Any] = {}
    for command in commands:
        if "localhost:4000" not in command:
            continue
        tool_match = re.search(r'"tool": "(\w+)"', command)
        output = subprocess.run(
            ["bash", "-c", command.replace("curl ", "curl -s --noproxy '*' ", 1).replace("http://localhost:4000", url)],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
            env={**os.environ, "API_KEY": KEY},
        ).stdout
        answer = json.loads(output)
        if tool_match and tool_match[1] in OUTSIDE and answer["status"] == "error":
            assert re.search(OUTSIDE[tool_match[1]], answer["error"]), command
        else:
            assert answer.get("status", "success") in ("success", "healthy"), command
            assert "error" not in answer, command
        responses[tool_match[1] if tool_match else command] = answer
    assert len(responses) >= 9
    assert responses["file"]["data"] == "# A project\n"
    assert responses["terminal"]["data"]["status"] == 0
    assert "README.md" in responses["terminal"]["data"]["output"]
