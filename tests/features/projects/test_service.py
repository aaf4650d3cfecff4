"""The active project of each client; finding and creating projects."""

import fcntl
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from scrubjay.app.sqlite_store import LOCK, SqliteStore
from scrubjay.core.errors import Conflict, InvalidRequest, NotFound
from scrubjay.features.projects.service import ProjectService


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await SqliteStore.open(tmp_path / "home")
    yield store
    await store.close()


@pytest.fixture
def projects(store: SqliteStore) -> ProjectService:
    return ProjectService(store.projects)


async def test_each_client_has_its_own_active_project(projects: ProjectService, tmp_path: Path) -> None:
    one = await projects.set(str(tmp_path / "one"), None, "alice", None)
    two = await projects.set(str(tmp_path / "two"), "Second", "bob", None)
    assert (one.name, two.name) == ("one", "Second")
    assert await projects.active("alice") == one
    assert await projects.active("bob") == two
    assert await projects.active("carol") is None


async def test_an_anonymous_client_has_no_active_project(projects: ProjectService, tmp_path: Path) -> None:
    await projects.set(str(tmp_path), None, None, None)
    assert await projects.active(None) is None


async def test_all_paths_of_a_folder_name_the_same_project(projects: ProjectService, tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    first = await projects.set(str(folder), None, None, None)
    for name in (str(tmp_path / "link"), f"{folder}/", f"{folder}/../real/."):
        assert await projects.set(name, None, None, None) == first
    assert await projects.set("real", None, None, str(tmp_path)) == first
    assert [project.id for project in await projects.list()] == [first.id]


async def test_a_relative_path_without_a_working_directory_is_refused(projects: ProjectService) -> None:
    with pytest.raises(InvalidRequest, match="not an absolute path"):
        await projects.set("some/folder", None, "alice", None)


async def test_a_project_is_found_by_id_path_or_unique_name(projects: ProjectService, tmp_path: Path) -> None:
    project = await projects.set(str(tmp_path / "app"), "Apollo", None, None)
    for reference in (project.id, project.path, "Apollo"):
        assert await projects.find(reference) == project
    await projects.set(str(tmp_path / "other"), "Apollo", None, None)
    with pytest.raises(Conflict, match="2 projects are named 'Apollo'"):
        await projects.find("Apollo")


async def test_an_unknown_name_is_refused_with_the_most_similar_one(projects: ProjectService, tmp_path: Path) -> None:
    await projects.set(str(tmp_path / "app"), "Apollo", None, None)
    with pytest.raises(NotFound) as caught:
        await projects.find("Apolo")
    assert caught.value.hint == "did you mean Apollo?"


async def test_writing_to_a_new_folder_creates_its_project_and_a_bare_name_does_not(
    projects: ProjectService, tmp_path: Path
) -> None:
    project = await projects.find(str(tmp_path / "new"), make=True)
    assert await projects.find("new") == project
    for reference in ("newer", str(tmp_path / "newer")):
        with pytest.raises(NotFound):
            await projects.find(reference, make=reference == "newer")


async def test_the_default_project_is_active_until_a_client_selects_another(store: SqliteStore, tmp_path: Path) -> None:
    projects = ProjectService(store.projects, default_path=tmp_path / "default")
    default = await projects.active("alice")
    assert default is not None
    assert default.name == "default"
    chosen = await projects.set(str(tmp_path / "own"), None, "alice", None)
    assert await projects.active("alice") == chosen
    assert await projects.active(None) == default


async def test_the_selection_of_the_own_client_survives_selections_by_others(
    store: SqliteStore, tmp_path: Path
) -> None:
    projects = ProjectService(store.projects, default_path=tmp_path / "default", own_client="mine")
    default = await projects.active("mine")
    assert default is not None
    assert default.name == "default"
    chosen = await projects.set(str(tmp_path / "own"), None, "mine", None)
    await projects.set(str(tmp_path / "other"), None, "somebody else", None)
    assert await projects.active("mine") == chosen
    assert await store.projects.active("mine") == chosen


async def test_the_default_project_is_found_while_the_write_lock_is_held(store: SqliteStore, tmp_path: Path) -> None:
    """Only the first call writes; later calls only read and do not wait for the lock."""
    projects = ProjectService(store.projects, default_path=tmp_path)
    project = await projects.active("alice")
    with (tmp_path / "home" / LOCK).open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with anyio.fail_after(5):
            assert await projects.active("alice") == project
