"""The tools of working memory: results and refused arguments."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.errors import InvalidRequest, NotFound
from scrubjay.tooling.context import CallContext

Call = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
async def call(tmp_path: Path) -> AsyncGenerator[Call]:
    settings = Settings.model_validate({"home": tmp_path, "working": {"capacity": 3, "ttl_seconds": 60}})
    async with running(settings) as application:

        async def call(tool: str, /, client: str | None = "ada", **arguments: Any) -> dict[str, Any]:
            result = await application.dispatcher.call(tool, arguments, CallContext(surface="python", client=client))
            return result.model_dump(mode="json")

        yield call


async def test_046_tools_return_every_field_of_an_item(call: Call, tmp_path: Path) -> None:
    project = (await call("set_project", path=str(tmp_path)))["project"]["id"]
    put = await call("working_put", content="12345", context={"a": [1]}, importance=0.2, source="user", tool_name="ls")
    item = put["item"]
    assert item["created_at"] == item["accessed_at"] < item["expires_at"]
    assert put == {
        "item": {
            "id": item["id"],
            "content": "12345",
            "context": {"a": [1]},
            "importance": 0.2,
            "tokens": 2,
            "session_id": "ada",
            "project": project,
            "source": "user",
            "tool_name": "ls",
            "created_at": item["created_at"],
            "expires_at": item["expires_at"],
            "accessed_at": item["accessed_at"],
            "access_count": 0,
            "consolidation_candidate": False,
            "marked_by": "none",
            "memory_id": None,
        },
        "evicted": [],
        "masked": [],
    }
    assert (await call("working_recent"))["items"] == [item]
    marked = (await call("working_mark", id=item["id"]))["item"]
    assert marked == {**item, "consolidation_candidate": True, "marked_by": "caller"}
    assert (await call("working_delete", id=item["id"]))["item"] == marked


async def test_046_settings_limit_a_session_and_evictions_are_reported(call: Call) -> None:
    for number in range(3):
        assert (await call("working_put", content=f"number {number}", importance=0.1))["evicted"] == []
    (evicted,) = (await call("working_put", content="one more"))["evicted"]
    assert (evicted["content"], evicted["kept"]) == ("number 0", False)
    stats = await call("working_stats")
    assert stats.pop("soonest_expiry")
    assert stats == {
        "session_id": "ada",
        "project": None,
        "items": 3,
        "capacity": 3,
        "tokens": 6,
        "waiting": 1,
        "consolidated": 0,
        "expired_waiting": 0,
        "ttl_seconds": 60,
        "threshold": 0.3,
    }


async def test_046_an_evicted_marked_item_becomes_a_memory(call: Call) -> None:
    for number in range(3):
        await call("working_put", content=f"thought {number}")
    (evicted,) = (await call("working_put", content="thought 3"))["evicted"]
    assert (evicted["content"], evicted["kept"]) == ("thought 0", True)
    (memory,) = (await call("recall", query="thought 0"))["memories"]
    assert memory["id"] == evicted["memory_id"]


async def test_046_sessions_are_identified_by_name_or_by_client(call: Call) -> None:
    item = (await call("working_put", content="mine"))["item"]
    assert (await call("working_recent", client="bob"))["items"] == []
    assert (await call("working_recent", session_id="ada", client=None))["items"] == [item]
    with pytest.raises(NotFound):
        await call("working_get", id=item["id"], session_id="other")
    with pytest.raises(InvalidRequest, match="session of this call is unknown"):
        await call("working_recent", client=None)


async def test_046_an_unknown_project_is_created_by_writing_and_not_by_reading(call: Call, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        await call("working_recent", project=str(tmp_path))
    item = (await call("working_put", content="x", project=str(tmp_path)))["item"]
    assert (await call("working_recent", project=str(tmp_path)))["items"] == [item]
    assert (await call("working_recent"))["items"] == []


async def test_046_clearing_reports_how_many_items_were_never_consolidated(call: Call) -> None:
    await call("working_put", content="plain", importance=0.1)
    await call("working_put", content="marked")
    assert await call("working_clear", what="expired") == {"cleared": 0, "never_consolidated": 0}
    assert await call("working_clear", what="session") == {"cleared": 2, "never_consolidated": 1}
    assert (await call("recall", query="marked"))["memories"] == []


async def test_047_consolidation_reports_moved_merged_and_skipped_items(call: Call) -> None:
    first = (await call("working_put", content="We deploy on Thursdays."))["item"]
    second = (await call("working_put", content="we deploy on thursdays"))["item"]
    unforced = await call("consolidate")
    assert unforced["moved"] == []
    assert [(one["id"], one["reason"]) for one in unforced["skipped"]] == [
        (first["id"], "too_young"),
        (second["id"], "too_young"),
    ]
    preview = await call("consolidate", force=True, dry_run=True)
    assert (preview["moved"][0]["memory_id"], preview["merged"], preview["dry_run"]) == (None, 1, True)
    done = await call("consolidate", force=True)
    (moved,) = done["moved"]
    assert moved == {
        "memory_id": moved["memory_id"],
        "content": "We deploy on Thursdays.",
        "items": [first["id"], second["id"]],
        "score": pytest.approx(0.4, abs=0.01),
        "known": False,
    }
    late = (await call("working_put", content="We deploy on thursdays!"))["item"]
    again = await call("consolidate", force=True)
    assert [(one["memory_id"], one["items"], one["known"]) for one in again["moved"]] == [
        (moved["memory_id"], [late["id"]], True)
    ]
    assert again["merged"] == 1
    assert (done["merged"], done["skipped"], done["dry_run"]) == (1, [], False)
    (memory,) = (await call("recall", query="When do we deploy?"))["memories"]
    assert memory["id"] == moved["memory_id"]
    assert (await call("working_get", id=second["id"]))["item"]["memory_id"] == memory["id"]
    assert (await call("consolidate", force=True))["moved"] == []


@pytest.mark.parametrize(
    "invalid",
    [
        {"content": ""},
        {"content": "x", "ttl_seconds": 0},
        {"content": "x", "ttl_seconds": 86_401},
        {"content": "x", "importance": 1.1},
        {"content": "x", "context": "text"},
    ],
)
async def test_046_invalid_items_are_refused(call: Call, invalid: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        await call("working_put", **invalid)
    assert (await call("working_recent"))["items"] == []


async def test_042_the_call_history_has_no_contents_of_items(call: Call) -> None:
    item = (await call("working_put", content="a fleeting thought"))["item"]
    for tool in ("working_get", "working_mark", "working_delete"):
        more = {"consolidation_candidate": False} if tool == "working_mark" else {}
        await call(tool, id=item["id"], **more)
    await call("working_search", query="thought")
    await call("call_tool", name="working_put", arguments={"content": "another thought"})
    history = await call("session_history", action="get_history")
    assert "thought" not in str(history)
    assert [one["tool"] for one in reversed(history["history"])] == [
        "working_put",
        "working_get",
        "working_mark",
        "working_delete",
        "working_search",
        "call_tool",
        "working_put",
    ]
