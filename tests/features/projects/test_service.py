"""Which project a caller works in."""

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
    opened = await SqliteStore.open(tmp_path / "home")
    yield opened
    await opened.close()


@pytest.fixture
def projects(store: SqliteStore) -> ProjectService:
    return ProjectService(store.projects)


async def test_each_client_has_its_own_project(projects: ProjectService, tmp_path: Path) -> None:
    one = await projects.set(str(tmp_path / "one"), None, "alice", None)
    two = await projects.set(str(tmp_path / "two"), "Second", "bob", None)
    assert (one.name, two.name) == ("one", "Second")
    assert await projects.active("alice") == one
    assert await projects.active("bob") == two
    assert await projects.active("carol") is None


async def test_a_client_that_cannot_be_told_from_others_has_no_active_project(
    projects: ProjectService, tmp_path: Path
) -> None:
    await projects.set(str(tmp_path), None, None, None)
    assert await projects.active(None) is None


async def test_one_folder_is_one_project_however_it_is_named(projects: ProjectService, tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    first = await projects.set(str(folder), None, None, None)
    for name in (str(tmp_path / "link"), f"{folder}/", f"{folder}/../real/."):
        assert await projects.set(name, None, None, None) == first
    assert await projects.set("real", None, None, str(tmp_path)) == first
    assert [project.id for project in await projects.list()] == [first.id]


async def test_a_relative_path_needs_a_place_to_start_from(projects: ProjectService) -> None:
    with pytest.raises(InvalidRequest, match="not an absolute path"):
        await projects.set("some/folder", None, "alice", None)


async def test_a_project_is_found_by_id_path_or_unmistakable_name(projects: ProjectService, tmp_path: Path) -> None:
    made = await projects.set(str(tmp_path / "app"), "Apollo", None, None)
    for reference in (made.id, made.path, "Apollo"):
        assert await projects.find(reference) == made
    await projects.set(str(tmp_path / "other"), "Apollo", None, None)
    with pytest.raises(Conflict, match="2 projects are called 'Apollo'"):
        await projects.find("Apollo")


async def test_an_unknown_project_is_answered_with_the_nearest(projects: ProjectService, tmp_path: Path) -> None:
    await projects.set(str(tmp_path / "app"), "Apollo", None, None)
    with pytest.raises(NotFound) as caught:
        await projects.find("Apolo")
    assert caught.value.hint == "did you mean Apollo?"


async def test_what_is_kept_for_a_new_folder_makes_its_project_and_a_name_alone_does_not(
    projects: ProjectService, tmp_path: Path
) -> None:
    made = await projects.find(str(tmp_path / "new"), make=True)
    assert await projects.find("new") == made
    for reference in ("newer", str(tmp_path / "newer")):
        with pytest.raises(NotFound):
            await projects.find(reference, make=reference == "newer")


async def test_a_server_started_for_a_project_gives_it_to_everybody_until_they_choose(
    store: SqliteStore, tmp_path: Path
) -> None:
    projects = ProjectService(store.projects, default_path=tmp_path / "default")
    default = await projects.active("alice")
    assert default is not None
    assert default.name == "default"
    chosen = await projects.set(str(tmp_path / "own"), None, "alice", None)
    assert await projects.active("alice") == chosen
    assert await projects.active(None) == default


async def test_the_client_of_this_process_keeps_what_it_chose(store: SqliteStore, tmp_path: Path) -> None:
    projects = ProjectService(store.projects, default_path=tmp_path / "default", own_client="mine")
    default = await projects.active("mine")
    assert default is not None
    assert default.name == "default"
    chosen = await projects.set(str(tmp_path / "own"), None, "mine", None)
    await projects.set(str(tmp_path / "other"), None, "somebody else", None)
    assert await projects.active("mine") == chosen
    assert await store.projects.active("mine") == chosen


async def test_the_servers_project_is_found_while_somebody_else_writes(store: SqliteStore, tmp_path: Path) -> None:
    """It is made by the first call; later ones only read, and so wait for nobody."""
    served = ProjectService(store.projects, default_path=tmp_path)
    made = await served.active("alice")
    with (tmp_path / "home" / LOCK).open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with anyio.fail_after(5):
            assert await served.active("alice") == made
