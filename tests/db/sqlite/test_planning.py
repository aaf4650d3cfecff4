"""Tasks and goals in the files of a SQLite store: what is deleted is gone from them, and goes with its project."""

from pathlib import Path

from scrubjay.app.sqlite_store import DATABASE, SqliteStore
from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.tasks.models import Goal, Milestone, Task
from tests.contracts.samples import NOBODY_IN_PARTICULAR, NOW

WORDS = ("zanzibarquux", "betelgeusefnord", "xylophonewomble", "narwhalocelot")


def found(home: Path) -> set[str]:
    files = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    return {word for word in WORDS if any(word.encode() in content for content in files)}


async def fill(store: SqliteStore, project_id: str | None) -> None:
    whole = Task(id="task_1", project_id=project_id, title=WORDS[0], created_at=NOW, updated_at=NOW)
    await store.tasks.add(whole)
    part = Task(
        id="task_2",
        project_id=project_id,
        title="part",
        notes=WORDS[1],
        parent_id="task_1",
        created_at=NOW,
        updated_at=NOW,
    )
    await store.tasks.add(part)
    await store.goals.add(Goal(id="goal_1", project_id=project_id, title=WORDS[2], created_at=NOW, updated_at=NOW))
    milestone = Milestone(id="milestone_1", title=WORDS[3], created_at=NOW)
    await store.goals.add_milestone(Visibility(project_id), "goal_1", milestone, most=1)


async def test_095_096_nothing_can_be_found_of_what_was_deleted(store: SqliteStore, home: Path) -> None:
    await fill(store, None)
    assert found(home) == set(WORDS), "else the test would prove nothing"
    await store.tasks.delete(NOBODY_IN_PARTICULAR, "task_1", with_subtasks=True)
    assert found(home) == set(WORDS[2:])
    await store.goals.delete_milestone(NOBODY_IN_PARTICULAR, "milestone_1", NOW)
    assert found(home) == {WORDS[2]}
    await store.goals.delete(NOBODY_IN_PARTICULAR, "goal_1")
    assert found(home) == set()
    assert (await store.check()).problems == []


async def test_095_096_tasks_and_goals_go_with_their_project(store: SqliteStore, home: Path) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    await fill(store, project.id)
    connection = Connection(home / DATABASE, 5.0)
    connection.execute("DELETE FROM project WHERE id = :id", {"id": project.id})
    rows = connection.execute(
        "SELECT (SELECT count(*) FROM task), (SELECT count(*) FROM goal), count(*) FROM milestone"
    )
    connection.close()
    assert rows == [(0, 0, 0)]
    assert (await store.check()).problems == []
