"""Store contract: projects, and use counts of tools."""

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import NotFound
from scrubjay.features.projects.models import Project
from tests.contracts.samples import NOW, ManualClock


async def test_a_project_is_created_once_and_named_after_its_folder(store: Store, clock: ManualClock) -> None:
    project = await store.projects.ensure("/home/ada/engine", None)
    assert project == Project(id=project.id, path="/home/ada/engine", name="engine", created_at=NOW)
    clock.advance(60)
    assert await store.projects.ensure("/home/ada/engine", None) == project
    assert await store.projects.list() == [project]


async def test_a_project_at_the_root_is_named_after_its_path(store: Store) -> None:
    assert (await store.projects.ensure("/", None)).name == "/"


async def test_a_given_name_replaces_the_one_a_project_has(store: Store) -> None:
    project = await store.projects.ensure("/a", "first")
    renamed = await store.projects.ensure("/a", "sécond 🚂")
    assert renamed == Project(id=project.id, path="/a", name="sécond 🚂", created_at=NOW)
    assert await store.projects.ensure("/a", None) == renamed


async def test_projects_are_found_by_id_path_and_name(store: Store) -> None:
    first = await store.projects.ensure("/one/app", None)
    second = await store.projects.ensure("/two/app", None)
    assert await store.projects.get(first.id) == first
    assert await store.projects.get_by_path("/two/app") == second
    assert await store.projects.find_by_name("app") == [second, first]
    assert await store.projects.list() == [second, first]
    assert await store.projects.get("prj_none") is None
    assert await store.projects.get_by_path("/three") is None
    assert await store.projects.find_by_name("nothing") == []


async def test_projects_that_the_owner_set_stay_the_owners(store: Store, other: Store) -> None:
    for path, by_owner in (("/a", False), ("/b", True), ("/c", False), ("/a", False), ("/c", True), ("/b", False)):
        await store.projects.ensure(path, None, by_owner=by_owner)
    assert await other.projects.paths_of_owner() == ["/b", "/c"]


async def test_each_client_has_its_own_active_project(store: Store, other: Store) -> None:
    first, second = await store.projects.ensure("/a", None), await store.projects.ensure("/b", None)
    assert await store.projects.active("ada") is None
    await store.projects.activate("ada", first.id)
    await store.projects.activate("bob", first.id)
    await other.projects.activate("ada", second.id)
    assert await store.projects.active("ada") == second
    assert await other.projects.active("bob") == first


async def test_a_project_that_does_not_exist_cannot_become_active(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.projects.activate("ada", "prj_none")
    assert await store.projects.active("ada") is None


async def test_call_counts_add_up_across_processes(store: Store, other: Store) -> None:
    assert await store.usage.counts() == {}
    await store.usage.add({"recall": 2, "remember": 1})
    await other.usage.add({"recall": 3})
    await store.usage.add({})
    assert await store.usage.counts() == {"recall": 5, "remember": 1}
