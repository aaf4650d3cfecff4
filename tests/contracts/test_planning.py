"""Store contract: tasks and goals. Numbers are rows of the feature table."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Conflict, NotFound, QuotaExceeded
from scrubjay.core.policies import StorageQuota
from scrubjay.core.scopes import Visibility
from scrubjay.features.tasks.models import (
    Goal,
    GoalChange,
    GoalFilter,
    GoalPriority,
    GoalStatus,
    Milestone,
    Task,
    TaskChange,
    TaskFilter,
    TaskPriority,
    TaskStatus,
)
from tests.contracts.samples import GLOBAL_ONLY, NOW

LATER = NOW + timedelta(hours=1)
MOST = 100


def task(name: str, **fields: Any) -> Task:
    plain: dict[str, Any] = {"id": f"task_{name}", "title": name, "created_at": NOW, "updated_at": NOW}
    return Task(**(plain | fields))


def goal(name: str, **fields: Any) -> Goal:
    plain: dict[str, Any] = {"id": f"goal_{name}", "title": name, "created_at": NOW, "updated_at": NOW}
    return Goal(**(plain | fields))


def milestone(name: str, weight: float = 1.0) -> Milestone:
    return Milestone(id=f"milestone_{name}", title=name, weight=weight, created_at=NOW)


async def names(store: Store, visibility: Visibility = GLOBAL_ONLY, **only: Any) -> list[str]:
    return [one.title for one in (await store.tasks.page(visibility, TaskFilter(**only), MOST)).tasks]


async def goal_names(store: Store, visibility: Visibility = GLOBAL_ONLY, **only: Any) -> list[str]:
    return [one.title for one in (await store.goals.page(visibility, GoalFilter(**only), MOST)).goals]


async def test_095_a_task_is_stored_completely_and_visible_to_other_processes(store: Store, other: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    stored = task(
        "paint",
        project_id=project.id,
        description="All of it.",
        status=TaskStatus.COMPLETED,
        priority=TaskPriority.URGENT,
        notes="red",
        client="ada",
        completed_at=LATER,
    )
    assert await store.tasks.add(stored) == stored
    assert await other.tasks.get(Visibility(project.id), "task_paint") == stored
    assert await other.tasks.get(Visibility(project.id), "task_other") is None
    with pytest.raises(NotFound):
        await store.tasks.add(task("lost", project_id="prj_none"))


async def test_095_tasks_are_sorted_by_urgency_then_age_and_completed_ones_only_on_request(
    store: Store,
) -> None:
    for name, fields in {
        "old": {},
        "done": {"status": TaskStatus.COMPLETED, "completed_at": NOW},
        "stuck": {"status": TaskStatus.BLOCKED, "priority": TaskPriority.LOW},
        "new": {},
        "now": {"priority": TaskPriority.URGENT, "status": TaskStatus.IN_PROGRESS},
        "soon": {"priority": TaskPriority.HIGH},
    }.items():
        await store.tasks.add(task(name, **fields))
    assert await names(store) == ["now", "soon", "old", "new", "stuck"]
    assert await names(store, with_completed=True) == ["now", "soon", "old", "done", "new", "stuck"]
    assert await names(store, status=TaskStatus.COMPLETED) == ["done"]
    assert await names(store, priority=TaskPriority.MEDIUM) == ["old", "new"]


async def test_095_pages_neither_skip_nor_repeat_tasks_during_writes(store: Store) -> None:
    expected = {f"{number:02}" for number in range(11)}
    for number in range(11):
        await store.tasks.add(task(f"{number:02}", priority=[*TaskPriority][number % 4]))
    seen: list[str] = []
    cursor = None
    while True:
        page = await store.tasks.page(GLOBAL_ONLY, TaskFilter(), 3, cursor)
        assert len(page.tasks) <= 3
        seen += [one.title for one in page.tasks]
        if page.last is None:
            break
        cursor = page.last
        await store.tasks.add(task(f"later {len(seen)}", priority=TaskPriority.URGENT))
        await store.tasks.delete(GLOBAL_ONLY, f"task_{seen[-1]}")
    assert len(seen) == len(set(seen))
    assert expected <= set(seen)
    assert (await store.tasks.page(GLOBAL_ONLY, TaskFilter(), 2)).total == 11
    exact = await store.tasks.page(GLOBAL_ONLY, TaskFilter(priority=TaskPriority.LOW), 3)
    assert (len(exact.tasks), exact.last) == (2, None)


async def test_095_a_project_sees_its_own_and_global_tasks_only(store: Store) -> None:
    apollo = await store.projects.ensure("/proj/apollo", None)
    gemini = await store.projects.ensure("/proj/gemini", None)
    for name, project in {"ours": apollo.id, "theirs": gemini.id, "all": None}.items():
        await store.tasks.add(task(name, project_id=project))
        await store.goals.add(goal(name, project_id=project))
        await store.goals.add_milestone(Visibility(project), f"goal_{name}", milestone(name), most=MOST)
    ours = Visibility(apollo.id)
    assert await names(store, ours) == ["ours", "all"]
    assert await goal_names(store, ours) == ["ours", "all"]
    assert (await names(store), await goal_names(store)) == (["all"], ["all"])
    change, goal_change = TaskChange(title="x"), GoalChange(title="x")
    assert await store.tasks.get(ours, "task_theirs") is None
    assert await store.tasks.change(ours, "task_theirs", change, NOW) is None
    assert await store.tasks.delete(ours, "task_theirs") == []
    assert await store.goals.get(ours, "goal_theirs") is None
    assert await store.goals.change(ours, "goal_theirs", goal_change, NOW) is None
    assert await store.goals.delete(ours, "goal_theirs") is None
    assert await store.goals.add_milestone(ours, "goal_theirs", milestone("x"), most=MOST) is None
    assert await store.goals.complete_milestone(ours, "milestone_theirs", NOW) is None
    assert await store.goals.delete_milestone(ours, "milestone_theirs", NOW) is None
    untouched = await store.goals.get(Visibility(gemini.id), "goal_theirs")
    assert untouched == goal("theirs", project_id=gemini.id, milestones=(milestone("theirs"),))
    assert await store.tasks.get(Visibility(gemini.id), "task_theirs") == task("theirs", project_id=gemini.id)


async def test_095_an_update_changes_only_the_named_fields_and_sets_the_completion_time(store: Store) -> None:
    await store.tasks.add(task("paint", description="All of it.", notes="red"))
    done = TaskChange(status=TaskStatus.COMPLETED, notes="")
    changed = await store.tasks.change(GLOBAL_ONLY, "task_paint", done, LATER)
    stored = task("paint", description="All of it.", status=TaskStatus.COMPLETED, updated_at=LATER, completed_at=LATER)
    assert changed == stored == await store.tasks.get(GLOBAL_ONLY, "task_paint")
    again = LATER + timedelta(hours=1)
    repeated = await store.tasks.change(GLOBAL_ONLY, "task_paint", done, again)
    assert repeated == replace(stored, updated_at=again)
    reopened = TaskChange(status=TaskStatus.PENDING, priority=TaskPriority.HIGH)
    opened = await store.tasks.change(GLOBAL_ONLY, "task_paint", reopened, again)
    assert opened is not None
    assert (opened.completed_at, opened.priority) == (None, TaskPriority.HIGH)
    assert await store.tasks.change(GLOBAL_ONLY, "task_none", done, NOW) is None


async def test_095_concurrent_updates_of_a_task_are_both_applied(store: Store, other: Store) -> None:
    await store.tasks.add(task("paint"))
    fields: list[TaskChange] = [
        TaskChange(title="Paint it"),
        TaskChange(description="All of it."),
        TaskChange(status=TaskStatus.BLOCKED),
        TaskChange(priority=TaskPriority.HIGH),
        TaskChange(notes="no paint"),
    ]
    stores = [store, other] * 3
    await asyncio.gather(
        *(
            one.tasks.change(GLOBAL_ONLY, "task_paint", change, LATER)
            for one, change in zip(stores, fields, strict=False)
        )
    )
    assert await store.tasks.get(GLOBAL_ONLY, "task_paint") == task(
        "paint",
        title="Paint it",
        description="All of it.",
        status=TaskStatus.BLOCKED,
        priority=TaskPriority.HIGH,
        notes="no paint",
        updated_at=LATER,
    )


async def test_095_a_task_counts_its_subtasks_and_cannot_be_its_own(store: Store) -> None:
    await store.tasks.add(task("house"))
    await store.tasks.add(task("roof", parent_id="task_house"))
    await store.tasks.add(task("tiles", parent_id="task_roof"))
    done = TaskChange(status=TaskStatus.COMPLETED)
    await store.tasks.change(GLOBAL_ONLY, "task_roof", done, NOW)
    house = await store.tasks.get(GLOBAL_ONLY, "task_house")
    assert house == task("house", subtasks=1, open_subtasks=0)
    assert await names(store, parent_id="task_house", with_completed=True) == ["roof"]
    assert await names(store, parent_id="task_none") == []
    for name in ("house", "roof", "tiles"):
        with pytest.raises(Conflict):
            await store.tasks.change(GLOBAL_ONLY, "task_house", TaskChange(parent_id=f"task_{name}"), NOW)
    with pytest.raises(NotFound):
        await store.tasks.change(GLOBAL_ONLY, "task_house", TaskChange(parent_id="task_none"), NOW)
    free = await store.tasks.change(GLOBAL_ONLY, "task_tiles", TaskChange(parent_id=""), NOW)
    assert free == task("tiles")


async def test_095_a_parent_must_be_in_the_same_project(store: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    await store.tasks.add(task("all"))
    with pytest.raises(NotFound):
        await store.tasks.add(task("ours", project_id=project.id, parent_id="task_all"))
    assert await names(store, Visibility(project.id)) == ["all"]


async def test_095_a_task_is_deleted_only_together_with_its_subtasks(store: Store) -> None:
    for name, parent in {"house": None, "roof": "task_house", "tiles": "task_roof", "garden": None}.items():
        await store.tasks.add(task(name, parent_id=parent))
    with pytest.raises(Conflict):
        await store.tasks.delete(GLOBAL_ONLY, "task_house")
    assert len(await names(store)) == 4
    deleted = await store.tasks.delete(GLOBAL_ONLY, "task_house", with_subtasks=True)
    assert [one.title for one in deleted] == ["house", "roof", "tiles"]
    assert await names(store) == ["garden"]
    assert await store.tasks.delete(GLOBAL_ONLY, "task_house") == []


async def test_096_a_goal_is_stored_completely_with_its_milestones(store: Store, other: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    ours = Visibility(project.id)
    stored = goal(
        "moon",
        project_id=project.id,
        description="And back.",
        status=GoalStatus.IN_PROGRESS,
        priority=GoalPriority.CRITICAL,
        success_criteria="A flag.",
        given_progress=12.5,
        client="ada",
    )
    assert await store.goals.add(stored) == stored
    first, second = milestone("orbit", 3.0), milestone("landing")
    await other.goals.add_milestone(ours, "goal_moon", first, most=2)
    added = await store.goals.add_milestone(ours, "goal_moon", replace(second, created_at=LATER), most=2)
    expected = replace(stored, milestones=(first, replace(second, created_at=LATER)), updated_at=LATER)
    assert added == expected == await other.goals.get(ours, "goal_moon")
    with pytest.raises(QuotaExceeded):
        await store.goals.add_milestone(ours, "goal_moon", milestone("flag"), most=2)
    with pytest.raises(NotFound):
        await store.goals.add(goal("lost", project_id="prj_none"))
    assert await store.goals.delete(ours, "goal_moon") == expected
    assert await store.goals.get(ours, "goal_moon") is None
    assert await store.goals.complete_milestone(ours, "milestone_orbit", NOW) is None


async def test_096_goals_are_sorted_by_importance_and_finished_ones_only_on_request(store: Store) -> None:
    for name, fields in {
        "old": {},
        "done": {"status": GoalStatus.COMPLETED, "completed_at": NOW},
        "gone": {"status": GoalStatus.ABANDONED, "priority": GoalPriority.HIGH},
        "moon": {"priority": GoalPriority.CRITICAL, "status": GoalStatus.BLOCKED},
    }.items():
        await store.goals.add(goal(name, **fields))
    assert await goal_names(store) == ["moon", "old"]
    assert await goal_names(store, with_finished=True) == ["moon", "gone", "old", "done"]
    assert await goal_names(store, status=GoalStatus.ABANDONED) == ["gone"]
    assert await goal_names(store, priority=GoalPriority.CRITICAL) == ["moon"]
    page = await store.goals.page(GLOBAL_ONLY, GoalFilter(with_finished=True), 3)
    assert (len(page.goals), page.total) == (3, 4)
    rest = await store.goals.page(GLOBAL_ONLY, GoalFilter(with_finished=True), 3, page.last)
    assert ([one.title for one in rest.goals], rest.last) == (["done"], None)


async def test_096_progress_is_computed_from_milestones_or_else_as_given(store: Store) -> None:
    await store.goals.add(goal("moon"))
    halfway = GoalChange(given_progress=50)
    updated = await store.goals.change(GLOBAL_ONLY, "goal_moon", halfway, NOW)
    assert updated == goal("moon", given_progress=50)
    for name, weight in {"orbit": 3, "landing": 1}.items():
        await store.goals.add_milestone(GLOBAL_ONLY, "goal_moon", milestone(name, weight), most=MOST)
    with pytest.raises(Conflict):
        await store.goals.change(GLOBAL_ONLY, "goal_moon", halfway, NOW)
    assert await store.goals.complete_milestone(GLOBAL_ONLY, "milestone_orbit", NOW, goal_id="goal_x") is None
    first = await store.goals.complete_milestone(GLOBAL_ONLY, "milestone_orbit", LATER, goal_id="goal_moon")
    again = await store.goals.complete_milestone(
        GLOBAL_ONLY, "milestone_orbit", LATER + timedelta(hours=1), goal_id="goal_moon"
    )
    assert first is not None
    assert again == replace(first, updated_at=LATER + timedelta(hours=1))
    assert (first.progress_percent, first.milestones[0].completed_at) == (75.0, LATER)
    stored = await store.goals.delete_milestone(GLOBAL_ONLY, "milestone_landing", LATER)
    assert stored is not None
    assert (stored.progress_percent, stored.ready_to_complete, stored.status) == (100.0, True, GoalStatus.PLANNING)
    finished = GoalChange(status=GoalStatus.COMPLETED)
    done = await store.goals.change(GLOBAL_ONLY, "goal_moon", finished, LATER)
    assert done == await store.goals.get(GLOBAL_ONLY, "goal_moon")
    assert done is not None
    assert (done.completed_at, done.ready_to_complete) == (LATER, False)


async def test_096_concurrent_completions_of_milestones_are_all_stored(store: Store, other: Store) -> None:
    await store.goals.add(goal("moon"))
    for number in range(6):
        await store.goals.add_milestone(GLOBAL_ONLY, "goal_moon", milestone(str(number)), most=MOST)
    await asyncio.gather(
        *(
            (store, other)[number % 2].goals.complete_milestone(GLOBAL_ONLY, f"milestone_{number}", NOW)
            for number in range(6)
        )
    )
    reached = await store.goals.get(GLOBAL_ONLY, "goal_moon")
    assert reached is not None
    assert reached.progress_percent == 100


async def test_095_the_quota_covers_tasks_goals_and_milestones_together(store: Store) -> None:
    three = StorageQuota("ada", 3)
    await store.tasks.add(task("nobody's"), StorageQuota("", 1))
    await store.tasks.add(task("one", client="ada"), three)
    await store.goals.add(goal("two", client="ada"), three)
    third = replace(milestone("three"), client="ada")
    await store.goals.add_milestone(GLOBAL_ONLY, "goal_two", third, most=MOST, allowance=three)
    with pytest.raises(QuotaExceeded):
        await store.tasks.add(task("four", client="ada"), three)
    with pytest.raises(QuotaExceeded):
        await store.goals.add(goal("four", client="ada"), three)
    fourth = replace(milestone("four"), client="ada")
    with pytest.raises(QuotaExceeded):
        await store.goals.add_milestone(GLOBAL_ONLY, "goal_two", fourth, most=MOST, allowance=three)
    assert (await names(store), await goal_names(store)) == (["nobody's", "one"], ["two"])
    with pytest.raises(QuotaExceeded):
        await store.tasks.add(task("nobody's second"), StorageQuota("", 1))
