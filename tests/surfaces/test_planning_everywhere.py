"""Tasks and goals behave alike through every door. Numbers are rows of the feature table."""

import pytest

from tests.surfaces.callers import Caller, CallFailed


async def test_095_a_task_is_made_listed_shown_changed_completed_and_deleted(call: Caller, project: str) -> None:
    here = (await call("set_project", path=project))["project"]["id"]
    made = await call("task", action="create", title="Paint the door", description="Red.", project=here)
    task = made["task"]
    expected = {
        "id": task["id"],
        "title": "Paint the door",
        "description": "Red.",
        "status": "pending",
        "priority": "medium",
        "parent_id": None,
        "notes": None,
        "scope": "project",
        "project": here,
        "subtasks": 0,
        "open_subtasks": 0,
        "created_at": task["created_at"],
        "updated_at": task["created_at"],
        "completed_at": None,
    }
    assert made == {"action": "create", "task": expected, "masked": []}
    assert task["id"].startswith("task_")
    listed = await call("task", action="list", project=here)
    assert task in listed["tasks"]
    assert (await call("task", action="get", task_id=task["id"], project=here))["task"] == task
    part = await call("task", action="create", title="Buy paint", parent_id=task["id"], priority="urgent", project=here)
    parts = await call("task", action="list", parent_id=task["id"], project=here)
    assert parts == {"action": "list", "tasks": [part["task"]], "total": 1}
    await call("task", action="update", task_id=part["task"]["id"], status="blocked", notes="sold out", project=here)
    done = await call("task", action="complete", task_id=part["task"]["id"], project=here)
    assert (done["task"]["status"], done["task"]["notes"]) == ("completed", "sold out")
    assert done["task"]["completed_at"] == done["task"]["updated_at"]
    assert (await call("task", action="list", parent_id=task["id"], project=here))["tasks"] == []
    everything = await call("task", action="list", parent_id=task["id"], include_completed=True, project=here)
    assert everything["tasks"] == [done["task"]]
    with pytest.raises(CallFailed) as refused:
        await call("task", action="delete", task_id=task["id"], project=here)
    assert refused.value.code == "conflict"
    gone = await call("task", action="delete", task_id=task["id"], with_subtasks=True, project=here)
    assert gone["deleted"] == [task["id"], part["task"]["id"]]
    with pytest.raises(CallFailed) as missing:
        await call("task", action="get", task_id=task["id"], project=here)
    assert missing.value.code == "not_found"


async def test_095_pages_of_tasks_lose_nothing(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    for priority in ("low", "urgent", "low", "high"):
        await call("task", action="create", title=priority, priority=priority, project=project)
    only = {"action": "list", "limit": 3, "project": project, "status": "pending"}
    first = await call("task", **only)
    rest = await call("task", **only, cursor=first["next_cursor"])
    seen = [one["title"] for one in first["tasks"] + rest["tasks"] if one["project"]]
    assert seen == ["urgent", "high", "low", "low"]
    assert "next_cursor" not in rest


async def test_096_the_milestones_of_a_goal_tell_how_far_it_is(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    made = await call("goal", action="create", title="Version 2", progress_percent=10, project=project)
    goal = made["goal"]
    assert (goal["status"], goal["priority"], goal["milestones"]) == ("planning", "medium", [])
    assert (goal["progress_percent"], goal["progress_from"], goal["ready_to_complete"]) == (10, "given", False)
    this = {"goal_id": goal["id"], "project": project}
    told = await call("goal", action="progress", **this)
    moved = await call("goal", action="progress", progress_percent=20, **this)
    assert (told["goal"]["progress_percent"], moved["goal"]["progress_percent"]) == (10, 20)
    await call("goal", action="add_milestone", title="Beta", weight=3, **this)
    shown = await call("goal", action="add_milestone", title="Release", **this)
    beta, release = shown["goal"]["milestones"]
    assert (beta["weight"], release["weight"], beta["completed"]) == (3, 1, False)
    assert (shown["goal"]["progress_percent"], shown["goal"]["progress_from"]) == (0, "milestones")
    half = await call("goal", action="complete_milestone", milestone_id=beta["id"], project=project)
    assert half["goal"]["progress_percent"] == 75
    assert half["goal"]["milestones"][0]["completed_at"] is not None
    with pytest.raises(CallFailed) as refused:
        await call("goal", action="progress", progress_percent=80, **this)
    assert (refused.value.code, refused.value.message) == (
        "conflict",
        "the progress of this goal is that of its 2 milestones",
    )
    whole = await call("goal", action="complete_milestone", milestone_id=release["id"], **this)
    ready = (whole["goal"]["progress_percent"], whole["goal"]["ready_to_complete"], whole["goal"]["status"])
    assert ready == (100, True, "planning")
    listed = await call("goal", action="list", project=project)
    assert whole["goal"] in listed["goals"]
    await call("goal", action="update", status="completed", **this)
    assert goal["id"] not in [one["id"] for one in (await call("goal", action="list", project=project))["goals"]]
    finished = await call("goal", action="list", include_finished=True, status="completed", project=project)
    assert goal["id"] in [one["id"] for one in finished["goals"]]
    await call("goal", action="delete_milestone", milestone_id=release["id"], **this)
    assert (await call("goal", action="delete", **this))["goal"]["id"] == goal["id"]
    with pytest.raises(CallFailed) as missing:
        await call("goal", action="get", **this)
    assert missing.value.code == "not_found"


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("task", {"action": "create"}, "create needs title"),
        ("task", {"action": "complete"}, "complete needs task_id"),
        ("task", {"action": "update", "task_id": "x"}, "update needs something to change"),
        ("task", {"action": "archive"}, "action"),
        ("task", {"action": "list", "status": "done"}, "status"),
        ("task", {"action": "list", "cursor": "9.1"}, "cursor"),
        ("goal", {"action": "add_milestone", "title": "x"}, "add_milestone needs goal_id"),
        ("goal", {"action": "create", "title": "x", "progress_percent": 101}, "progress_percent"),
        ("goal", {"action": "create", "title": "x", "progress_percent": -1}, "progress_percent"),
        ("goal", {"action": "add_milestone", "goal_id": "g", "title": "x", "weight": 0}, "weight"),
    ],
)
async def test_095_what_cannot_be_done_says_why(
    call: Caller, tool: str, arguments: dict[str, object], said: str
) -> None:
    with pytest.raises(CallFailed) as refused:
        await call(tool, **arguments)
    assert refused.value.code == "invalid_request"
    assert said in refused.value.message
