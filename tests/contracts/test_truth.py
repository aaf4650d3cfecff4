"""Store contract: past, present and future truth of memories."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Conflict
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import MemoryFilter, MemoryKind, MemoryPage
from scrubjay.features.memory.writes import Idempotency, Stored, Updated, make_receipt
from tests.contracts.samples import EVERYTHING, GLOBAL_ONLY, MODEL, NOW, query, search, vector, write

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
NO_SCOPE = GLOBAL_ONLY


def at(moment: datetime) -> MemoryFilter:
    return MemoryFilter(as_of=moment)


async def search_contents(
    store: Store, *terms: str, filter: MemoryFilter = EVERYTHING, now: datetime = NOW
) -> list[str]:
    question = replace(query(*terms, vector=vector(1, 0), filter=filter), now=now)
    return sorted(candidate.memory.content for candidate in (await search(store, question)).candidates)


async def versions_of(store: Store, memory_id: str) -> list[tuple[str, datetime | None, datetime | None]]:
    return [(one.content, one.valid_from, one.valid_until) for one in await store.memories.history(NO_SCOPE, memory_id)]


async def test_the_previous_value_of_a_key_becomes_history(store: Store, other: Store) -> None:
    first = write("lives in Rome", id="mem_1", key="home", vector=vector(1, 0))
    later = NOW + 10 * DAY
    second = write("lives in Oslo", key="home", vector=vector(1, 0), recorded_at=later, updated_at=later)
    await store.memories.put([first])
    (updated,) = await store.memories.put([second])
    assert isinstance(updated, Updated)
    (version,) = updated.superseded
    for reader in (store, other):
        assert await search_contents(reader, "lives", now=later) == ["lives in Oslo"]
        assert await search_contents(reader, "lives", filter=at(NOW + DAY), now=later) == ["lives in Rome"]
        assert await search_contents(reader, "lives", filter=at(NOW - DAY), now=later) == []
        assert await search_contents(reader, "lives", filter=at(later), now=later) == ["lives in Oslo"]
        assert await versions_of(reader, "mem_1") == [("lives in Rome", None, later), ("lives in Oslo", later, None)]
        assert await versions_of(reader, version) == await versions_of(reader, "mem_1")
    before = await store.memories.get(NO_SCOPE, version)
    assert before == replace(
        first.memory, id=version, key=None, valid_until=later, updated_at=later, superseded_by="mem_1"
    )


async def test_a_write_with_the_same_content_creates_no_version(store: Store) -> None:
    await store.memories.put([write("same", id="mem_1", key="k")])
    (updated,) = await store.memories.put([write("same", key="k", importance=0.9, given=frozenset({"importance"}))])
    assert updated.superseded == ()
    assert len(await store.memories.history(NO_SCOPE, "mem_1")) == 1


async def test_an_earlier_truth_is_added_to_the_history_of_its_key(store: Store) -> None:
    await store.memories.put([write("Oslo", id="mem_1", key="home", valid_from=NOW, vector=vector(1, 0))])
    late = write("Rome", key="home", valid_from=NOW - 100 * DAY, vector=vector(1, 0))
    (stored,) = await store.memories.put([late])
    assert isinstance(stored, Stored)
    assert await search_contents(store, "Oslo", "Rome") == ["Oslo"]
    assert await search_contents(store, "Oslo", "Rome", filter=at(NOW - DAY)) == ["Rome"]
    assert await versions_of(store, "mem_1") == [("Rome", NOW - 100 * DAY, NOW), ("Oslo", NOW, None)]


async def test_forgetting_a_memory_erases_its_earlier_versions(store: Store) -> None:
    for text in ("one", "two", "three"):
        await store.memories.put([write(text, id="mem_1", key="k", vector=vector(1, 0))])
    assert (await store.memories.counts()).memories == 3
    await store.memories.delete(NO_SCOPE, ["mem_1"])
    assert (await store.memories.counts()).memories == 0
    assert (await store.check()).problems == []


async def test_forgetting_a_memory_restores_the_one_it_superseded(store: Store) -> None:
    for day, editor in enumerate(("Vim", "Emacs", "Zed")):
        moment = NOW + day * DAY
        ended = NOW + 12 * HOUR if editor == "Vim" else None
        about: dict[str, Any] = {"subject": "editor", "recorded_at": moment, "updated_at": moment}
        await store.memories.put([write(f"Ada uses {editor}", id=f"mem_{day}", valid_until=ended, **about)])
    assert [(one.valid_until, one.superseded_by) for one in await store.memories.history(NO_SCOPE, "mem_0")] == [
        (NOW + 12 * HOUR, "mem_1"),
        (NOW + 2 * DAY, "mem_2"),
        (None, None),
    ]
    await store.memories.delete(NO_SCOPE, ["mem_2"])
    assert await search_contents(store, "Ada", now=NOW + 3 * DAY) == ["Ada uses Emacs"]
    assert [(one.valid_until, one.superseded_by) for one in await store.memories.history(NO_SCOPE, "mem_1")] == [
        (NOW + 12 * HOUR, "mem_1"),
        (None, None),
    ]
    late = write("Ada uses Zed", id="mem_3", subject="editor", recorded_at=NOW + 4 * DAY, updated_at=NOW + 4 * DAY)
    await store.memories.put([late])
    await store.memories.delete(NO_SCOPE, ["mem_1"])
    (first,) = [one for one in await store.memories.history(NO_SCOPE, "mem_3") if one.id == "mem_0"]
    assert (first.valid_until, first.superseded_by) == (NOW + 12 * HOUR, "mem_3")


async def test_evicting_a_memory_does_not_restore_the_one_it_superseded(store: Store) -> None:
    later = NOW + DAY
    await store.memories.put([write("Ada uses Vim", id="mem_1", subject="editor")])
    await store.memories.put([write("Ada uses Zed", id="mem_2", subject="editor", recorded_at=later, updated_at=later)])
    await store.memories.erase(["mem_2"])
    assert await search_contents(store, "Ada", now=later + DAY) == []


async def test_a_later_memory_about_a_subject_supersedes_the_earlier_one(store: Store, other: Store) -> None:
    old = write("Ada uses Vim", id="mem_1", subject="ada's editor", vector=vector(1, 0))
    later = NOW + DAY
    new = write(
        "Ada uses Emacs",
        id="mem_2",
        subject="ada's editor",
        vector=vector(1, 0),
        recorded_at=later,
        updated_at=later,
    )
    await store.memories.put([old])
    assert await store.memories.put([new]) == [Stored(new.memory, superseded=("mem_1",))]
    for reader in (store, other):
        assert await search_contents(reader, "Ada", now=later) == ["Ada uses Emacs"]
        assert await search_contents(reader, "Ada", filter=at(NOW), now=later) == ["Ada uses Vim"]
        assert [one.id for one in await reader.memories.history(NO_SCOPE, "mem_1")] == ["mem_1", "mem_2"]
        assert [one.id for one in await reader.memories.history(NO_SCOPE, "mem_2")] == ["mem_1", "mem_2"]


async def test_only_current_memories_are_superseded(store: Store) -> None:
    for day, editor in enumerate(("Vim", "Emacs", "Zed")):
        moment = NOW + day * DAY
        written = write(editor, id=f"mem_{day}", subject="editor", recorded_at=moment, updated_at=moment)
        (stored,) = await store.memories.put([written])
        assert stored.superseded == ((f"mem_{day - 1}",) if day else ())
    versions = await store.memories.history(NO_SCOPE, "mem_2")
    assert [(one.id, one.superseded_by) for one in versions] == [
        ("mem_0", "mem_1"),
        ("mem_1", "mem_2"),
        ("mem_2", None),
    ]


async def test_an_earlier_memory_about_a_subject_is_stored_as_history(store: Store) -> None:
    await store.memories.put([write("Emacs", id="mem_2", subject="editor")])
    (stored,) = await store.memories.put([write("Vim", id="mem_1", subject="editor", occurred_at=NOW - DAY)])
    assert (stored.memory.superseded_by, stored.memory.valid_until) == ("mem_2", NOW)
    assert await search_contents(store, "emacs", "vim") == ["Emacs"]


async def test_undecidable_memories_are_reported_as_conflicts_on_both_sides(store: Store) -> None:
    first, second = write("Vim", id="mem_1", subject="editor"), write("Emacs", id="mem_2", subject="editor")
    outcomes = await store.memories.put([first, second])
    assert outcomes == [Stored(first.memory), Stored(second.memory, conflicts=("mem_1",))]
    pool = await search(store, query("vim", "emacs"))
    assert {one.memory.content: one.memory.conflicts for one in pool.candidates} == {
        "Vim": ("mem_2",),
        "Emacs": ("mem_1",),
    }


async def test_subjects_are_compared_within_one_visibility(store: Store) -> None:
    later = NOW + DAY
    await store.memories.put([write("global", id="mem_1", subject="s")])
    (stored,) = await store.memories.put(
        [write("mine", subject="s", scope=Scope.PROJECT, project_id="p", recorded_at=later, updated_at=later)]
    )
    assert (stored.superseded, stored.conflicts) == ((), ())


async def test_a_memory_valid_for_a_period_is_found_only_then(store: Store, other: Store) -> None:
    await store.memories.put([write("summer offer", valid_until=NOW + DAY, vector=vector(1, 0))])
    for reader in (store, other):
        assert await search_contents(reader, "summer", now=NOW) == ["summer offer"]
        assert await search_contents(reader, "summer", now=NOW + DAY) == []
        assert await search_contents(reader, "summer", filter=at(NOW + DAY / 2), now=NOW + 9 * DAY) == ["summer offer"]


async def test_memories_are_stored_and_filtered_by_kind(store: Store, other: Store) -> None:
    await store.memories.put([write(f"a {kind}", kind=kind, vector=vector(1, 0)) for kind in MemoryKind])
    for reader in (store, other):
        for kinds in ((MemoryKind.TURN,), (MemoryKind.SUMMARY, MemoryKind.PREFERENCE)):
            by_kind = MemoryFilter(kinds=kinds)
            assert await search_contents(reader, "a", filter=by_kind) == sorted(f"a {kind}" for kind in kinds)
            listed = await reader.memories.find(NO_SCOPE, by_kind, 10)
            assert sorted(one.content for one in listed) == sorted(f"a {kind}" for kind in kinds)


async def test_pages_are_ordered_by_time_and_return_the_total(store: Store) -> None:
    writes = [
        write(f"t{day}", session_id="s", kind=MemoryKind.TURN, occurred_at=datetime(2026, 1, day, tzinfo=UTC))
        for day in (3, 1, 4, 2)
    ]
    await store.memories.put([*writes, write("else", session_id="s"), write("other", kind=MemoryKind.TURN)])
    turns = MemoryFilter(kinds=(MemoryKind.TURN,), from_session="s")

    async def page(newest_first: bool, limit: int, offset: int) -> tuple[int, list[str]]:
        search_contents = await store.memories.page(
            NO_SCOPE, turns, newest_first=newest_first, limit=limit, offset=offset
        )
        assert isinstance(search_contents, MemoryPage)
        return search_contents.total, [one.content for one in search_contents.memories]

    assert await page(False, 10, 0) == (4, ["t1", "t2", "t3", "t4"])
    assert await page(False, 2, 1) == (4, ["t2", "t3"])
    assert await page(True, 2, 0) == (4, ["t4", "t3"])
    assert await page(True, 2, 4) == (4, [])


async def test_051_a_write_sent_twice_is_done_once(store: Store, other: Store) -> None:
    once = Idempotency("client", "key-1", "digest")
    first = await store.memories.put_once([write("a", id="mem_1")], once, NOW)
    assert [receipt.id for receipt in first.receipts] == ["mem_1"]
    again = await other.memories.put_once([write("a", id="mem_2")], once, NOW + DAY)
    assert (again.receipts, again.outcomes) == ([make_receipt(Stored(write("a", id="mem_1").memory))], None)
    assert (await store.memories.counts()).memories == 1
    with pytest.raises(Conflict, match="different write"):
        await store.memories.put_once([write("b")], replace(once, digest="another"), NOW)
    await store.memories.put_once([write("c")], replace(once, client="another"), NOW)
    assert (await store.memories.counts()).memories == 2


async def test_a_failed_write_can_be_repeated_with_its_key(store: Store) -> None:
    once = Idempotency("client", "key-1", "digest")
    with pytest.raises(TypeError):
        await store.memories.put_once([write("bad", metadata={"unkeepable": object()})], once, NOW)
    assert (await store.memories.put_once([write("good")], once, NOW)).outcomes is not None


async def test_an_idempotency_key_expires_after_a_week(store: Store) -> None:
    once = Idempotency("client", "key-1", "digest")
    await store.memories.put_once([write("a")], once, NOW)
    assert (await store.memories.put_once([write("a")], once, NOW + 8 * DAY)).outcomes is not None


async def test_a_write_can_change_a_memory_that_has_no_key(store: Store) -> None:
    await store.memories.put([write("old", id="mem_1", speaker="Ada", vector=vector(1, 0))])
    change = replace(write("new", recorded_at=NOW + DAY, updated_at=NOW + DAY), revises="mem_1")
    (updated,) = await store.memories.put([replace(change, given=frozenset({"content"}))])
    assert (updated.memory.id, updated.memory.content, updated.memory.speaker) == ("mem_1", "new", "Ada")
    assert [one.content for one in await store.memories.history(NO_SCOPE, "mem_1")] == ["old", "new"]
    with pytest.raises(Conflict, match="erased or superseded"):
        await store.memories.put([replace(change, revises="mem_none")])
    elsewhere = write("new", scope=Scope.PROJECT, project_id="p")
    with pytest.raises(Conflict, match="erased or superseded"):
        await store.memories.put([replace(elsewhere, revises="mem_1")])


async def test_only_callers_who_see_a_memory_can_protect_it(store: Store) -> None:
    await store.memories.put([write("mine", id="mem_1", scope=Scope.PROJECT, project_id="p"), write("all", id="mem_2")])
    assert await store.memories.protect(NO_SCOPE, ["mem_1"], protected=True) == []
    (protected,) = await store.memories.protect(Visibility("p"), ["mem_1"], protected=True)
    assert protected.protected
    assert await store.memories.erase(["mem_1", "mem_2"]) == 1
    await store.memories.protect(Visibility("p"), ["mem_1"], protected=False)
    assert await store.memories.erase(["mem_1"]) == 1


async def test_an_erased_memory_is_gone_for_every_caller(store: Store) -> None:
    await store.memories.put([write("a", id="mem_1", scope=Scope.SESSION, project_id="p", session_id="s"), write("b")])
    assert await store.memories.erase(["mem_1", "mem_none"]) == 1
    assert [one.content for one in await store.memories.scan(None, 10)] == ["b"]
    assert (await store.check()).problems == []


async def test_the_complete_record_is_returned(store: Store) -> None:
    protected = write(
        "all of it",
        kind=MemoryKind.DECISION,
        details={"deep": [1, {"a": None}]},
        provenance={"tool": "remember", "from": ["mem_1"]},
        subject="it",
        valid_from=NOW - DAY,
        valid_until=NOW + DAY,
        protected=True,
        model=MODEL,
    )
    await store.memories.put([protected])
    assert await store.memories.get(NO_SCOPE, protected.memory.id) == protected.memory


async def test_the_end_of_a_period_is_not_extended_by_a_later_memory(store: Store) -> None:
    later = NOW + 10 * DAY
    for key, subject in (("home", None), (None, "home")):
        named: dict[str, Any] = {"key": key, "subject": subject, "vector": vector(1, 0)}
        ended = write(f"lived in Rome {key}", valid_until=NOW + DAY, **named)
        await store.memories.put([ended])
        await store.memories.put([write(f"lives in Oslo {key}", recorded_at=later, updated_at=later, **named)])
    assert await search_contents(store, "lived", filter=at(NOW + HOUR), now=later) == [
        "lived in Rome None",
        "lived in Rome home",
    ]
    assert await search_contents(store, "lived", filter=at(NOW + 5 * DAY), now=later) == []
