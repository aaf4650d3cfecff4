"""Tools for tasks and goals: scopes, secrets, quotas and briefing."""

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


def settings(home: Path, **options: Any) -> Settings:
    return Settings.model_validate({"home": home, **options})


async def call(
    app: Application, tool: str, *, client: str | None = "me", caller: Caller = OWNER, **arguments: Any
) -> dict[str, Any]:
    context = CallContext(surface="python", client=client, caller=caller)
    return (await app.dispatcher.call(tool, arguments, context)).model_dump(mode="json")


async def test_095_tasks_and_goals_survive_a_restart(tmp_path: Path) -> None:
    async with running(settings(tmp_path)) as app:
        task = await call(app, "task", action="create", title="Paint")
        goal = await call(app, "goal", action="create", title="A red door")
    async with running(settings(tmp_path)) as app:
        assert (await call(app, "task", action="list"))["tasks"] == [task["task"]]
        assert (await call(app, "goal", action="list"))["goals"] == [goal["goal"]]


async def test_095_a_task_belongs_to_the_active_project_and_a_subtask_to_its_parents(tmp_path: Path) -> None:
    async with running(settings(tmp_path / "home")) as app:
        global_task = (await call(app, "task", action="create", title="all"))["task"]
        await call(app, "set_project", path=str(tmp_path / "apollo"))
        own = (await call(app, "task", action="create", title="ours"))["task"]
        part = (await call(app, "task", action="create", title="part", parent_id=global_task["id"]))["task"]
        assert (global_task["scope"], own["scope"], part["scope"]) == ("global", "project", "global")
        with pytest.raises(NotFound):
            await call(app, "task", action="update", task_id=own["id"], parent_id=global_task["id"])
        await call(app, "set_project", path=str(tmp_path / "gemini"))
        titles = [one["title"] for one in (await call(app, "task", action="list"))["tasks"]]
        assert titles == ["all", "part"]
        for action in ("get", "complete", "delete"):
            with pytest.raises(NotFound):
                await call(app, "task", action=action, task_id=own["id"])
        with pytest.raises(NotFound):
            await call(app, "task", action="create", title="x", parent_id=own["id"])
        with pytest.raises(NotFound):
            await call(app, "task", action="list", parent_id=own["id"])


async def test_095_a_read_only_key_can_only_list_and_get(tmp_path: Path) -> None:
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
    fields: dict[str, Any] = {"title": "Renew", field: f"token {TOKEN}"}
    async with running(settings(tmp_path / "masks")) as app:
        created = await call(app, "task", action="create", **fields)
        assert created["masked"] == ["github token"]
        changed = await call(app, "task", action="update", task_id=created["task"]["id"], **fields)
        assert changed["masked"] == ["github token"]
        assert TOKEN not in str([created, changed])
    async with running(settings(tmp_path / "refuses", secrets="refuse")) as app:
        with pytest.raises(InvalidRequest) as refused:
            await call(app, "task", action="create", **fields)
        assert TOKEN not in str(refused.value)
        assert (await call(app, "task", action="list"))["tasks"] == []


async def test_096_a_secret_in_a_goal_or_milestone_is_masked(tmp_path: Path) -> None:
    async with running(settings(tmp_path)) as app:
        created = await call(app, "goal", action="create", title=TOKEN, description=TOKEN, success_criteria=TOKEN)
        target = {"goal_id": created["goal"]["id"]}
        changed = await call(app, "goal", action="update", **target, success_criteria=TOKEN)
        milestone = await call(app, "goal", action="add_milestone", **target, title=TOKEN)
        assert [one["masked"] for one in (created, changed, milestone)] == [["github token"]] * 3
        assert TOKEN not in str(await call(app, "goal", action="get", **target))


async def test_095_quotas_limit_the_tasks_of_a_client(tmp_path: Path) -> None:
    async with running(settings(tmp_path / "keeps", quota={"memories_per_client": 2})) as app:
        await call(app, "task", action="create", title="one")
        goal = (await call(app, "goal", action="create", title="two"))["goal"]
        with pytest.raises(QuotaExceeded, match="3 tasks, goals and milestones"):
            await call(app, "task", action="create", title="three")
        with pytest.raises(QuotaExceeded):
            await call(app, "goal", action="add_milestone", goal_id=goal["id"], title="three")
        await call(app, "task", client="another", action="create", title="theirs")
        await call(app, "remember", content="Memories are counted separately.")
    async with running(settings(tmp_path / "writes", quota={"writes_per_minute": 2})) as app:
        task = (await call(app, "task", action="create", title="one"))["task"]
        await call(app, "task", action="complete", task_id=task["id"])
        with pytest.raises(RateLimited):
            await call(app, "goal", action="create", title="two")
        assert len((await call(app, "task", action="list", include_completed=True))["tasks"]) == 1


async def test_095_an_empty_string_clears_a_field_and_an_absent_one_keeps_it(tmp_path: Path) -> None:
    async with running(settings(tmp_path)) as app:
        whole = (await call(app, "task", action="create", title="whole"))["task"]
        created = await call(
            app, "task", action="create", title="a", description="b", notes="c", parent_id=whole["id"], priority="low"
        )
        task_id = created["task"]["id"]
        partial = await call(app, "task", action="update", task_id=task_id, title="A", notes=None)
        assert (partial["task"]["notes"], partial["task"]["parent_id"]) == ("c", whole["id"])
        cleared = await call(app, "task", action="update", task_id=task_id, description="", notes="", parent_id="")
        fields = ("title", "description", "notes", "parent_id", "priority")
        assert [cleared["task"][name] for name in fields] == ["A", None, None, None, "low"]


async def test_094_the_session_briefing_lists_open_tasks_for_permitted_callers(tmp_path: Path) -> None:
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
        restricted = await call(app, "get_session_recap", caller=reader)
        assert (restricted["pending_tasks"], restricted["active_goals"]) == ([], [])
        assert "Version 2" not in restricted["text"]
