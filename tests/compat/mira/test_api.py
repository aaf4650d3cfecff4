"""Mira's endpoints under /api, called by a plain HTTP client (feature 4)."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from scrubjay.app.http_server import build_http
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.compat.mira.endpoints import ENDPOINTS
from scrubjay.compat.profiles import PROFILES
from tests.compat.mira.conftest import SERVER_KEY

Json = dict[str, Any]


def data(answer: httpx2.Response) -> Any:
    body = answer.json()
    assert answer.status_code == 200, body
    assert list(body) == ["success", "data", "error"]
    assert (body["success"], body["error"]) == (True, None)
    return body["data"]


def problem(answer: httpx2.Response, status: int = 200) -> str:
    body = answer.json()
    assert answer.status_code == status, body
    assert list(body) == ["success", "data", "error"]
    assert (body["success"], body["data"]) == (False, None)
    return body["error"]


def test_4_a_memory_is_stored_recalled_shown_and_deleted(plain: httpx2.Client) -> None:
    stored = data(plain.post("/api/memories", json={"content": "The lighthouse is red.", "category": "sea"}))
    listed = data(plain.get("/api/memories", params={"category": "sea", "limit": "5", "kinds": "general"}))
    assert [one["content"] for one in listed] == ["The lighthouse is red."]
    assert data(plain.get(f"/api/memories/{stored['id']}")) == listed[0]
    recalled = data(plain.post("/api/recall", json={"query": "which colour has the lighthouse?", "limit": 1}))
    assert [one["id"] for one in recalled] == [stored["id"]]
    assert data(plain.delete(f"/api/memories/{stored['id']}"))["forgotten"]["id"] == stored["id"]
    response = plain.get(f"/api/memories/{stored['id']}")
    assert "there is no memory" in problem(response)
    assert response.headers["scrubjay-error"] == "not_found"
    assert data(plain.get("/api/memories", params={"category": "sea"})) == []


def test_4_the_active_project_persists_and_its_sessions_list_their_calls(plain: httpx2.Client, tmp_path: Path) -> None:
    (tmp_path / "tide.py").write_text("def high_tide():\n    return 3\n")
    assert data(plain.get("/api/health"))["status"] == "healthy"
    project = data(plain.post("/api/project/set", json={"path": str(tmp_path), "name": "Harbour"}))
    assert data(plain.get("/api/project")) == project
    assert project in data(plain.get("/api/projects"))
    assert data(plain.post("/api/index", json={"path": str(tmp_path)}))["message"].startswith("Indexed 1 file")
    symbols = data(plain.post("/api/symbols", json={"file_path": "tide.py"}))["symbols"]
    assert [one["name"] for one in symbols] == ["high_tide"]
    assert data(plain.post("/api/search/code", json={"query": "high_tide"}))["results"][0]["path"] == "tide.py"
    (session,) = data(plain.get("/api/sessions"))
    address = f"/api/sessions/{session['id']}"
    assert data(plain.get(address))["client"] == "mira:web"
    history = data(plain.get(f"{address}/history", params={"limit": 100}))
    assert [one["tool"] for one in history][-3:] == ["list_projects", "get_project", "set_project"]
    assert {"get_symbols", "semantic_code_search"} <= {one["tool"] for one in history}
    export = data(plain.get(f"{address}/export"))
    assert {"session", "project", "stats", "history", "exported_at"} <= set(export)
    assert set(export["stats"]) == {"tool_count", "top_tools"}
    assert data(plain.get("/api/project", headers={"Scrubjay-Client": "another"})) is None


def test_4_an_error_of_a_tool_is_returned_in_the_envelope(plain: httpx2.Client) -> None:
    refused = plain.post("/api/memories", json={"contnt": "x"})
    assert "contnt: did you mean content?" in problem(refused)
    assert refused.headers["scrubjay-error"] == "invalid_request"
    assert "limit" in problem(plain.get("/api/memories", params={"limit": "many"}))
    assert "unknown field" in problem(plain.get("/api/memories", params={"lmit": "1"}))
    assert "is set by the path" in problem(plain.get("/api/sessions", params={"action": "current"}))
    assert "NUL" in problem(plain.post("/api/recall", json={"query": "a\0b"}))


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "message"),
    [
        ("POST", "/api/memories", b"{", 400, "the body is not JSON"),
        ("POST", "/api/recall", b"[]", 400, "not a JSON object"),
        ("PUT", "/api/memories", b"", 405, "use GET, POST"),
        ("GET", "/api/chat", b"", 405, "use POST"),
        ("GET", "/api/nothing", b"", 404, "no endpoint at /api/nothing"),
        ("GET", "/api/memories/a/b", b"", 404, "no endpoint at"),
    ],
)
def test_4_a_request_without_a_tool_has_its_own_status(
    plain: httpx2.Client, method: str, path: str, content: bytes, status: int, message: str
) -> None:
    answer = plain.request(method, path, content=content)
    assert message in problem(answer, status)
    if status == 405:
        assert answer.headers["allow"] in message


def test_4_refusals_before_routing_keep_their_status_in_the_envelope(url: str) -> None:
    with httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
        missing = http.get("/api/memories")
        assert "this server requires a key" in problem(missing, 401)
        assert missing.headers["www-authenticate"] == "Bearer"
        key = {"Authorization": f"Bearer {SERVER_KEY}"}
        assert "host" in problem(http.get("/api/memories", headers={**key, "Host": "evil.example"}), 403)
        large = http.post("/api/memories", headers=key, content=b" " * (16 * 1024 * 1024 + 1))
        assert "larger" in problem(large, 413)


def test_4_every_endpoint_calls_a_known_tool() -> None:
    known = {*PROFILES["mira"], *(one.name for one in TOOL_CATALOG)}
    assert {endpoint.tool for endpoint in ENDPOINTS} <= known
    addresses = [(endpoint.method, endpoint.path) for endpoint in ENDPOINTS]
    assert len(addresses) == len(set(addresses))


async def test_4_an_endpoint_works_once_its_tool_is_registered(tmp_path: Path) -> None:
    for tools in ([one for one in TOOL_CATALOG if one.name != "persona"], [*TOOL_CATALOG]):
        async with (
            running(Settings(home=tmp_path), tools=tools) as application,
            httpx2.AsyncClient(
                transport=httpx2.ASGITransport(build_http(application)), base_url="http://localhost"
            ) as http,
        ):
            response = await http.get("/api/persona")
            changed = await http.post("/api/persona/session", json={"content": "a pirate"})
            documented = (await http.get("/openapi.json")).json()["paths"].get("/api/persona/session")
            if len(tools) < len([*TOOL_CATALOG]):
                assert "needs the tool persona" in problem(response, 404)
                assert documented is None
            else:
                assert data(response)["session"] is None
                assert data(changed)["session"] == "a pirate"
                body = documented["post"]["requestBody"]["content"]["application/json"]["schema"]
                assert list(body["properties"]) == ["content", "session_id", "project"]


def test_095_tasks_and_goals_are_created_and_listed(plain: httpx2.Client) -> None:
    task = data(plain.post("/api/tasks", json={"title": "Paint the boat", "priority": "high"}))
    goal = data(plain.post("/api/goals", json={"title": "A red boat", "progress_percent": 5}))
    assert (task["title"], goal["progress_percent"]) == ("Paint the boat", 5)
    assert task in data(plain.get("/api/tasks", params={"status": "pending", "limit": "200"}))
    assert goal in data(plain.get("/api/goals"))
    done = data(plain.post("/api/tasks", json={"action": "complete", "task_id": task["id"]}))
    assert done["status"] == "completed"
    assert task["id"] not in [one["id"] for one in data(plain.get("/api/tasks"))]
    assert done in data(plain.get("/api/tasks", params={"include_completed": "true"}))
    assert "create needs title" in problem(plain.post("/api/goals", json={}))
    assert data(plain.post("/api/goals", json={"action": "list"}))["goals"] == data(plain.get("/api/goals"))
