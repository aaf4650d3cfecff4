"""What memories are about in code is kept, changed, seen and erased with them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from scrubjay.app.store import Store
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.links import CodeLink, LinkOrigin
from scrubjay.features.memory.models import MemoryWrite
from tests.contracts.samples import NOBODY_IN_PARTICULAR, NOW, link, query, search, write

RUN = link("src/a.py::run", text="def run")
WALK = link("src/a.py::walk", text="def walk", origin=LinkOrigin.MENTIONED)
LATER = link("src/b.py::later")


async def links_by_content(store: Store, visibility: Visibility = NOBODY_IN_PARTICULAR) -> dict[str, Any]:
    return {memory.content: memory.links for memory in await store.links.linked(visibility)}


async def test_a_search_brings_what_memories_are_about(store: Store) -> None:
    about, plain = write("about code", links=(RUN, LATER)), write("about nothing")
    await store.memories.put([about, plain])
    found = await search(store, query("about"))
    assert {one.memory.content: one.memory for one in found.candidates} == {
        "about code": about.memory,
        "about nothing": plain.memory,
    }
    assert await store.links.linked(NOBODY_IN_PARTICULAR) == [about.memory]
    assert await store.links.linked(NOBODY_IN_PARTICULAR, [about.memory.id, plain.memory.id]) == [about.memory]


async def test_memories_are_found_by_the_code_that_they_are_about(store: Store) -> None:
    run, later, elsewhere = write("run", links=(RUN,)), write("later", links=(LATER,)), write("x", links=(WALK,))
    elsewhere = replace(elsewhere, memory=replace(elsewhere.memory, links=(replace(WALK, root="/elsewhere"),)))
    await store.memories.put([run, later, elsewhere])
    assert await store.links.linked_to(NOBODY_IN_PARTICULAR, "/apollo", ["src/a.py"]) == [run.memory, later.memory]
    assert await store.links.linked_to(NOBODY_IN_PARTICULAR, "/apollo", ["src/b.py"]) == [later.memory]


async def test_only_those_who_see_a_memory_see_what_it_is_about_or_change_it(store: Store) -> None:
    project = await store.projects.ensure("/apollo", None)
    one = write("of the project", scope=Scope.PROJECT, project_id=project.id, links=(RUN,))
    await store.memories.put([one])
    assert await store.links.linked(NOBODY_IN_PARTICULAR) == []
    assert await store.links.linked_to(NOBODY_IN_PARTICULAR, "/apollo", ["src/a.py"]) == []
    assert not await store.links.exchange(NOBODY_IN_PARTICULAR, one.memory.id, [RUN], [])
    assert await links_by_content(store, Visibility(project.id)) == {"of the project": (RUN,)}


async def test_links_are_exchanged_only_while_they_are_what_they_were_thought_to_be(store: Store) -> None:
    one = write("about code", links=(RUN, LATER))
    await store.memories.put([one])
    assert not await store.links.exchange(NOBODY_IN_PARTICULAR, one.memory.id, [RUN], [])
    assert await store.links.exchange(NOBODY_IN_PARTICULAR, one.memory.id, [RUN, LATER], [WALK])
    assert await links_by_content(store) == {"about code": (WALK,)}
    await store.memories.delete(NOBODY_IN_PARTICULAR, [one.memory.id])
    assert not await store.links.exchange(NOBODY_IN_PARTICULAR, one.memory.id, [WALK], [])
    assert (await store.check()).problems == []


def later(content: str, *links: CodeLink, given: frozenset[str] = frozenset()) -> MemoryWrite:
    now = NOW + timedelta(days=1)
    return write(content, key="k", links=links, given=given, recorded_at=now, updated_at=now)


async def test_what_says_something_else_mentions_something_else_and_is_about_what_it_was_said_to_be(
    store: Store,
) -> None:
    first = write("runs and walks", key="k", links=(RUN, WALK))
    await store.memories.put([first])
    await store.memories.put([later("runs and walks")])
    assert await links_by_content(store) == {"runs and walks": (RUN, WALK)}
    await store.memories.put([later("waits", LATER)])
    assert await links_by_content(store) == {"waits": (RUN, LATER)}
    await store.memories.put([later("stops", given=frozenset({"links"}))])
    assert await links_by_content(store) == {}
    versions = [one.id for one in await store.memories.history(NOBODY_IN_PARTICULAR, first.memory.id)]
    assert len(versions) == 3
    found = await search(store, replace(query("walks"), now=None))
    assert [one.memory.links for one in found.candidates if one.memory.content == "runs and walks"] == [(RUN, WALK)]
