"""The event stream at /ws, received with a real WebSocket client (features 6 and 7)."""

import base64
import json
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from tests.compat.mira.conftest import SERVER_KEY, key_of
from tests.compat.mira.event_client import Listener, listening
from tests.servers.phoenix.server_process import serve_process
from tests.surfaces.callers import PROGRAM, environment

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
Json = dict[str, Any]


async def test_6_calls_are_sent_as_they_happen_without_secrets(plain_url: str) -> None:
    async with (
        listening(plain_url) as listener,
        httpx2.AsyncClient(base_url=plain_url, timeout=30, trust_env=False) as http,
    ):
        long = "z" * 50_000
        arguments = {"content": f"The token is {SECRET} {long}", "metadata": {"password": "hunter2"}}
        await http.post("/v1/tools/remember", json=arguments)
        began = await listener.receive("tool_start", "remember")
        ended = await listener.receive("tool_result", "remember")
        assert set(began) == {"type", "event_id", "tool_name", "arguments", "call_id"}
        assert set(ended) == {"type", "event_id", "tool_name", "call_id", "result", "success", "duration_ms"}
        assert (began["call_id"], ended["success"]) == (ended["call_id"], True)
        assert began["event_id"] < ended["event_id"]
        assert json.loads(ended["result"])["outcome"] == "stored"
        events_text = json.dumps([began, ended])
        assert SECRET not in events_text
        assert "hunter2" not in events_text
        assert len(events_text) < 4_000
        await http.post("/api/recall", json={"query": ""})
        assert (await listener.receive("tool_result", "recall"))["success"] is False
        update = await listener.receive("session_update")
        assert (update["memories_added"], update["tools_called"]) == (1, 2)


async def test_6_commands_are_answered_and_invalid_ones_get_an_error(plain_url: str) -> None:
    async with listening(plain_url) as listener:
        await listener.send("ping")
        assert await listener.next() == {"type": "pong"}
        for nonsense in ("{", "[]", '{"type": "dance"}', '{"type": "sync", "last_event_id": "x"}'):
            await listener.socket.send(nonsense)
            reply = await listener.next()
            assert (reply["type"], reply["recoverable"]) == ("error", True)
        await listener.socket.send(b"\x00")
        assert (await listener.next())["type"] == "error"
        await listener.send("pong")  # accepted without a reply
        for _ in range(20):
            await listener.socket.send("{")
        assert await listener.until_closed() == 1008


async def test_6_a_client_that_reconnects_misses_and_repeats_nothing(plain_url: str) -> None:
    async with httpx2.AsyncClient(base_url=plain_url, timeout=30, trust_env=False) as http:

        async def call(number: int) -> None:
            await http.post("/v1/tools/remember", json={"content": f"wave {number}", "key": "wave"})

        async with listening(plain_url) as listener:
            await call(1)
            last = (await listener.receive("tool_result", "remember"))["event_id"]
        for number in (2, 3):
            await call(number)
        async with listening(plain_url) as listener:
            await call(4)
            live = await listener.receive("tool_result", "remember")
            await listener.send("sync", last_event_id=last)
            synced = await listener.receive("synced")
            replayed = [event for event in listener.received if "replay_of" in event]
            kinds = [(event["type"], event["call_id"]) for event in replayed]
            assert [kind for kind, _ in kinds] == ["tool_start", "tool_result"] * 2
            assert len({call_id for _, call_id in kinds}) == 2
            assert all(call_id.startswith("replay-") for _, call_id in kinds)
            waves = [event["arguments"]["content"] for event in replayed if event["type"] == "tool_start"]
            assert waves == ["wave 2", "wave 3"]
            assert (synced["replayed"], synced["complete"]) == (4, True)
            # From the middle of a call, only its end is replayed.
            await listener.send("sync", last_event_id=replayed[2]["event_id"])
            await listener.receive("synced")
            assert listener.received[-2]["event_id"] == replayed[3]["event_id"]
            assert listener.received[-3]["type"] in ("synced", "session_update")
            assert live["event_id"] > synced["last_event_id"]
        # With the connection request, the replay precedes all other events.
        async with listening(plain_url, query=f"?last_event_id={last}") as listener:
            await listener.receive("synced")
            waves = [event["arguments"]["content"] for event in listener.received if event["type"] == "tool_start"]
            assert waves == ["wave 2", "wave 3", "wave 4"]


async def test_6_at_most_a_hundred_calls_are_replayed_at_once(plain_url: str) -> None:
    async with (
        listening(plain_url) as listener,
        httpx2.AsyncClient(base_url=plain_url, timeout=30, trust_env=False) as http,
    ):
        last = listener.received[0]["event_id"]
        async with listening(plain_url) as counter:
            for _ in range(105):
                await http.get("/api/project")
            for _ in range(105):
                await counter.receive("tool_result", "get_project")
        async with listening(plain_url) as reconnected:
            await reconnected.send("sync", last_event_id=last)
            first = await reconnected.receive("synced")
            assert (first["replayed"], first["complete"]) == (200, False)
            await reconnected.send("sync", last_event_id=first["last_event_id"])
            rest = await reconnected.receive("synced")
            assert (rest["replayed"], rest["complete"]) == (10, True)
            replayed_ids = [event["event_id"] for event in reconnected.received if "replay_of" in event]
            assert replayed_ids == sorted(set(replayed_ids))
            await reconnected.send("sync")
            recent = await reconnected.receive("synced")
            assert (recent["replayed"], recent["complete"]) == (100, True)


async def test_6_calls_from_before_the_server_started_are_replayed_from_the_history(tmp_path: Path) -> None:
    async with serve_process(tmp_path) as url, httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False) as http:
        async with listening(url) as listener:
            await http.post("/api/memories", json={"content": "before 1"})
            last = (await listener.receive("tool_result"))["event_id"]
        await http.post("/api/memories", json={"content": "before 2"})
    async with serve_process(tmp_path) as url, httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False) as http:
        await http.post("/api/memories", json={"content": "nobody listens"})
        async with listening(url) as listener:
            await http.post("/api/memories", json={"content": "somebody listens"})
            await listener.receive("tool_result")
            await listener.send("sync", last_event_id=last)
            await listener.receive("synced")
            replayed = [event for event in listener.received if "replay_of" in event]
            replayed_ids = [event["arguments"]["content"] for event in replayed if event["type"] == "tool_start"]
            assert replayed_ids == ["before 2", "nobody listens"]
            assert all(event["event_id"] > last for event in replayed)
            await listener.send("sync")
            assert (await listener.receive("synced"))["replayed"] == 6
        for number in range(120):
            await http.get("/api/memories", params={"limit": 1, "offset": number})
    async with serve_process(tmp_path) as url, listening(url) as listener:
        await listener.send("sync", last_event_id=last)
        first = await listener.receive("synced")
        assert (first["replayed"], first["complete"], first["from_history"]) == (200, False, True)
        await listener.send("sync", last_event_id=first["last_event_id"])
        await listener.receive("synced")
        started = [event["arguments"] for event in listener.received if event["type"] == "tool_start"]
        assert [one["content"] for one in started[:3]] == ["before 2", "nobody listens", "somebody listens"]
        assert [one["offset"] for one in started[3:]] == [str(number) for number in range(120)]
        async with listening(url, query=f"?last_event_id={last}") as resumed:
            await resumed.receive("synced")
        for replayed in (listener, resumed):  # replayed in two parts, and in one
            calls = [(one["type"], one["call_id"]) for one in replayed.received if "replay_of" in one]
            assert calls == [
                (kind, f"replay-{number}") for number in range(1, 124) for kind in ("tool_start", "tool_result")
            ]


async def test_6_erased_content_is_not_replayed(plain_url: str) -> None:
    async with (
        httpx2.AsyncClient(base_url=plain_url, timeout=30, trust_env=False) as http,
        listening(plain_url) as listener,
    ):
        last = listener.received[0]["event_id"]
        memory_id = (await http.post("/api/memories", json={"content": "the mermaid sang"})).json()["data"]["id"]
        await http.delete(f"/api/memories/{memory_id}")
        await listener.receive("tool_result", "forget")
        async with listening(plain_url) as again:
            await again.send("sync", last_event_id=last)
            await again.receive("synced")
            assert [event["type"] for event in again.received].count("tool_result") == 2
            assert "mermaid" not in json.dumps(again.received)


async def test_6_each_key_receives_its_own_calls_until_it_is_revoked(url: str, home: Path) -> None:
    ada, bo = key_of(home, "ada", "memory,sessions"), key_of(home, "bo", "memory:read")
    async with (
        httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False) as http,
        listening(url, ada) as of_ada,
        listening(url, bo) as of_bo,
        listening(url, SERVER_KEY) as of_owner,
    ):

        async def call(key: str, method: str, path: str, **body: Any) -> Json:
            answer = await http.request(method, path, headers={"Authorization": f"Bearer {key}"}, json=body or None)
            return {"status": answer.status_code, **answer.json()}

        await call(ada, "POST", "/api/memories", content="ada was here")
        await call(bo, "POST", "/api/recall", query="who was here?")
        refused = await call(bo, "POST", "/api/memories", content="bo was here")
        assert (refused["status"], refused["success"]) == (403, False)
        announcement = {"type": "agent_message", "content": f"the key is {SECRET}", "from": "ada"}
        assert (await call(ada, "POST", "/api/broadcast", **announcement))["data"]["listeners"] == 3
        assert (await call(bo, "POST", "/api/broadcast", **announcement))["status"] == 403
        for kind in ("tool_result", "connected", "dance"):
            assert not (await call(ada, "POST", "/api/broadcast", type=kind))["success"]
        for listener in (of_ada, of_bo, of_owner):
            broadcast = await listener.receive("agent_message")
            assert broadcast["broadcast_by"] == "ada"
            assert SECRET not in json.dumps(broadcast)
        assert _tools(of_ada) == ["remember"]
        assert _tools(of_bo) == ["recall"]
        assert _tools(of_owner) == ["remember", "recall"]
        # Calls of other keys are not replayed either.
        await of_bo.send("sync", last_event_id=0)
        await of_bo.receive("synced")
        assert {event["tool_name"] for event in of_bo.received if "tool_name" in event} == {"recall"}
        chat = (await call(bo, "POST", "/api/chat", message="who was here?"))["data"]
        assert (chat["content"], chat["remembered"]) == ("You said: who was here?", False)
        await anyio.run_process([*PROGRAM, "keys", "revoke", "bo"], env=environment(home))
        assert await of_bo.until_closed() == 1008
        await of_ada.send("ping")
        await of_ada.receive("pong")


def _tools(listener: Listener) -> list[str]:
    return [event["tool_name"] for event in listener.received if event["type"] == "tool_result"]


async def test_6_a_connection_without_a_required_key_is_refused(url: str) -> None:
    with pytest.raises(InvalidStatus):
        async with listening(url):
            pass
    with pytest.raises(InvalidStatus) as refused:
        async with listening(url, SERVER_KEY, query="?last_event_id=soon"):
            pass
    assert refused.value.response.status_code == 422


async def test_6_a_web_page_sends_its_key_as_a_subprotocol(url: str) -> None:
    token = base64.urlsafe_b64encode(SERVER_KEY.encode()).decode().rstrip("=")
    address = url.replace("http", "ws", 1) + "/ws?client=page"
    offered = [Subprotocol("mira"), Subprotocol(f"base64url.bearer.phx.{token}")]
    async with connect(address, subprotocols=offered, proxy=None) as socket:
        assert socket.subprotocol == "mira"
        with anyio.fail_after(5):
            assert json.loads(await socket.recv())["session_id"] == "http:page"


async def test_7_file_changes_in_a_watched_folder_are_sent(plain_url: str, tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("def old(): pass\n")
    (tmp_path / "gone.py").write_text("def gone(): pass\n")
    async with (
        httpx2.AsyncClient(base_url=plain_url, timeout=30, trust_env=False) as http,
        listening(plain_url) as listener,
    ):
        started = await http.post("/v1/tools/watch_repo", json={"action": "start", "path": str(tmp_path)})
        await _until_watched(http, started.json()["watches"][0]["job_id"])
        (tmp_path / "gone.py").unlink()
        (tmp_path / "old.py").write_text("def older(): pass\n")
        (tmp_path / "new.py").write_text("def new(): pass\n")
        changes: dict[str, str] = {}
        while len(changes) < 3:
            event = await listener.receive("file_change")
            assert set(event) == {"type", "event_id", "file_path", "change_type"}
            changes[Path(event["file_path"]).name] = event["change_type"]
        assert changes == {"gone.py": "deleted", "old.py": "modified", "new.py": "created"}
        await http.post("/v1/tools/watch_repo", json={"action": "stop", "path": str(tmp_path)})


async def _until_watched(http: httpx2.AsyncClient, job_id: str) -> None:
    async with http.stream("GET", f"/v1/jobs/{job_id}/events") as events:
        with anyio.fail_after(30):
            async for line in events.aiter_lines():
                if line.startswith("data: ") and json.loads(line[6:])["progress"]["message"].startswith("watching"):
                    return
    raise AssertionError("the job ended before it watched")
