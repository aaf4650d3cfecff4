"""The session tools: visibility of sessions, and the call history."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app import maintenance
from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.store import Store
from scrubjay.core.callers import Caller
from scrubjay.core.errors import InvalidRequest, NotFound, Unavailable
from scrubjay.features.sessions.sqlite import SqliteSessions
from scrubjay.tooling.context import CallContext


class Client:
    """Calls tools as one client."""

    def __init__(self, application: Application, name: str | None = "ada") -> None:
        self._application = application
        self._name = name

    async def __call__(self, tool: str, /, **arguments: Any) -> Any:
        context = CallContext(surface="python", client=self._name)
        result = await self._application.dispatcher.call(tool, arguments, context)
        return result.model_dump(mode="json")


@asynccontextmanager
async def open_application(
    home: Path, *, own_client: str | None = None, **settings: Any
) -> AsyncGenerator[Application]:
    async with running(Settings.model_validate({"home": home, **settings}), own_client=own_client) as application:
        yield application


@pytest.fixture
async def application(tmp_path: Path) -> AsyncGenerator[Application]:
    async with open_application(tmp_path / "home") as application:
        yield application


@pytest.fixture
def ada(application: Application) -> Client:
    return Client(application)


@pytest.fixture
def bob(application: Application) -> Client:
    return Client(application, "bob")


async def test_094_sessions_are_visible_only_in_their_project(ada: Client, bob: Client, tmp_path: Path) -> None:
    apollo, gemini = str(tmp_path / "apollo"), str(tmp_path / "gemini")
    await ada("session_start", project_path=apollo, session_id="in-apollo")
    await ada("remember", content="A secret of Apollo.")
    started = await bob("session_start", project_path=gemini, session_id="in-gemini")
    assert (started["recent_sessions"], started["recent_memories"]) == ([], [])
    listed = await bob("session_history", action="list_sessions")
    assert [session["id"] for session in listed["sessions"]] == ["in-gemini"]
    for tool in ("export_session", "end_session"):
        with pytest.raises(NotFound):
            await bob(tool, session_id="in-apollo")
    with pytest.raises(NotFound):
        await bob("session_history", action="get_history", session_id="in-apollo")
    found = await bob("session_history", action="get_history", session_id="in-apollo", project=apollo)
    assert [call["tool"] for call in found["history"]] == ["remember", "session_start"]
    assert (await bob("get_session_recap", project=apollo))["recent_sessions"][0]["id"] == "in-apollo"


async def test_042_calls_after_a_change_of_project_belong_to_a_session_of_the_new_project(
    ada: Client, tmp_path: Path
) -> None:
    apollo, gemini = str(tmp_path / "apollo"), str(tmp_path / "gemini")
    await ada("recall", query="before any project")
    await ada("set_project", path=apollo)
    await ada("remember", content="Of Apollo.")
    await ada("set_project", path=gemini)
    await ada("remember", content="Of Gemini.")
    for project, tools in ((apollo, {"remember": 1, "set_project": 1}), (gemini, {"remember": 1, "set_project": 1})):
        (session,) = (await ada("session_history", action="list_sessions", project=project))["sessions"]
        assert session["top_tools"].items() >= tools.items()
    exported = await ada("export_session")
    assert "Apollo" not in str(exported["history"])
    assert exported["project"]["path"] == gemini


async def test_042_an_unidentified_client_has_a_session_but_no_history(
    application: Application, tmp_path: Path
) -> None:
    unidentified = Client(application, None)
    started = await unidentified("session_start", project_path=str(tmp_path))
    assert (started["active"], started["session"]["client"], started["resumed"]) == (False, None, False)
    await unidentified("remember", content="x", project=str(tmp_path))
    listed = await unidentified("session_history", action="list_sessions", project=str(tmp_path))
    assert [session["tool_calls"] for session in listed["sessions"]] == [0]
    assert await unidentified("session_history", action="current", project=str(tmp_path)) == {
        "session": None,
        "sessions": [],
        "history": [],
    }
    with pytest.raises(NotFound) as caught:
        await unidentified("session_history", action="get_history")
    assert caught.value.hint


async def test_042_a_forgotten_memory_is_erased_from_the_history(ada: Client, tmp_path: Path) -> None:
    await ada("session_start", project_path=str(tmp_path))
    memory = await ada("remember", content="The hedgehog sleeps.")
    await ada("recall", query="hedgehog")
    await ada("session_history", action="get_history")
    assert "hedgehog sleeps" in str(await ada("export_session"))
    await ada("forget", id=memory["id"])
    exported = await ada("export_session")
    assert "hedgehog sleeps" not in str(exported)
    erased = {call["tool"]: call["erased"] for call in exported["history"]}
    assert erased == {
        "session_start": False,
        "remember": True,
        "recall": True,
        "session_history": True,
        "export_session": True,
        "forget": True,
    }


async def test_042_the_history_leaves_a_forgotten_memory_in_no_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    words = b"quixotic zeppelin"
    async with open_application(home) as application:
        ada = Client(application)
        await ada("session_start", project_path=str(tmp_path))
        memory = await ada("remember", content=words.decode())
        await ada("session_history", action="current")  # flushes the recorded calls
        assert any(words in file.read_bytes() for file in home.glob("scrubjay.db*"))
        await ada("recall", query="zeppelin")
        await ada("forget", id=memory["id"])
        await ada("session_history", action="get_history")
    files = [file for file in home.rglob("*") if file.is_file()]
    assert files
    assert [file.name for file in files if words in file.read_bytes()] == []


async def test_042_quoted_memories_are_not_in_the_history(tmp_path: Path) -> None:
    """Session notes quote summaries, and answers quote working memory, both without ids."""
    home, project = tmp_path / "home", str(tmp_path)
    async with open_application(home) as application:
        ada = Client(application)
        texts = {"prompt": "Fix the zanzibarquux parser.", "thought": "", "response": "I fixed it."}
        turn = await ada("add_memory", **texts, sessionId="monday")
        await ada("summarize_sessions")
        await ada("session_start", project_path=project, session_id="monday")
        await ada("session_start", project_path=project, session_id="tuesday")
        results = [
            await ada("session_start", project_path=project, session_id="monday"),
            await ada("end_session", session_id="monday"),
            await ada("get_session_recap"),
            await ada("session_history", action="list_sessions"),
            await ada("session_history", action="get_history", session_id="monday"),
        ]
        assert all("zanzibarquux" in str(one) for one in results)
        await ada("forget", id=turn["id"])
        await ada("working_put", content="In mind is the betelgeusefnord.", consolidation_candidate=False)
        answer = await ada("ask_mimo", query="What is in my mind right now, which betelgeuse thing?")
        await ada("working_clear", what="session")
        exported = await ada("export_session", session_id="monday")
        recorded = {call["tool"]: call["result"] for call in exported["history"]}
        assert recorded["session_start"] == recorded["end_session"] == ""
    assert "betelgeusefnord" in str(answer["results"]["working"])
    files = [file.read_bytes() for file in home.rglob("*") if file.is_file()]
    assert [word for word in (b"zanzibarquux", b"betelgeusefnord") if any(word in file for file in files)] == []


async def test_053_an_ended_session_is_closed_and_can_be_reopened(ada: Client, tmp_path: Path) -> None:
    first = await ada("session_start", project_path=str(tmp_path))
    ended = await ada("end_session")
    assert (ended["session"]["id"], ended["session"]["status"]) == (first["session"]["id"], "closed")
    assert ended["session"]["ended_at"] is not None
    assert (await ada("session_history", action="current"))["session"] is None
    again = await ada("end_session", session_id=first["session"]["id"])
    assert again["session"]["ended_at"] == ended["session"]["ended_at"]
    new = await ada("session_history", action="current")
    assert new["session"]["top_tools"] == {"end_session": 1, "session_history": 1}
    reopened = await ada("session_start", project_path=str(tmp_path), session_id=first["session"]["id"])
    assert (reopened["resumed"], reopened["session"]["status"]) == (True, "active")
    assert reopened["session"]["ended_at"] is None
    history = await ada("session_history", action="get_history")
    assert [call["tool"] for call in history["history"]] == ["session_start", "end_session", "session_start"]


async def test_042_the_session_id_of_an_mcp_client_over_http_is_not_shown(
    application: Application, tmp_path: Path
) -> None:
    over_http = Client(application, "mcp:0123456789abcdef")
    started = await over_http("session_start", project_path=str(tmp_path))
    assert started["session"]["client"].startswith("mcp:")
    assert "0123456789abcdef" not in str(started)


async def test_042_the_history_survives_a_restart_and_the_processs_own_client_ends_its_session(
    tmp_path: Path,
) -> None:
    async with open_application(tmp_path / "home", own_client="own") as first:
        own = Client(first, "own")
        await own("session_start", project_path=str(tmp_path), session_id="mine")
        await own("remember", content="x")
    async with open_application(tmp_path / "home") as second:
        listed = await Client(second)("session_history", action="list_sessions", project=str(tmp_path))
    (session,) = listed["sessions"]
    assert (session["id"], session["status"], session["top_tools"]) == (
        "mine",
        "closed",
        {"remember": 1, "session_start": 1},
    )


async def test_042_a_server_started_for_a_project_records_the_history_there(tmp_path: Path) -> None:
    async with open_application(tmp_path / "home", project=tmp_path / "apollo") as application:
        ada = Client(application)
        await ada("recall", query="x")
        current = await ada("session_history", action="current")
        assert current["session"]["project"] == (await ada("get_project"))["project"]["id"]


async def test_042_no_calls_are_recorded_when_the_history_is_switched_off(tmp_path: Path) -> None:
    async with open_application(tmp_path / "home", sessions={"history": False}) as application:
        ada = Client(application)
        await ada("session_start", project_path=str(tmp_path))
        await ada("remember", content="x")
        found = await ada("session_history", action="get_history")
        assert (found["session"]["tool_calls"], found["history"]) == (0, [])


async def test_042_a_failed_write_of_the_history_fails_no_call(
    application: Application, ada: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = await application.services.get(Store)

    async def refuse(*_: object) -> None:
        raise Unavailable("the disk is read-only")

    with monkeypatch.context() as broken:
        broken.setattr(store.sessions, "add_calls", refuse)
        await ada("health_check")
        assert (await ada("session_history", action="list_sessions"))["sessions"] == []
    assert "cannot write the call history" in caplog.text
    (session,) = (await ada("session_history", action="list_sessions"))["sessions"]
    assert session["top_tools"] == {"health_check": 1, "session_history": 1}


async def test_042_a_running_server_deletes_old_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    erased, erase = anyio.Event(), SqliteSessions.forget_before

    async def forget_and_notify(sessions: SqliteSessions, moment: datetime) -> int:
        calls = await erase(sessions, moment)
        erased.set()
        return calls

    async with open_application(tmp_path / "home") as application:
        await Client(application)("health_check")
    monkeypatch.setattr(maintenance, "FIRST_ERASURE_SECONDS", 0)
    monkeypatch.setattr(SqliteSessions, "forget_before", forget_and_notify)
    async with open_application(tmp_path / "home", sessions={"history": False, "keep_days": 1e-9}) as application:
        ada = Client(application)
        await ada("health_check")
        with anyio.fail_after(5):
            await erased.wait()
        assert (await ada("session_history", action="list_sessions"))["sessions"] == []


@pytest.mark.parametrize("invalid", [{"token_budget": 10}, {"project_path": ""}, {"session_id": ""}, {"name": ""}])
async def test_019_invalid_arguments_of_session_start_are_refused(
    ada: Client, tmp_path: Path, invalid: dict[str, Any]
) -> None:
    with pytest.raises(InvalidRequest):
        await ada("session_start", **{"project_path": str(tmp_path), **invalid})


async def test_052_a_turn_without_a_session_id_belongs_to_the_clients_session(
    ada: Client, bob: Client, application: Application, tmp_path: Path
) -> None:
    apollo = str(tmp_path / "apollo")
    turn = {"prompt": "Add a cache to the parser.", "thought": "", "response": "I added src/cache.py. All tests pass."}
    started = await ada("session_start", project_path=apollo)
    first, second = await ada("add_memory", **turn), await ada("add_memory", **turn)
    assert first["sessionId"] == second["sessionId"] == started["session"]["id"]
    assert (await ada("session_history", action="current"))["session"]["id"] == first["sessionId"]
    await bob("set_project", path=apollo)
    other = await bob("add_memory", **turn)
    assert other["sessionId"] not in (None, first["sessionId"])
    assert (await bob("session_history", action="current"))["session"]["id"] == other["sessionId"]
    named = await ada("add_memory", **turn, sessionId="mine")
    assert named["sessionId"] == "mine"
    await ada("end_session")
    assert (await ada("add_memory", **turn))["sessionId"] != first["sessionId"]
    unknown = Client(application, None)
    assert (await unknown("add_memory", **turn))["sessionId"] != (await unknown("add_memory", **turn))["sessionId"]


async def test_094_the_recap_shows_how_the_last_session_ended_with_or_without_a_summary(
    ada: Client, bob: Client, tmp_path: Path
) -> None:
    apollo = str(tmp_path / "apollo")
    await ada("session_start", project_path=apollo, session_id="monday")
    for prompt, response in (
        ("Please add a rate limit to the gateway.", "I would use a token bucket in Redis."),
        ("No, keep it in memory.", "I added src/limiter.py with a bucket per key. All 12 tests pass."),
        ("Good.", "I opened PR #318.\n\nStill open:\n- the dashboard has no panel for rejected requests yet"),
    ):
        await ada("add_memory", prompt=prompt, thought="", response=response)
    expected = [
        "Last work (monday, ",
        "- Open: the dashboard has no panel for rejected requests yet.",
        "- Outcome: I added src/limiter.py with a bucket per key. All 12 tests pass. I opened PR #318.",
        "- Decided: No, keep it in memory.",
        "- Files: src/limiter.py, PR #318",
        "Recent sessions:",
    ]
    await bob("set_project", path=apollo)
    for summarise in (False, True):
        if summarise:
            await ada("summarize_sessions", sessionId="monday")
        recap = (await bob("get_session_recap"))["text"].splitlines()
        assert recap[1].startswith(expected[0])
        assert recap[1].endswith("Add a rate limit to the gateway")
        assert recap[2:7] == expected[1:]
    # A session that continued after its summary is read from its turns.
    await ada("add_memory", prompt="Merge it.", thought="", response="PR #318 is merged and deployed to production.")
    assert "PR #318 is merged and deployed to production." in (await bob("get_session_recap"))["text"]


async def test_094_the_recap_knows_sessions_by_their_turns(ada: Client, bob: Client, tmp_path: Path) -> None:
    apollo = str(tmp_path / "apollo")
    await ada("set_project", path=apollo)
    answer = "I fixed the login in src/auth.py. All tests pass."
    await ada("add_memory", prompt="Please fix the login bug.", thought="", response=answer, sessionId="of-neo")
    await bob("session_start", project_path=apollo)
    recap = await bob("get_session_recap")
    assert "of-neo" in [session["id"] for session in recap["recent_sessions"]]
    assert "Fix the login bug" in recap["text"]
    other = Client(bob._application, "carl")  # pyright: ignore[reportPrivateUsage]
    await other("set_project", path=str(tmp_path / "gemini"))
    assert (await other("get_session_recap"))["recent_sessions"] == []


async def test_094_a_key_without_the_scope_of_memories_sees_no_content_of_the_last_session(
    application: Application, ada: Client, tmp_path: Path
) -> None:
    apollo = str(tmp_path / "apollo")
    await ada("session_start", project_path=apollo)
    await ada("add_memory", prompt="Fix the zanzibarquux parser.", thought="", response="The zanzibarquux is fixed.")
    limited = CallContext(
        surface="python", client="limited", caller=Caller("k", frozenset({"sessions", "projects"}), "k")
    )
    await application.dispatcher.call("set_project", {"path": apollo}, limited)
    recap = await application.dispatcher.call("get_session_recap", {}, limited)
    assert "zanzibarquux" not in recap.model_dump_json()
