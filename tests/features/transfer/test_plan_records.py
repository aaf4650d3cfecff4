"""Export and import of tasks and goals (features 95, 96 and 101)."""

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
from tests.features.transfer.files import NOW, own_file, transfer_memory, with_valid_checksum
from tests.features.transfer.test_importer import A_SECRET, ImportServices

LATER = NOW + timedelta(hours=1)
EVERYTHING: list[Included] = ["memories", "summaries", "tasks", "goals"]


def task(name: str, **fields: Any) -> Task:
    defaults: dict[str, Any] = {"id": f"task_{name}", "title": name, "created_at": NOW, "updated_at": NOW}
    return Task(**(defaults | fields))


def goal(name: str, **fields: Any) -> Goal:
    defaults: dict[str, Any] = {"id": f"goal_{name}", "title": name, "created_at": NOW, "updated_at": NOW}
    return Goal(**(defaults | fields))


@pytest.fixture
async def old_store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    """A store with a project task that became a subtask of a later one, and a goal with a milestone."""
    store = await SqliteStore.open(tmp_path / "old")
    project = await store.projects.ensure("/home/ada/x", "the shop")
    await store.memories.put([write("a memory")])
    done = {"status": TaskStatus.COMPLETED, "completed_at": LATER}
    part = task("part", project_id=project.id, notes="n", client="me", **done)
    whole = task("whole", project_id=project.id, description="d", priority=TaskPriority.URGENT)
    for one in (part, whole, task("everywhere")):
        await store.tasks.add(one)
    await store.tasks.change(Visibility(project.id), part.id, TaskChange(parent_id=whole.id), LATER)
    moved = goal("reached", success_criteria="all moved", given_progress=12.5, client="me")
    await store.goals.add(moved)
    milestone = Milestone(id="milestone_1", title="Beta", weight=2.5, client="me", created_at=NOW)
    await store.goals.add_milestone(Visibility(), moved.id, milestone, most=5)
    await store.goals.complete_milestone(Visibility(), milestone.id, LATER)
    yield store
    await store.close()


@pytest.fixture
async def services(tmp_path: Path) -> AsyncGenerator[ImportServices]:
    store = await SqliteStore.open(tmp_path / "new")
    yield ImportServices(store, tmp_path / "new" / "backups")
    await store.close()


async def export(store: SqliteStore, folder: Path, include: list[Included] = EVERYTHING) -> bytes:
    done = await Exporter(store.transfer, TransferFolders(folder)).export(include, None, SilentReporter())
    return done.path.read_bytes()


async def plans(store: SqliteStore, path: str = "/home/ada/x") -> tuple[list[Task], list[Goal]]:
    """Return all tasks and goals, with the project id replaced because it differs between stores."""
    project = await store.projects.get_by_path(path)
    visibility = Visibility(project.id if project else None)
    tasks = (await store.tasks.page(visibility, TaskFilter(with_completed=True), 100)).tasks
    goals = (await store.goals.page(visibility, GoalFilter(with_finished=True), 100)).goals
    project_id = project.id if project else None
    return (
        [
            replace(one, project_id="the shop" if one.project_id and one.project_id == project_id else None)
            for one in tasks
        ],
        list(goals),
    )


async def test_101_exported_tasks_and_goals_are_identical_after_import(
    old_store: SqliteStore, services: ImportServices, tmp_path: Path
) -> None:
    data = await export(old_store, tmp_path / "out")
    done = await services.import_data(data)
    assert (done.progress.imported, done.progress.tasks, done.progress.goals) == (1, 3, 1)
    before, after = await plans(old_store), await plans(services.store)
    assert sorted(after[0], key=lambda one: one.id) == sorted(before[0], key=lambda one: one.id)
    assert after[1] == before[1]
    assert {one.title: one.parent_id for one in after[0]} == {
        "part": "task_whole",
        "whole": None,
        "everywhere": None,
    }
    again = await services.import_data(data)
    assert (again.progress.tasks, again.progress.goals, again.progress.plans_skipped) == (0, 0, 4)
    assert await plans(services.store) == after
    assert (await services.store.check()).problems == []


async def test_101_only_included_records_are_exported(
    old_store: SqliteStore, services: ImportServices, tmp_path: Path
) -> None:
    goals = await export(old_store, tmp_path / "goals", ["goals"])
    assert goals.count(b"\n") == 3  # header, goal, end line
    done = await services.import_data(goals)
    assert (done.progress.tasks, done.progress.goals, done.progress.imported) == (0, 1, 0)
    plain = await export(old_store, tmp_path / "plain", ["memories", "summaries"])
    assert b'"version":1' in plain.splitlines()[0]
    assert b"task" not in plain


async def test_101_replacing_replaces_all_tasks_and_goals_in_one_step(
    old_store: SqliteStore, services: ImportServices, tmp_path: Path
) -> None:
    await services.store.tasks.add(task("mine"))
    await services.store.goals.add(goal("mine too", status=GoalStatus.BLOCKED))
    await services.store.memories.put([write("my memory")])
    done = await services.import_data(await export(old_store, tmp_path / "out", ["tasks"]), "replace")
    assert (done.progress.tasks, done.progress.plans_erased, done.progress.erased) == (3, 1, 0)
    tasks, goals = await plans(services.store)
    assert {one.title for one in tasks} == {"part", "whole", "everywhere"}
    assert [one.title for one in goals] == ["mine too"]
    assert [one.memory.content for one in await services.stored_memories()] == ["my memory"]


async def test_101_a_failed_replacement_leaves_tasks_unchanged(
    old_store: SqliteStore, services: ImportServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await services.store.tasks.add(task("mine"))

    async def fail(*_: Any, **__: Any) -> None:
        raise InvalidRequest("stopped before the step")

    monkeypatch.setattr(services.store.transfer, "replace_all", fail)
    with pytest.raises(InvalidRequest, match="stopped"):
        await services.import_data(await export(old_store, tmp_path / "out"), "replace")
    assert [one.title for one in (await plans(services.store))[0]] == ["mine"]
    staged = await services.store._readers.read(  # pyright: ignore[reportPrivateUsage]
        lambda connection: connection.value("SELECT count(*) FROM incoming_plan")
    )
    assert staged == 0


@pytest.mark.parametrize(
    ("old_bytes", "new_bytes", "message"),
    [
        (b'"title":"whole"', b'"title":""', "a task has no id or no title"),
        (b'"title":"reached"', b'"title":""', "a goal has no id or no title"),
        (b'"include":["goals","memories","summaries","tasks"]', b'"include":["goals"]', "does not include"),
        (b'"weight":2.5', b'"weight":-1', "weight"),
        (b'"status":"completed"', b'"status":"pending"', "completion time"),
        (b'"project_id":"', b'"project_id":"x', "not declared before"),
        (b'"notes":"n"', b'"notes":"\\u0000"', "NUL"),
        (b'"notes":"n"', b'"notes":3', "notes"),
        (b'"tasks":3', b'"tasks":2', "counts"),
    ],
)
async def test_101_a_file_with_invalid_tasks_or_goals_changes_nothing(
    old_store: SqliteStore, services: ImportServices, tmp_path: Path, old_bytes: bytes, new_bytes: bytes, message: str
) -> None:
    data = await export(old_store, tmp_path / "out")
    assert old_bytes in data
    with pytest.raises(InvalidRequest, match=message):
        await services.import_data(with_valid_checksum(data.replace(old_bytes, new_bytes)))
    assert await plans(services.store) == ([], [])
    assert await services.stored_memories() == []


async def test_101_the_secrets_policy_applies_to_imported_tasks(
    old_store: SqliteStore, services: ImportServices, tmp_path: Path
) -> None:
    await old_store.tasks.add(task("secret", notes=f"the token is {A_SECRET}"))
    data = await export(old_store, tmp_path / "out")
    refused = await services.import_data(data, secrets=SecretsPolicy.REFUSE)
    assert refused.ignored == {"task or goal refused because it contains a secret": 1}
    assert refused.progress.tasks == 3
    masked = await services.import_data(data)
    assert (masked.progress.tasks, masked.masked) == (1, 1)
    [stored] = [one for one in (await plans(services.store))[0] if one.title == "secret"]
    assert stored.notes == "the token is [secret: github token]"


async def test_065_a_file_with_plans_over_the_quota_changes_nothing(
    old_store: SqliteStore, services: ImportServices, tmp_path: Path
) -> None:
    data = await export(old_store, tmp_path / "out")
    with pytest.raises(QuotaExceeded):  # a task, a goal and a milestone of `me`
        await services.import_data(data, quota=Quota(memories_per_client=2))
    assert await plans(services.store) == ([], [])
    assert (await services.import_data(data, quota=Quota(memories_per_client=3))).progress.tasks == 3
    assert (await services.import_data(data, quota=Quota(memories_per_client=3))).progress.plans_skipped == 4


async def test_101_a_subtask_without_its_parent_becomes_a_task(
    old_store: SqliteStore, services: ImportServices, tmp_path: Path
) -> None:
    await old_store.tasks.add(task("parent", description=A_SECRET))
    await old_store.tasks.add(task("child", parent_id="task_parent"))
    await services.import_data(await export(old_store, tmp_path / "out"), secrets=SecretsPolicy.REFUSE)
    [child] = [one for one in (await plans(services.store))[0] if one.title == "child"]
    assert child.parent_id is None


async def test_101_files_of_version_1_are_still_read(services: ImportServices) -> None:
    data = own_file([transfer_memory("of an old program")])
    assert b'"tasks"' not in data
    assert (await services.import_data(data)).progress.imported == 1
