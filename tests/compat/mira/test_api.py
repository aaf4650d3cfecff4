"""Mira's addresses under /api, asked by a plain HTTP client (feature 4)."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from scrubjay.app.http_server import build_http
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.tool_catalog import ALL
from scrubjay.compat.mira.endpoints import ENDPOINTS
from scrubjay.compat.profiles import PROFILES
from tests.compat.mira.conftest import SERVER_KEY

Json = dict[str, Any]


def data(answer: httpx2.Response) -> Any:
    told = answer.json()
    assert answer.status_code == 200, told
    assert list(told) == ["success", "data", "error"]
    assert (told["success"], told["error"]) == (True, None)
    return told["data"]


def problem(answer: httpx2.Response, status: int = 200) -> str:
    told = answer.json()
    assert answer.status_code == status, told
    assert list(told) == ["success", "data", "error"]
    assert (told["success"], told["data"]) == (False, None)
    return told["error"]


def test_4_a_memory_is_kept_found_shown_and_erased(plain: httpx2.Client) -> None:
    kept = data(plain.post("/api/memories", json={"content": "The lighthouse is red.", "category": "sea"}))
    listed = data(plain.get("/api/memories", params={"category": "sea", "limit": "5", "kinds": "general"}))
    assert [one["content"] for one in listed] == ["The lighthouse is red."]
    assert data(plain.get(f"/api/memories/{kept['id']}")) == listed[0]
    found = data(plain.post("/api/recall", json={"query": "which colour has the lighthouse?", "limit": 1}))
    assert [one["id"] for one in found] == [kept["id"]]
    assert data(plain.delete(f"/api/memories/{kept['id']}"))["forgotten"]["id"] == kept["id"]
    gone = plain.get(f"/api/memories/{kept['id']}")
    assert "there is no memory" in problem(gone)
    assert gone.headers["scrubjay-error"] == "not_found"
    assert data(plain.get("/api/memories", params={"category": "sea"})) == []


def test_4_a_project_stays_chosen_and_its_sessions_tell_what_was_done(plain: httpx2.Client, tmp_path: Path) -> None:
    (tmp_path / "tide.py").write_text("def high_tide():\n    return 3\n")
    assert data(plain.get("/api/health"))["status"] == "healthy"
    chosen = data(plain.post("/api/project/set", json={"path": str(tmp_path), "name": "Harbour"}))
    assert data(plain.get("/api/project")) == chosen
    assert chosen in data(plain.get("/api/projects"))
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


def test_4_what_a_tool_refuses_is_told_in_the_envelope(plain: httpx2.Client) -> None:
    refused = plain.post("/api/memories", json={"contnt": "x"})
    assert "contnt: did you mean content?" in problem(refused)
    assert refused.headers["scrubjay-error"] == "invalid_request"
    assert "limit" in problem(plain.get("/api/memories", params={"limit": "many"}))
    assert "unknown field" in problem(plain.get("/api/memories", params={"lmit": "1"}))
    assert "is given by the address" in problem(plain.get("/api/sessions", params={"action": "current"}))
    assert "NUL" in problem(plain.post("/api/recall", json={"query": "a\0b"}))


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "said"),
    [
        ("POST", "/api/memories", b"{", 400, "the body is not JSON"),
        ("POST", "/api/recall", b"[]", 400, "not a JSON object"),
        ("PUT", "/api/memories", b"", 405, "it takes GET, POST"),
        ("GET", "/api/chat", b"", 405, "it takes POST"),
        ("GET", "/api/nothing", b"", 404, "there is nothing at /api/nothing"),
        ("GET", "/api/memories/a/b", b"", 404, "there is nothing at"),
    ],
)
def test_4_what_comes_to_no_tool_has_its_status(
    plain: httpx2.Client, method: str, path: str, content: bytes, status: int, said: str
) -> None:
    answer = plain.request(method, path, content=content)
    assert said in problem(answer, status)
    if status == 405:
        assert answer.headers["allow"] in said


def test_4_refusals_of_the_edge_keep_their_status_in_the_envelope(url: str) -> None:
    with httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
        missing = http.get("/api/memories")
        assert "this server needs a key" in problem(missing, 401)
        assert missing.headers["www-authenticate"] == "Bearer"
        key = {"Authorization": f"Bearer {SERVER_KEY}"}
        assert "host" in problem(http.get("/api/memories", headers={**key, "Host": "evil.example"}), 403)
        large = http.post("/api/memories", headers=key, content=b" " * (16 * 1024 * 1024 + 1))
        assert "larger" in problem(large, 413)


def test_4_every_endpoint_is_of_a_tool_of_mira_or_one_of_ours() -> None:
    known = {*PROFILES["mira"], *(one.name for one in ALL)}
    assert {endpoint.tool for endpoint in ENDPOINTS} <= known
    addresses = [(endpoint.method, endpoint.path) for endpoint in ENDPOINTS]
    assert len(addresses) == len(set(addresses))


async def test_4_an_address_comes_alive_with_its_tool(tmp_path: Path) -> None:
    for tools in ([one for one in ALL if one.name != "persona"], [*ALL]):
        async with (
            running(Settings(home=tmp_path), tools=tools) as application,
            httpx2.AsyncClient(
                transport=httpx2.ASGITransport(build_http(application)), base_url="http://localhost"
            ) as http,
        ):
            shown = await http.get("/api/persona")
            changed = await http.post("/api/persona/session", json={"content": "a pirate"})
            documented = (await http.get("/openapi.json")).json()["paths"].get("/api/persona/session")
            if len(tools) < len([*ALL]):
                assert "needs the tool persona" in problem(shown, 404)
                assert documented is None
            else:
                assert data(shown)["session"] is None
                assert data(changed)["session"] == "a pirate"
                body = documented["post"]["requestBody"]["content"]["application/json"]["schema"]
                assert list(body["properties"]) == ["content", "session_id", "project"]


def test_095_tasks_and_goals_are_made_and_listed(plain: httpx2.Client) -> None:
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
