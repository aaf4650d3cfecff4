"""Tasks and goals move out of a store and into another with memories (features 95, 96 and 101)."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import InvalidRequest, QuotaExceeded
from scrubjay.core.policies import SecretsPolicy
from scrubjay.core.progress import SilentReporter
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.quota import Quota
from scrubjay.features.tasks.models import (
    Goal,
    GoalFilter,
    GoalStatus,
    Milestone,
    Task,
    TaskChange,
    TaskFilter,
    TaskPriority,
    TaskStatus,
)
from scrubjay.features.transfer.exporter import Exporter
from scrubjay.features.transfer.folders import TransferFolders
from scrubjay.features.transfer.formats import Included
from tests.contracts.samples import write
from tests.features.transfer.files import NOW, moved, own_file, signed
from tests.features.transfer.test_importer import A_SECRET, House

LATER = NOW + timedelta(hours=1)
EVERYTHING: list[Included] = ["memories", "summaries", "tasks", "goals"]


def task(name: str, **fields: Any) -> Task:
    plain: dict[str, Any] = {"id": f"task_{name}", "title": name, "created_at": NOW, "updated_at": NOW}
    return Task(**(plain | fields))


def goal(name: str, **fields: Any) -> Goal:
    plain: dict[str, Any] = {"id": f"goal_{name}", "title": name, "created_at": NOW, "updated_at": NOW}
    return Goal(**(plain | fields))


@pytest.fixture
async def old(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    """A store with a task that became a part of a later one, in a project, and a goal with a milestone."""
    store = await SqliteStore.open(tmp_path / "old")
    project = await store.projects.ensure("/home/ada/x", "the shop")
    await store.memories.put([write("a memory")])
    done = {"status": TaskStatus.COMPLETED, "completed_at": LATER}
    part = task("part", project_id=project.id, notes="n", client="me", **done)
    whole = task("whole", project_id=project.id, description="d", priority=TaskPriority.URGENT)
    for one in (part, whole, task("everywhere")):
        await store.tasks.add(one)
    await store.tasks.change(Visibility(project.id), part.id, TaskChange(parent_id=whole.id), LATER)
    reached = goal("reached", success_criteria="all moved", given_progress=12.5, client="me")
    await store.goals.add(reached)
    milestone = Milestone(id="milestone_1", title="Beta", weight=2.5, client="me", created_at=NOW)
    await store.goals.add_milestone(Visibility(), reached.id, milestone, most=5)
    await store.goals.complete_milestone(Visibility(), milestone.id, LATER)
    yield store
    await store.close()


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    store = await SqliteStore.open(tmp_path / "new")
    yield House(store, tmp_path / "new" / "backups")
    await store.close()


async def exported(store: SqliteStore, folder: Path, include: list[Included] = EVERYTHING) -> bytes:
    done = await Exporter(store.transfer, TransferFolders(folder)).export(include, None, SilentReporter())
    return done.path.read_bytes()


async def plans(store: SqliteStore, path: str = "/home/ada/x") -> tuple[list[Task], list[Goal]]:
    """All of them, with the project's id left out: it is another in every store."""
    project = await store.projects.at(path)
    visibility = Visibility(project.id if project else None)
    tasks = (await store.tasks.page(visibility, TaskFilter(with_completed=True), 100)).tasks
    goals = (await store.goals.page(visibility, GoalFilter(with_finished=True), 100)).goals
    ours = project.id if project else None
    return (
        [replace(one, project_id="the shop" if one.project_id and one.project_id == ours else None) for one in tasks],
        list(goals),
    )


async def test_101_tasks_and_goals_are_in_another_store_as_they_were(
    old: SqliteStore, house: House, tmp_path: Path
) -> None:
    data = await exported(old, tmp_path / "out")
    done = await house.bring(data)
    assert (done.arrived.imported, done.arrived.tasks, done.arrived.goals) == (1, 3, 1)
    before, after = await plans(old), await plans(house.store)
    assert sorted(after[0], key=lambda one: one.id) == sorted(before[0], key=lambda one: one.id)
    assert after[1] == before[1]
    assert {one.title: one.parent_id for one in after[0]} == {
        "part": "task_whole",
        "whole": None,
        "everywhere": None,
    }
    again = await house.bring(data)
    assert (again.arrived.tasks, again.arrived.goals, again.arrived.plans_skipped) == (0, 0, 4)
    assert await plans(house.store) == after
    assert (await house.store.check()).problems == []


async def test_101_only_what_is_included_moves(old: SqliteStore, house: House, tmp_path: Path) -> None:
    goals = await exported(old, tmp_path / "goals", ["goals"])
    assert goals.count(b"\n") == 3  # the first line, the goal, the end
    done = await house.bring(goals)
    assert (done.arrived.tasks, done.arrived.goals, done.arrived.imported) == (0, 1, 0)
    plain = await exported(old, tmp_path / "plain", ["memories", "summaries"])
    assert b'"version":1' in plain.splitlines()[0]
    assert b"task" not in plain


async def test_101_replacing_takes_the_place_of_all_tasks_and_goals_in_one_step(
    old: SqliteStore, house: House, tmp_path: Path
) -> None:
    await house.store.tasks.add(task("mine"))
    await house.store.goals.add(goal("mine too", status=GoalStatus.BLOCKED))
    await house.store.memories.put([write("my memory")])
    done = await house.bring(await exported(old, tmp_path / "out", ["tasks"]), "replace")
    assert (done.arrived.tasks, done.arrived.plans_erased, done.arrived.erased) == (3, 1, 0)
    tasks, goals = await plans(house.store)
    assert {one.title for one in tasks} == {"part", "whole", "everywhere"}
    assert [one.title for one in goals] == ["mine too"]
    assert [one.memory.content for one in await house.memories_kept()] == ["my memory"]


async def test_101_replacing_that_fails_leaves_tasks_as_they_were(
    old: SqliteStore, house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.store.tasks.add(task("mine"))

    async def fail(*_: Any, **__: Any) -> None:
        raise InvalidRequest("stopped before the step")

    monkeypatch.setattr(house.store.transfer, "exchange", fail)
    with pytest.raises(InvalidRequest, match="stopped"):
        await house.bring(await exported(old, tmp_path / "out"), "replace")
    assert [one.title for one in (await plans(house.store))[0]] == ["mine"]
    waiting = await house.store._readers.read(  # pyright: ignore[reportPrivateUsage]
        lambda connection: connection.value("SELECT count(*) FROM incoming_plan")
    )
    assert waiting == 0


@pytest.mark.parametrize(
    ("find", "put", "said"),
    [
        (b'"title":"whole"', b'"title":""', "a task has no id or no title"),
        (b'"title":"reached"', b'"title":""', "a goal has no id or no title"),
        (b'"include":["goals","memories","summaries","tasks"]', b'"include":["goals"]', "does not name"),
        (b'"weight":2.5', b'"weight":-1', "weight"),
        (b'"status":"completed"', b'"status":"pending"', "completed"),
        (b'"project_id":"', b'"project_id":"x', "not named before"),
        (b'"notes":"n"', b'"notes":"\\u0000"', "NUL"),
        (b'"notes":"n"', b'"notes":3', "notes"),
        (b'"tasks":3', b'"tasks":2', "counts"),
    ],
)
async def test_101_a_file_with_what_no_store_can_have_written_changes_nothing(
    old: SqliteStore, house: House, tmp_path: Path, find: bytes, put: bytes, said: str
) -> None:
    data = await exported(old, tmp_path / "out")
    assert find in data
    with pytest.raises(InvalidRequest, match=said):
        await house.bring(signed(data.replace(find, put)))
    assert await plans(house.store) == ([], [])
    assert await house.memories_kept() == []


async def test_101_secrets_in_tasks_are_treated_as_in_memories(old: SqliteStore, house: House, tmp_path: Path) -> None:
    await old.tasks.add(task("secret", notes=f"the token is {A_SECRET}"))
    data = await exported(old, tmp_path / "out")
    refused = await house.bring(data, secrets=SecretsPolicy.REFUSE)
    assert refused.left_out == {"task or goal with a secret, which may not be kept here": 1}
    assert refused.arrived.tasks == 3
    masked = await house.bring(data)
    assert (masked.arrived.tasks, masked.masked) == (1, 1)
    [kept] = [one for one in (await plans(house.store))[0] if one.title == "secret"]
    assert kept.notes == "the token is [secret: github token]"


async def test_065_a_file_with_more_plans_than_somebody_may_keep_changes_nothing(
    old: SqliteStore, house: House, tmp_path: Path
) -> None:
    data = await exported(old, tmp_path / "out")
    with pytest.raises(QuotaExceeded):  # a task, a goal and a milestone of `me`
        await house.bring(data, quota=Quota(memories_per_client=2))
    assert await plans(house.store) == ([], [])
    assert (await house.bring(data, quota=Quota(memories_per_client=3))).arrived.tasks == 3
    assert (await house.bring(data, quota=Quota(memories_per_client=3))).arrived.plans_skipped == 4


async def test_101_a_part_whose_whole_may_not_come_stands_for_itself(
    old: SqliteStore, house: House, tmp_path: Path
) -> None:
    await old.tasks.add(task("holder", description=A_SECRET))
    await old.tasks.add(task("held", parent_id="task_holder"))
    await house.bring(await exported(old, tmp_path / "out"), secrets=SecretsPolicy.REFUSE)
    [held] = [one for one in (await plans(house.store))[0] if one.title == "held"]
    assert held.parent_id is None


async def test_101_files_of_before_are_read_as_ever(house: House) -> None:
    data = own_file([moved("of an old program")])
    assert b'"tasks"' not in data
    assert (await house.bring(data)).arrived.imported == 1
