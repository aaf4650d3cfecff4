"""Tasks and goals, on every surface. Numbers are rows of the feature table."""

import pytest

from tests.surfaces.callers import Caller, CallFailed


async def test_095_a_task_is_created_listed_shown_changed_completed_and_deleted(call: Caller, project: str) -> None:
    project_id = (await call("set_project", path=project))["project"]["id"]
    created = await call("task", action="create", title="Paint the door", description="Red.", project=project_id)
    task = created["task"]
    expected = {
        "id": task["id"],
        "title": "Paint the door",
        "description": "Red.",
        "status": "pending",
        "priority": "medium",
        "parent_id": None,
        "notes": None,
        "scope": "project",
        "project": project_id,
        "subtasks": 0,
        "open_subtasks": 0,
        "created_at": task["created_at"],
        "updated_at": task["created_at"],
        "completed_at": None,
    }
    assert created == {"action": "create", "task": expected, "masked": []}
    assert task["id"].startswith("task_")
    listed = await call("task", action="list", project=project_id)
    assert task in listed["tasks"]
    assert (await call("task", action="get", task_id=task["id"], project=project_id))["task"] == task
    subtask = await call(
        "task", action="create", title="Buy paint", parent_id=task["id"], priority="urgent", project=project_id
    )
    subtasks = await call("task", action="list", parent_id=task["id"], project=project_id)
    assert subtasks == {"action": "list", "tasks": [subtask["task"]], "total": 1}
    await call(
        "task", action="update", task_id=subtask["task"]["id"], status="blocked", notes="sold out", project=project_id
    )
    done = await call("task", action="complete", task_id=subtask["task"]["id"], project=project_id)
    assert (done["task"]["status"], done["task"]["notes"]) == ("completed", "sold out")
    assert done["task"]["completed_at"] == done["task"]["updated_at"]
    assert (await call("task", action="list", parent_id=task["id"], project=project_id))["tasks"] == []
    everything = await call("task", action="list", parent_id=task["id"], include_completed=True, project=project_id)
    assert everything["tasks"] == [done["task"]]
    with pytest.raises(CallFailed) as refused:
        await call("task", action="delete", task_id=task["id"], project=project_id)
    assert refused.value.code == "conflict"
    deleted = await call("task", action="delete", task_id=task["id"], with_subtasks=True, project=project_id)
    assert deleted["deleted"] == [task["id"], subtask["task"]["id"]]
    with pytest.raises(CallFailed) as missing:
        await call("task", action="get", task_id=task["id"], project=project_id)
    assert missing.value.code == "not_found"


async def test_095_pages_of_tasks_are_complete(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    for priority in ("low", "urgent", "low", "high"):
        await call("task", action="create", title=priority, priority=priority, project=project)
    only = {"action": "list", "limit": 3, "project": project, "status": "pending"}
    first = await call("task", **only)
    rest = await call("task", **only, cursor=first["next_cursor"])
    seen = [task["title"] for task in first["tasks"] + rest["tasks"] if task["project"]]
    assert seen == ["urgent", "high", "low", "low"]
    assert "next_cursor" not in rest


async def test_096_the_milestones_of_a_goal_determine_its_progress(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    created = await call("goal", action="create", title="Version 2", progress_percent=10, project=project)
    goal = created["goal"]
    assert (goal["status"], goal["priority"], goal["milestones"]) == ("planning", "medium", [])
    assert (goal["progress_percent"], goal["progress_from"], goal["ready_to_complete"]) == (10, "given", False)
    this = {"goal_id": goal["id"], "project": project}
    progress = await call("goal", action="progress", **this)
    updated = await call("goal", action="progress", progress_percent=20, **this)
    assert (progress["goal"]["progress_percent"], updated["goal"]["progress_percent"]) == (10, 20)
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
        "the progress of this goal follows from its 2 milestones",
    )
    completed = await call("goal", action="complete_milestone", milestone_id=release["id"], **this)
    ready = (completed["goal"]["progress_percent"], completed["goal"]["ready_to_complete"], completed["goal"]["status"])
    assert ready == (100, True, "planning")
    listed = await call("goal", action="list", project=project)
    assert completed["goal"] in listed["goals"]
    await call("goal", action="update", status="completed", **this)
    assert goal["id"] not in [entry["id"] for entry in (await call("goal", action="list", project=project))["goals"]]
    finished = await call("goal", action="list", include_finished=True, status="completed", project=project)
    assert goal["id"] in [entry["id"] for entry in finished["goals"]]
    await call("goal", action="delete_milestone", milestone_id=release["id"], **this)
    assert (await call("goal", action="delete", **this))["goal"]["id"] == goal["id"]
    with pytest.raises(CallFailed) as missing:
        await call("goal", action="get", **this)
    assert missing.value.code == "not_found"


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
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
async def test_095_invalid_calls_are_explained(
    call: Caller, tool: str, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(CallFailed) as refused:
        await call(tool, **arguments)
    assert refused.value.code == "invalid_request"
    assert message in refused.value.message
