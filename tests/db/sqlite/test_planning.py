"""Tasks and goals in the files of a SQLite store: deletion leaves no trace and follows the project."""

from pathlib import Path

from scrubjay.app.sqlite_store import DATABASE, SqliteStore
from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.tasks.models import Goal, Milestone, Task
from tests.contracts.samples import GLOBAL_ONLY, NOW

WORDS = ("zanzibarquux", "betelgeusefnord", "xylophonewomble", "narwhalocelot")


def words_in_files(home: Path) -> set[str]:
    files = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    return {word for word in WORDS if any(word.encode() in content for content in files)}


async def fill(store: SqliteStore, project_id: str | None) -> None:
    parent = Task(id="task_1", project_id=project_id, title=WORDS[0], created_at=NOW, updated_at=NOW)
    await store.tasks.add(parent)
    subtask = Task(
        id="task_2",
        project_id=project_id,
        title="part",
        notes=WORDS[1],
        parent_id="task_1",
        created_at=NOW,
        updated_at=NOW,
    )
    await store.tasks.add(subtask)
    await store.goals.add(Goal(id="goal_1", project_id=project_id, title=WORDS[2], created_at=NOW, updated_at=NOW))
    milestone = Milestone(id="milestone_1", title=WORDS[3], created_at=NOW)
    await store.goals.add_milestone(Visibility(project_id), "goal_1", milestone, most=1)


async def test_095_096_no_trace_of_a_deleted_task_or_goal_remains_in_the_files(store: SqliteStore, home: Path) -> None:
    await fill(store, None)
    assert words_in_files(home) == set(WORDS), "otherwise the test proves nothing"
    await store.tasks.delete(GLOBAL_ONLY, "task_1", with_subtasks=True)
    assert words_in_files(home) == set(WORDS[2:])
    await store.goals.delete_milestone(GLOBAL_ONLY, "milestone_1", NOW)
    assert words_in_files(home) == {WORDS[2]}
    await store.goals.delete(GLOBAL_ONLY, "goal_1")
    assert words_in_files(home) == set()
    assert (await store.check()).problems == []


async def test_095_096_tasks_and_goals_are_deleted_with_their_project(store: SqliteStore, home: Path) -> None:
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
