"""What every backend keeps of projects, and of how tools are used."""

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import NotFound
from scrubjay.features.projects.models import Project
from tests.contracts.samples import NOW, ManualClock


async def test_a_project_is_made_once_and_named_after_its_folder(store: Store, clock: ManualClock) -> None:
    made = await store.projects.ensure("/home/ada/engine", None)
    assert made == Project(id=made.id, path="/home/ada/engine", name="engine", created_at=NOW)
    clock.advance(60)
    assert await store.projects.ensure("/home/ada/engine", None) == made
    assert await store.projects.list() == [made]


async def test_a_project_at_the_root_is_named_after_its_path(store: Store) -> None:
    assert (await store.projects.ensure("/", None)).name == "/"


async def test_a_given_name_replaces_the_one_a_project_has(store: Store) -> None:
    made = await store.projects.ensure("/a", "first")
    renamed = await store.projects.ensure("/a", "sécond 🚂")
    assert renamed == Project(id=made.id, path="/a", name="sécond 🚂", created_at=NOW)
    assert await store.projects.ensure("/a", None) == renamed


async def test_projects_are_found_by_id_path_and_name(store: Store) -> None:
    first = await store.projects.ensure("/one/app", None)
    second = await store.projects.ensure("/two/app", None)
    assert await store.projects.get(first.id) == first
    assert await store.projects.at("/two/app") == second
    assert await store.projects.named("app") == [second, first]
    assert await store.projects.list() == [second, first]
    assert await store.projects.get("prj_none") is None
    assert await store.projects.at("/three") is None
    assert await store.projects.named("nothing") == []


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


async def test_calls_of_tools_add_up_over_all_processes(store: Store, other: Store) -> None:
    assert await store.usage.counts() == {}
    await store.usage.add({"recall": 2, "remember": 1})
    await other.usage.add({"recall": 3})
    await store.usage.add({})
    assert await store.usage.counts() == {"recall": 5, "remember": 1}
