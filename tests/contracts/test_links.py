"""Store contract: code links of memories."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from scrubjay.app.store import Store
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.links import CodeLink, LinkOrigin
from scrubjay.features.memory.writes import MemoryWrite
from tests.contracts.samples import GLOBAL_ONLY, NOW, link, query, search, write

RUN = link("src/a.py::run", text="def run")
WALK = link("src/a.py::walk", text="def walk", origin=LinkOrigin.MENTIONED)
LATER = link("src/b.py::later")


async def links_by_content(store: Store, visibility: Visibility = GLOBAL_ONLY) -> dict[str, Any]:
    return {memory.content: memory.links for memory in await store.links.linked(visibility)}


async def test_a_search_returns_the_code_links_of_memories(store: Store) -> None:
    linked, plain = write("about code", links=(RUN, LATER)), write("about nothing")
    await store.memories.put([linked, plain])
    pool = await search(store, query("about"))
    assert {one.memory.content: one.memory for one in pool.candidates} == {
        "about code": linked.memory,
        "about nothing": plain.memory,
    }
    assert await store.links.linked(GLOBAL_ONLY) == [linked.memory]
    assert await store.links.linked(GLOBAL_ONLY, [linked.memory.id, plain.memory.id]) == [linked.memory]


async def test_memories_are_found_by_their_linked_code(store: Store) -> None:
    run, later, elsewhere = write("run", links=(RUN,)), write("later", links=(LATER,)), write("x", links=(WALK,))
    elsewhere = replace(elsewhere, memory=replace(elsewhere.memory, links=(replace(WALK, root="/elsewhere"),)))
    await store.memories.put([run, later, elsewhere])
    assert await store.links.linked_to(GLOBAL_ONLY, "/apollo", ["src/a.py"]) == [
        run.memory,
        later.memory,
    ]
    assert await store.links.linked_to(GLOBAL_ONLY, "/apollo", ["src/b.py"]) == [later.memory]


async def test_only_callers_who_see_a_memory_can_see_or_change_its_links(store: Store) -> None:
    project = await store.projects.ensure("/apollo", None)
    one = write("of the project", scope=Scope.PROJECT, project_id=project.id, links=(RUN,))
    await store.memories.put([one])
    assert await store.links.linked(GLOBAL_ONLY) == []
    assert await store.links.linked_to(GLOBAL_ONLY, "/apollo", ["src/a.py"]) == []
    assert not await store.links.replace_links(GLOBAL_ONLY, one.memory.id, [RUN], [])
    assert await links_by_content(store, Visibility(project.id)) == {"of the project": (RUN,)}


async def test_links_are_replaced_only_if_they_are_unchanged(store: Store) -> None:
    one = write("about code", links=(RUN, LATER))
    await store.memories.put([one])
    assert not await store.links.replace_links(GLOBAL_ONLY, one.memory.id, [RUN], [])
    assert await store.links.replace_links(GLOBAL_ONLY, one.memory.id, [RUN, LATER], [WALK])
    assert await links_by_content(store) == {"about code": (WALK,)}
    await store.memories.delete(GLOBAL_ONLY, [one.memory.id])
    assert not await store.links.replace_links(GLOBAL_ONLY, one.memory.id, [WALK], [])
    assert (await store.check()).problems == []


def later_write(content: str, *links: CodeLink, given: frozenset[str] = frozenset()) -> MemoryWrite:
    now = NOW + timedelta(days=1)
    return write(content, key="k", links=links, given=given, recorded_at=now, updated_at=now)


async def test_a_changed_text_drops_mentioned_links_and_keeps_explicit_ones(
    store: Store,
) -> None:
    first = write("runs and walks", key="k", links=(RUN, WALK))
    await store.memories.put([first])
    await store.memories.put([later_write("runs and walks")])
    assert await links_by_content(store) == {"runs and walks": (RUN, WALK)}
    await store.memories.put([later_write("waits", LATER)])
    assert await links_by_content(store) == {"waits": (RUN, LATER)}
    await store.memories.put([later_write("stops", given=frozenset({"links"}))])
    assert await links_by_content(store) == {}
    versions = [one.id for one in await store.memories.history(GLOBAL_ONLY, first.memory.id)]
    assert len(versions) == 3
    pool = await search(store, replace(query("walks"), now=None))
    assert [one.memory.links for one in pool.candidates if one.memory.content == "runs and walks"] == [(RUN, WALK)]
