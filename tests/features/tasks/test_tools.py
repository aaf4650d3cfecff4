"""Tasks and goals as tools: who may, what is kept of secrets, how much, and where they are told."""

from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.callers import OWNER, Caller
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound, QuotaExceeded, RateLimited
from scrubjay.tooling.context import CallContext

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def settings(home: Path, **chosen: Any) -> Settings:
    return Settings.model_validate({"home": home, **chosen})


async def call(
    app: Application, tool: str, *, client: str | None = "me", caller: Caller = OWNER, **arguments: Any
) -> dict[str, Any]:
    context = CallContext(surface="python", client=client, caller=caller)
    return (await app.dispatcher.call(tool, arguments, context)).model_dump(mode="json")


async def test_095_what_is_made_outlives_the_process(tmp_path: Path) -> None:
    async with running(settings(tmp_path)) as app:
        made = await call(app, "task", action="create", title="Paint")
        reached = await call(app, "goal", action="create", title="A red door")
    async with running(settings(tmp_path)) as app:
        assert (await call(app, "task", action="list"))["tasks"] == [made["task"]]
        assert (await call(app, "goal", action="list"))["goals"] == [reached["goal"]]


async def test_095_a_task_belongs_to_the_active_project_and_a_part_to_where_its_whole_is(tmp_path: Path) -> None:
    async with running(settings(tmp_path / "home")) as app:
        everywhere = (await call(app, "task", action="create", title="all"))["task"]
        await call(app, "set_project", path=str(tmp_path / "apollo"))
        ours = (await call(app, "task", action="create", title="ours"))["task"]
        part = (await call(app, "task", action="create", title="part", parent_id=everywhere["id"]))["task"]
        assert (everywhere["scope"], ours["scope"], part["scope"]) == ("global", "project", "global")
        with pytest.raises(NotFound):
            await call(app, "task", action="update", task_id=ours["id"], parent_id=everywhere["id"])
        await call(app, "set_project", path=str(tmp_path / "gemini"))
        seen = [one["title"] for one in (await call(app, "task", action="list"))["tasks"]]
        assert seen == ["all", "part"]
        for action in ("get", "complete", "delete"):
            with pytest.raises(NotFound):
                await call(app, "task", action=action, task_id=ours["id"])
        with pytest.raises(NotFound):
            await call(app, "task", action="create", title="x", parent_id=ours["id"])
        with pytest.raises(NotFound):
            await call(app, "task", action="list", parent_id=ours["id"])


async def test_095_a_key_that_only_reads_can_list_and_get_and_nothing_else(tmp_path: Path) -> None:
    reader = Caller("reader", frozenset({"planning:read"}), "k1")
    stranger = Caller("stranger", frozenset({"memory"}), "k2")
    async with running(settings(tmp_path)) as app:
        task = (await call(app, "task", action="create", title="Paint"))["task"]
        goal = (await call(app, "goal", action="create", title="Red"))["goal"]
        assert (await call(app, "task", caller=reader, action="list"))["tasks"] == [task]
        assert (await call(app, "goal", caller=reader, action="get", goal_id=goal["id"]))["goal"] == goal
        for tool, arguments in (
            ("task", {"action": "create", "title": "x"}),
            ("task", {"action": "delete", "task_id": task["id"]}),
            ("task", {"action": "delete", "operation": "list", "task_id": task["id"]}),
            ("goal", {"action": "progress", "goal_id": goal["id"], "progress_percent": 5}),
            ("goal", {"action": ["list"], "goal_id": goal["id"]}),
        ):
            with pytest.raises(Forbidden):
                await call(app, tool, caller=reader, **arguments)
        with pytest.raises(Forbidden):
            await call(app, "task", caller=stranger, action="list")
        assert (await call(app, "task", action="list"))["tasks"] == [task]


@pytest.mark.parametrize("field", ["title", "description", "notes"])
async def test_095_a_secret_in_a_task_is_masked_or_refused_as_in_a_memory(tmp_path: Path, field: str) -> None:
    told: dict[str, Any] = {"title": "Renew", field: f"token {TOKEN}"}
    async with running(settings(tmp_path / "masks")) as app:
        made = await call(app, "task", action="create", **told)
        assert made["masked"] == ["github token"]
        changed = await call(app, "task", action="update", task_id=made["task"]["id"], **told)
        assert changed["masked"] == ["github token"]
        assert TOKEN not in str([made, changed])
    async with running(settings(tmp_path / "refuses", secrets="refuse")) as app:
        with pytest.raises(InvalidRequest) as refused:
            await call(app, "task", action="create", **told)
        assert TOKEN not in str(refused.value)
        assert (await call(app, "task", action="list"))["tasks"] == []


async def test_096_a_secret_in_a_goal_or_milestone_is_masked(tmp_path: Path) -> None:
    async with running(settings(tmp_path)) as app:
        made = await call(app, "goal", action="create", title=TOKEN, description=TOKEN, success_criteria=TOKEN)
        this = {"goal_id": made["goal"]["id"]}
        changed = await call(app, "goal", action="update", **this, success_criteria=TOKEN)
        reached = await call(app, "goal", action="add_milestone", **this, title=TOKEN)
        assert [one["masked"] for one in (made, changed, reached)] == [["github token"]] * 3
        assert TOKEN not in str(await call(app, "goal", action="get", **this))


async def test_095_a_client_keeps_and_writes_no_more_than_it_may(tmp_path: Path) -> None:
    async with running(settings(tmp_path / "keeps", quota={"memories_per_client": 2})) as app:
        await call(app, "task", action="create", title="one")
        goal = (await call(app, "goal", action="create", title="two"))["goal"]
        with pytest.raises(QuotaExceeded, match="3 tasks, goals and milestones"):
            await call(app, "task", action="create", title="three")
        with pytest.raises(QuotaExceeded):
            await call(app, "goal", action="add_milestone", goal_id=goal["id"], title="three")
        await call(app, "task", client="another", action="create", title="theirs")
        await call(app, "remember", content="Memories are counted apart.")
    async with running(settings(tmp_path / "writes", quota={"writes_per_minute": 2})) as app:
        task = (await call(app, "task", action="create", title="one"))["task"]
        await call(app, "task", action="complete", task_id=task["id"])
        with pytest.raises(RateLimited):
            await call(app, "goal", action="create", title="two")
        assert len((await call(app, "task", action="list", include_completed=True))["tasks"]) == 1


async def test_095_an_empty_text_removes_what_was_there_and_nothing_given_leaves_it(tmp_path: Path) -> None:
    async with running(settings(tmp_path)) as app:
        whole = (await call(app, "task", action="create", title="whole"))["task"]
        made = await call(
            app, "task", action="create", title="a", description="b", notes="c", parent_id=whole["id"], priority="low"
        )
        task_id = made["task"]["id"]
        left = await call(app, "task", action="update", task_id=task_id, title="A", notes=None)
        assert (left["task"]["notes"], left["task"]["parent_id"]) == ("c", whole["id"])
        emptied = await call(app, "task", action="update", task_id=task_id, description="", notes="", parent_id="")
        fields = ("title", "description", "notes", "parent_id", "priority")
        assert [emptied["task"][name] for name in fields] == ["A", None, None, None, "low"]


async def test_094_a_session_begins_with_what_is_to_be_done_for_those_who_may_know(tmp_path: Path) -> None:
    reader = Caller("reader", frozenset({"sessions"}), "k1")
    async with running(settings(tmp_path / "home")) as app:
        await call(app, "set_project", path=str(tmp_path))
        for priority in ("low", "high", "urgent", "medium"):
            await call(app, "task", action="create", title=priority, priority=priority)
        await call(app, "goal", action="create", title="Version 2", progress_percent=12.5)
        started = await call(app, "session_start", project_path=str(tmp_path), session_id="s")
        assert [one["title"] for one in started["pending_tasks"]] == ["urgent", "high", "medium"]
        assert [(one["title"], one["progress_percent"]) for one in started["active_goals"]] == [("Version 2", 12.5)]
        recap = await call(app, "get_session_recap")
        assert (recap["pending_tasks"], recap["active_goals"]) == (started["pending_tasks"], started["active_goals"])
        assert "Active goals:\n- Version 2 (medium, planning, 12.5 %, goal_" in recap["text"]
        closed = await call(app, "get_session_recap", caller=reader)
        assert (closed["pending_tasks"], closed["active_goals"]) == ([], [])
        assert "Version 2" not in closed["text"]
