"""A server whose store became unusable says so on every protocol, also on `/health`."""

import time
from pathlib import Path

import httpx2

from scrubjay.db.sqlite.connections import Connection
from tests.surfaces.callers import Json, server


def wait_for_status(http: httpx2.Client, status: str) -> Json:
    """Return the liveness report once it has this status; it is at most one second old."""
    deadline = time.monotonic() + 10
    while (report := http.get("/health").json())["status"] != status:
        assert time.monotonic() < deadline, report
    return report


def test_127_an_old_server_refuses_a_store_that_a_newer_release_migrated(tmp_path: Path) -> None:
    with server(tmp_path) as url, httpx2.Client(base_url=url, timeout=60, trust_env=False) as http:
        assert http.post("/v1/tools/remember", json={"content": "in time"}).status_code == 200
        connection = Connection(tmp_path / "scrubjay.db", 5.0)
        connection.pragma("user_version", 99)
        for tool, arguments in (
            ("remember", {"content": "too late"}),
            ("recall", {"query": "late"}),
            ("forget", {"key": "x"}),
            ("working_store", {"content": "x", "session_id": "s"}),
            ("create_task", {"title": "x"}),
        ):
            answer = http.post(f"/v1/tools/{tool}", json=arguments)
            assert (tool, answer.status_code, answer.json()["error"]["code"]) == (tool, 503, "store_unusable")
            assert "has schema version 99; this process is scrubjay" in answer.json()["error"]["message"]
        assert wait_for_status(http, "degraded")["stores"]["episodic"] == "error"
        # The keys cannot be read either, so the call is refused with the reason.
        assert "schema version 99" in http.post("/v1/tools/health_check").json()["error"]["message"]
        assert connection.value("SELECT count(*) FROM memory") == 1
        connection.close()


def test_127_a_full_disk_is_reported_and_forgetting_makes_room(small_disk: Path) -> None:
    home = small_disk / "home"
    home.mkdir()
    with server(home) as url, httpx2.Client(base_url=url, timeout=60, trust_env=False) as http:
        assert http.get("/health").json()["status"] == "healthy"
        stored: list[str] = []
        while (answer := http.post("/v1/tools/remember", json={"content": f"{len(stored)} " + "x" * 9_000})).is_success:
            stored.append(answer.json()["id"])
        assert answer.status_code == 503
        assert "disk of the store is full" in answer.json()["error"]["message"]
        wait_for_status(http, "degraded")
        assert http.post("/v1/tools/health_check").json()["status"] == "unhealthy"
        assert http.post("/v1/tools/recall", json={"query": "7"}).status_code == 200
        for memory_id in stored[:20]:
            answer = http.post("/v1/tools/forget", json={"id": memory_id})
            assert (answer.status_code, answer.text) == (200, answer.text)
        assert http.post("/v1/tools/remember", json={"content": "there is room"}).status_code == 200
