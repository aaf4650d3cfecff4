"""What every backend keeps of tasks and goals. Numbers are rows of the feature table."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Conflict, NotFound, QuotaExceeded
from scrubjay.core.policies import Allowance
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
from tests.contracts.samples import NOBODY_IN_PARTICULAR, NOW

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


async def names(store: Store, visibility: Visibility = NOBODY_IN_PARTICULAR, **only: Any) -> list[str]:
    return [one.title for one in (await store.tasks.page(visibility, TaskFilter(**only), MOST)).tasks]


async def goal_names(store: Store, visibility: Visibility = NOBODY_IN_PARTICULAR, **only: Any) -> list[str]:
    return [one.title for one in (await store.goals.page(visibility, GoalFilter(**only), MOST)).goals]


async def test_095_a_task_is_kept_whole_and_other_processes_see_it(store: Store, other: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    whole = task(
        "paint",
        project_id=project.id,
        description="All of it.",
        status=TaskStatus.COMPLETED,
        priority=TaskPriority.URGENT,
        notes="red",
        client="ada",
        completed_at=LATER,
    )
    assert await store.tasks.add(whole) == whole
    assert await other.tasks.get(Visibility(project.id), "task_paint") == whole
    assert await other.tasks.get(Visibility(project.id), "task_other") is None
    with pytest.raises(NotFound):
        await store.tasks.add(task("lost", project_id="prj_none"))


async def test_095_tasks_come_most_urgent_first_and_then_oldest_and_completed_ones_only_when_asked(
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


async def test_095_pages_lose_nothing_and_tell_nothing_twice_while_others_write(store: Store) -> None:
    wanted = {f"{number:02}" for number in range(11)}
    for number in range(11):
        await store.tasks.add(task(f"{number:02}", priority=[*TaskPriority][number % 4]))
    seen: list[str] = []
    place = None
    while True:
        page = await store.tasks.page(NOBODY_IN_PARTICULAR, TaskFilter(), 3, place)
        assert len(page.tasks) <= 3
        seen += [one.title for one in page.tasks]
        if page.last is None:
            break
        place = page.last
        await store.tasks.add(task(f"later {len(seen)}", priority=TaskPriority.URGENT))
        await store.tasks.delete(NOBODY_IN_PARTICULAR, f"task_{seen[-1]}")
    assert len(seen) == len(set(seen))
    assert wanted <= set(seen)
    assert (await store.tasks.page(NOBODY_IN_PARTICULAR, TaskFilter(), 2)).total == 11
    exact = await store.tasks.page(NOBODY_IN_PARTICULAR, TaskFilter(priority=TaskPriority.LOW), 3)
    assert (len(exact.tasks), exact.last) == (2, None)


async def test_095_a_project_sees_its_own_and_the_global_and_nothing_else(store: Store) -> None:
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
    change, wish = TaskChange(title="x"), GoalChange(title="x")
    assert await store.tasks.get(ours, "task_theirs") is None
    assert await store.tasks.change(ours, "task_theirs", change, NOW) is None
    assert await store.tasks.delete(ours, "task_theirs") == []
    assert await store.goals.get(ours, "goal_theirs") is None
    assert await store.goals.change(ours, "goal_theirs", wish, NOW) is None
    assert await store.goals.delete(ours, "goal_theirs") is None
    assert await store.goals.add_milestone(ours, "goal_theirs", milestone("x"), most=MOST) is None
    assert await store.goals.complete_milestone(ours, "milestone_theirs", NOW) is None
    assert await store.goals.delete_milestone(ours, "milestone_theirs", NOW) is None
    untouched = await store.goals.get(Visibility(gemini.id), "goal_theirs")
    assert untouched == goal("theirs", project_id=gemini.id, milestones=(milestone("theirs"),))
    assert await store.tasks.get(Visibility(gemini.id), "task_theirs") == task("theirs", project_id=gemini.id)


async def test_095_a_change_takes_what_it_names_and_says_when_a_task_was_completed(store: Store) -> None:
    await store.tasks.add(task("paint", description="All of it.", notes="red"))
    done = TaskChange(status=TaskStatus.COMPLETED, notes="")
    changed = await store.tasks.change(NOBODY_IN_PARTICULAR, "task_paint", done, LATER)
    whole = task("paint", description="All of it.", status=TaskStatus.COMPLETED, updated_at=LATER, completed_at=LATER)
    assert changed == whole == await store.tasks.get(NOBODY_IN_PARTICULAR, "task_paint")
    again = LATER + timedelta(hours=1)
    kept = await store.tasks.change(NOBODY_IN_PARTICULAR, "task_paint", done, again)
    assert kept == replace(whole, updated_at=again)
    reopened = TaskChange(status=TaskStatus.PENDING, priority=TaskPriority.HIGH)
    opened = await store.tasks.change(NOBODY_IN_PARTICULAR, "task_paint", reopened, again)
    assert opened is not None
    assert (opened.completed_at, opened.priority) == (None, TaskPriority.HIGH)
    assert await store.tasks.change(NOBODY_IN_PARTICULAR, "task_none", done, NOW) is None


async def test_095_two_processes_that_change_one_task_at_once_both_have_their_way(store: Store, other: Store) -> None:
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
            one.tasks.change(NOBODY_IN_PARTICULAR, "task_paint", change, LATER)
            for one, change in zip(stores, fields, strict=False)
        )
    )
    assert await store.tasks.get(NOBODY_IN_PARTICULAR, "task_paint") == task(
        "paint",
        title="Paint it",
        description="All of it.",
        status=TaskStatus.BLOCKED,
        priority=TaskPriority.HIGH,
        notes="no paint",
        updated_at=LATER,
    )


async def test_095_a_task_has_parts_which_are_counted_and_never_itself(store: Store) -> None:
    await store.tasks.add(task("house"))
    await store.tasks.add(task("roof", parent_id="task_house"))
    await store.tasks.add(task("tiles", parent_id="task_roof"))
    done = TaskChange(status=TaskStatus.COMPLETED)
    await store.tasks.change(NOBODY_IN_PARTICULAR, "task_roof", done, NOW)
    house = await store.tasks.get(NOBODY_IN_PARTICULAR, "task_house")
    assert house == task("house", subtasks=1, open_subtasks=0)
    assert await names(store, parent_id="task_house", with_completed=True) == ["roof"]
    assert await names(store, parent_id="task_none") == []
    for name in ("house", "roof", "tiles"):
        with pytest.raises(Conflict):
            await store.tasks.change(NOBODY_IN_PARTICULAR, "task_house", TaskChange(parent_id=f"task_{name}"), NOW)
    with pytest.raises(NotFound):
        await store.tasks.change(NOBODY_IN_PARTICULAR, "task_house", TaskChange(parent_id="task_none"), NOW)
    free = await store.tasks.change(NOBODY_IN_PARTICULAR, "task_tiles", TaskChange(parent_id=""), NOW)
    assert free == task("tiles")


async def test_095_a_parent_is_of_the_same_project(store: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    await store.tasks.add(task("all"))
    with pytest.raises(NotFound):
        await store.tasks.add(task("ours", project_id=project.id, parent_id="task_all"))
    assert await names(store, Visibility(project.id)) == ["all"]


async def test_095_a_task_with_parts_goes_only_with_them(store: Store) -> None:
    for name, parent in {"house": None, "roof": "task_house", "tiles": "task_roof", "garden": None}.items():
        await store.tasks.add(task(name, parent_id=parent))
    with pytest.raises(Conflict):
        await store.tasks.delete(NOBODY_IN_PARTICULAR, "task_house")
    assert len(await names(store)) == 4
    gone = await store.tasks.delete(NOBODY_IN_PARTICULAR, "task_house", with_subtasks=True)
    assert [one.title for one in gone] == ["house", "roof", "tiles"]
    assert await names(store) == ["garden"]
    assert await store.tasks.delete(NOBODY_IN_PARTICULAR, "task_house") == []


async def test_096_a_goal_is_kept_whole_with_its_milestones(store: Store, other: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    ours = Visibility(project.id)
    whole = goal(
        "moon",
        project_id=project.id,
        description="And back.",
        status=GoalStatus.IN_PROGRESS,
        priority=GoalPriority.CRITICAL,
        success_criteria="A flag.",
        given_progress=12.5,
        client="ada",
    )
    assert await store.goals.add(whole) == whole
    first, second = milestone("orbit", 3.0), milestone("landing")
    await other.goals.add_milestone(ours, "goal_moon", first, most=2)
    added = await store.goals.add_milestone(ours, "goal_moon", replace(second, created_at=LATER), most=2)
    expected = replace(whole, milestones=(first, replace(second, created_at=LATER)), updated_at=LATER)
    assert added == expected == await other.goals.get(ours, "goal_moon")
    with pytest.raises(QuotaExceeded):
        await store.goals.add_milestone(ours, "goal_moon", milestone("flag"), most=2)
    with pytest.raises(NotFound):
        await store.goals.add(goal("lost", project_id="prj_none"))
    assert await store.goals.delete(ours, "goal_moon") == expected
    assert await store.goals.get(ours, "goal_moon") is None
    assert await store.goals.complete_milestone(ours, "milestone_orbit", NOW) is None


async def test_096_goals_come_most_important_first_and_finished_ones_only_when_asked(store: Store) -> None:
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
    page = await store.goals.page(NOBODY_IN_PARTICULAR, GoalFilter(with_finished=True), 3)
    assert (len(page.goals), page.total) == (3, 4)
    rest = await store.goals.page(NOBODY_IN_PARTICULAR, GoalFilter(with_finished=True), 3, page.last)
    assert ([one.title for one in rest.goals], rest.last) == (["done"], None)


async def test_096_progress_is_what_the_milestones_say_and_only_else_what_was_given(store: Store) -> None:
    await store.goals.add(goal("moon"))
    half = GoalChange(given_progress=50)
    given = await store.goals.change(NOBODY_IN_PARTICULAR, "goal_moon", half, NOW)
    assert given == goal("moon", given_progress=50)
    for name, weight in {"orbit": 3, "landing": 1}.items():
        await store.goals.add_milestone(NOBODY_IN_PARTICULAR, "goal_moon", milestone(name, weight), most=MOST)
    with pytest.raises(Conflict):
        await store.goals.change(NOBODY_IN_PARTICULAR, "goal_moon", half, NOW)
    assert await store.goals.complete_milestone(NOBODY_IN_PARTICULAR, "milestone_orbit", NOW, goal_id="goal_x") is None
    first = await store.goals.complete_milestone(NOBODY_IN_PARTICULAR, "milestone_orbit", LATER, goal_id="goal_moon")
    again = await store.goals.complete_milestone(
        NOBODY_IN_PARTICULAR, "milestone_orbit", LATER + timedelta(hours=1), goal_id="goal_moon"
    )
    assert first is not None
    assert again == replace(first, updated_at=LATER + timedelta(hours=1))
    assert (first.progress_percent, first.milestones[0].completed_at) == (75.0, LATER)
    whole = await store.goals.delete_milestone(NOBODY_IN_PARTICULAR, "milestone_landing", LATER)
    assert whole is not None
    assert (whole.progress_percent, whole.ready_to_complete, whole.status) == (100.0, True, GoalStatus.PLANNING)
    finished = GoalChange(status=GoalStatus.COMPLETED)
    done = await store.goals.change(NOBODY_IN_PARTICULAR, "goal_moon", finished, LATER)
    assert done == await store.goals.get(NOBODY_IN_PARTICULAR, "goal_moon")
    assert done is not None
    assert (done.completed_at, done.ready_to_complete) == (LATER, False)


async def test_096_two_processes_that_complete_milestones_at_once_lose_none(store: Store, other: Store) -> None:
    await store.goals.add(goal("moon"))
    for number in range(6):
        await store.goals.add_milestone(NOBODY_IN_PARTICULAR, "goal_moon", milestone(str(number)), most=MOST)
    await asyncio.gather(
        *(
            (store, other)[number % 2].goals.complete_milestone(NOBODY_IN_PARTICULAR, f"milestone_{number}", NOW)
            for number in range(6)
        )
    )
    reached = await store.goals.get(NOBODY_IN_PARTICULAR, "goal_moon")
    assert reached is not None
    assert reached.progress_percent == 100


async def test_095_a_client_keeps_no_more_than_it_may_of_tasks_goals_and_milestones_together(store: Store) -> None:
    three = Allowance("ada", 3)
    await store.tasks.add(task("nobody's"), Allowance("", 1))
    await store.tasks.add(task("one", client="ada"), three)
    await store.goals.add(goal("two", client="ada"), three)
    third = replace(milestone("three"), client="ada")
    await store.goals.add_milestone(NOBODY_IN_PARTICULAR, "goal_two", third, most=MOST, allowance=three)
    with pytest.raises(QuotaExceeded):
        await store.tasks.add(task("four", client="ada"), three)
    with pytest.raises(QuotaExceeded):
        await store.goals.add(goal("four", client="ada"), three)
    fourth = replace(milestone("four"), client="ada")
    with pytest.raises(QuotaExceeded):
        await store.goals.add_milestone(NOBODY_IN_PARTICULAR, "goal_two", fourth, most=MOST, allowance=three)
    assert (await names(store), await goal_names(store)) == (["nobody's", "one"], ["two"])
    with pytest.raises(QuotaExceeded):
        await store.tasks.add(task("nobody's second"), Allowance("", 1))
