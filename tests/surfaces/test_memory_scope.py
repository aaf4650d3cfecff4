"""Memories reach only keys with `memory:read`, whatever other scopes they have."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.callers import Caller
from scrubjay.core.errors import Forbidden, NotFound
from scrubjay.features.keys.scopes import ALWAYS_ALLOWED
from scrubjay.tooling.context import CallContext

PLANTED = "zanzibar"
SESSION = "voyage"

# Calls that return the planted memory to a key with this scope and `memory:read`, and are refused without it.
REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("facts", "search_vibes", {"query": PLANTED, "threshold": 0}),
    ("facts", "mimo_search_memory", {"query": PLANTED, "threshold": 0}),
    ("asking", "ask_mimo", {"query": f"When do we sail to {PLANTED}?"}),
    ("turns", "get_session_memories", {"sessionId": SESSION}),
    ("turns", "query_raw_memories", {"query": PLANTED}),
    ("turns", "query_raw_memories", {"query": PLANTED, "sessionId": SESSION}),
    ("summaries", "get_all_summaries", {}),
    ("summaries", "query_summaries", {"query": PLANTED}),
    ("summaries", "summarize_sessions", {"sessionId": SESSION}),
]

# Calls that are answered without the planted memory to a key without `memory:read`.
WITHHELD: list[tuple[str, str, dict[str, Any]]] = [
    ("sessions", "session_start", {"project_path": "PROJECT", "session_id": SESSION}),
    ("sessions", "session_history", {"action": "list_sessions"}),
    ("sessions", "session_history", {"action": "get_history", "session_id": SESSION}),
    ("sessions", "get_session_recap", {}),
    ("sessions", "export_session", {"session_id": SESSION}),
    ("sessions", "end_session", {"session_id": SESSION}),
    ("working", "working_recent", {"session_id": SESSION}),
    ("working", "working_search", {"query": PLANTED, "session_id": SESSION}),
]


def with_scopes(*scopes: str, client: str | None = "other") -> CallContext:
    return CallContext(surface="rest", caller=Caller("key", frozenset(scopes), key_id="key_1"), client=client)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def application(tmp_path: Path) -> AsyncGenerator[Application]:
    """A store whose memories, turns, summaries and working items all contain the planted word."""
    project = tmp_path / "project"
    project.mkdir()
    async with running(Settings.model_validate({"home": tmp_path / "home", "project": project})) as application:
        owner = CallContext(surface="python", client="mine")

        async def call(tool: str, **arguments: Any) -> Any:
            return await application.dispatcher.call(tool, arguments, owner)

        await call("session_start", project_path=str(project), session_id=SESSION)
        await call("remember", content=f"We sail to {PLANTED} on 3 May.")
        await call("remember", content=f"I prefer the {PLANTED} route.", category="preference")
        await call("add_memory", prompt=f"Where is {PLANTED}?", thought="", response="In the sea.", sessionId=SESSION)
        await call("summarize_sessions", sessionId=SESSION)
        await call("working_put", content=f"Pack for {PLANTED}.", importance=0.9, session_id=SESSION)
        await call("consolidate", force=True, session_id=SESSION)
        yield application


async def answer(application: Application, tool: str, arguments: dict[str, Any], context: CallContext) -> str:
    project = str(application.settings.project)
    given = {name: project if value == "PROJECT" else value for name, value in arguments.items()}
    answered = await application.dispatcher.call(tool, given, context)
    return json.dumps(answered.model_dump(mode="json")).lower()


@pytest.mark.parametrize(("family", "tool", "arguments"), REFUSED)
async def test_15_a_tool_that_returns_memories_needs_the_scope_of_memories(
    application: Application, family: str, tool: str, arguments: dict[str, Any]
) -> None:
    for scopes in ([family], [family, "memories:read"], [family, "sessions", "code", "working", "knowledge"]):
        with pytest.raises(Forbidden) as refused:
            await answer(application, tool, arguments, with_scopes(*scopes))
        assert refused.value.details["scope"] == "memory:read"
        call = {"name": tool, "arguments": arguments}
        with pytest.raises(Forbidden):  # through the tool that calls others
            await answer(application, "call_tool", call, with_scopes(*scopes, "tools"))
    allowed = await answer(application, tool, arguments, with_scopes(family, "memory:read"))
    assert PLANTED in allowed or tool == "summarize_sessions"


@pytest.mark.parametrize(("family", "tool", "arguments"), WITHHELD)
async def test_15_memories_are_left_out_for_a_key_without_their_scope(
    application: Application, family: str, tool: str, arguments: dict[str, Any]
) -> None:
    without = await answer(application, tool, arguments, with_scopes(family))
    assert PLANTED not in without.replace(arguments.get("query", "\0"), "")
    assert PLANTED in await answer(application, tool, arguments, with_scopes(family, "memory:read"))


async def test_15_a_consolidated_item_shows_its_contents_only_with_the_scope_of_memories(
    application: Application,
) -> None:
    found = await application.dispatcher.call("working_recent", {"session_id": SESSION}, CallContext(surface="python"))
    (item,) = found.model_dump()["items"]
    arguments = {"id": item["id"], "session_id": SESSION}
    assert PLANTED not in await answer(application, "working_get", arguments, with_scopes("working"))
    assert PLANTED in await answer(application, "working_get", arguments, with_scopes("working", "memory:read"))
    assert PLANTED not in await answer(application, "working_delete", arguments, with_scopes("working"))


async def test_15_an_item_that_is_no_memory_yet_needs_only_the_scope_of_working_memory(
    application: Application,
) -> None:
    content = {"content": "a draft", "importance": 0.1, "session_id": "mine"}
    await answer(application, "working_put", content, with_scopes("working"))
    assert "a draft" in await answer(application, "working_recent", {"session_id": "mine"}, with_scopes("working"))


async def test_15_answers_leave_out_stores_that_the_key_may_not_read(application: Application) -> None:
    content = {"content": "the mast is broken", "importance": 0.1, "session_id": SESSION}
    await answer(application, "working_put", content, CallContext(surface="python"))
    triple = {"operation": "teach", "subject": "Dhow", "predicate": "sails_to", "object": "Pemba"}
    await answer(application, "knowledge", triple, CallContext(surface="python"))
    for question, text, family in (
        ("what is in working memory about the mast?", "the mast is broken", "working:read"),
        ("What is the relationship between Dhow and Pemba?", '"subject": "dhow"', "knowledge:read"),
    ):
        arguments = {"query": question, "context_id": SESSION}
        without = await answer(application, "ask_mimo", arguments, with_scopes("asking", "memory:read"))
        assert text not in without
        assert f"the key has no scope {family}" in without
        assert text in await answer(application, "ask_mimo", arguments, with_scopes("asking", "memory:read", family))


async def test_15_a_job_is_visible_only_to_keys_that_may_read_its_result(application: Application) -> None:
    listed = await application.dispatcher.call("list_jobs", {}, CallContext(surface="python"))
    (job,) = [job for job in listed.model_dump()["jobs"] if job["tool"] == "summarize_sessions"]
    for scopes in (["jobs", "summaries"], ["jobs", "memory"]):
        with pytest.raises(NotFound):
            await answer(application, "get_job", {"job_id": job["job_id"]}, with_scopes(*scopes))
        assert job["job_id"] not in await answer(application, "list_jobs", {}, with_scopes(*scopes))
    allowed = with_scopes("jobs", "summaries", "memory:read")
    assert job["job_id"] in await answer(application, "get_job", {"job_id": job["job_id"]}, allowed)


async def test_15_an_export_needs_the_scopes_of_all_that_it_contains(application: Application) -> None:
    for scopes, needed in ((["transfer"], "memory:read"), (["transfer", "memory"], "planning:read")):
        with pytest.raises(Forbidden) as refused:
            await answer(application, "export_database", {}, with_scopes(*scopes))
        assert refused.value.details["scope"] == needed
    await answer(application, "export_database", {}, with_scopes("transfer", "memory:read", "planning:read"))


async def test_15_recorded_calls_show_memories_only_to_keys_that_may_read_them(application: Application) -> None:
    owner = CallContext(surface="python", client="mine")
    await answer(application, "search_vibes", {"query": "zanz", "threshold": 0}, owner)
    history = {"action": "get_history", "session_id": SESSION}
    for scopes in (["sessions"], ["sessions", "facts"], ["sessions", "memory"]):
        assert '"zanz"' not in await answer(application, "session_history", history, with_scopes(*scopes))
    job = (await application.dispatcher.call("list_jobs", {"tool": "summarize_sessions"}, owner)).model_dump()["jobs"][
        0
    ]
    for tool in ("get_job", "list_jobs", "cancel_job"):
        arguments = {} if tool == "list_jobs" else {"job_id": job["job_id"]}
        assert PLANTED in await answer(application, tool, arguments, owner)
    every_key = ("sessions", *ALWAYS_ALLOWED)
    for tool in ("session_history", "export_session"):
        arguments = history if tool == "session_history" else {"session_id": SESSION}
        assert PLANTED not in await answer(application, tool, arguments, with_scopes(*every_key))
    allowed = with_scopes("sessions", "facts", "memory:read")
    assert '"zanz"' in await answer(application, "session_history", history, allowed)
