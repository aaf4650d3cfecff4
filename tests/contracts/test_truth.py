"""What a store must do with what was true, is true, and will be."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Conflict
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import Kind, MemoryFilter, Once, Page, Stored, Updated, receipt_of
from tests.contracts.samples import MODEL, NOBODY_IN_PARTICULAR, NOW, query, search, vector, write

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
ME = NOBODY_IN_PARTICULAR


def at(moment: datetime) -> MemoryFilter:
    return MemoryFilter(as_of=moment)


async def found(store: Store, *terms: str, filter: MemoryFilter = MemoryFilter(), now: datetime = NOW) -> list[str]:  # noqa: B008 - frozen
    asked = replace(query(*terms, vector=vector(1, 0), filter=filter), now=now)
    return sorted(candidate.memory.content for candidate in (await search(store, asked)).candidates)


async def told(store: Store, memory_id: str) -> list[tuple[str, datetime | None, datetime | None]]:
    return [(one.content, one.valid_from, one.valid_until) for one in await store.memories.history(ME, memory_id)]


async def test_what_stood_under_a_key_before_is_history_and_true_then(store: Store, other: Store) -> None:
    first = write("lives in Rome", id="mem_1", key="home", vector=vector(1, 0))
    later = NOW + 10 * DAY
    second = write("lives in Oslo", key="home", vector=vector(1, 0), recorded_at=later, updated_at=later)
    await store.memories.put([first])
    (updated,) = await store.memories.put([second])
    assert isinstance(updated, Updated)
    (version,) = updated.superseded
    for reader in (store, other):
        assert await found(reader, "lives", now=later) == ["lives in Oslo"]
        assert await found(reader, "lives", filter=at(NOW + DAY), now=later) == ["lives in Rome"]
        assert await found(reader, "lives", filter=at(NOW - DAY), now=later) == []
        assert await found(reader, "lives", filter=at(later), now=later) == ["lives in Oslo"]
        assert await told(reader, "mem_1") == [("lives in Rome", None, later), ("lives in Oslo", later, None)]
        assert await told(reader, version) == await told(reader, "mem_1")
    before = await store.memories.get(ME, version)
    assert before == replace(
        first.memory, id=version, key=None, valid_until=later, updated_at=later, superseded_by="mem_1"
    )


async def test_a_write_with_the_same_content_makes_no_version(store: Store) -> None:
    await store.memories.put([write("same", id="mem_1", key="k")])
    (updated,) = await store.memories.put([write("same", key="k", importance=0.9, given=frozenset({"importance"}))])
    assert updated.superseded == ()
    assert len(await store.memories.history(ME, "mem_1")) == 1


async def test_what_was_true_earlier_goes_into_the_history_of_its_key(store: Store) -> None:
    await store.memories.put([write("Oslo", id="mem_1", key="home", valid_from=NOW, vector=vector(1, 0))])
    late = write("Rome", key="home", valid_from=NOW - 100 * DAY, vector=vector(1, 0))
    (stored,) = await store.memories.put([late])
    assert isinstance(stored, Stored)
    assert await found(store, "Oslo", "Rome") == ["Oslo"]
    assert await found(store, "Oslo", "Rome", filter=at(NOW - DAY)) == ["Rome"]
    assert await told(store, "mem_1") == [("Rome", NOW - 100 * DAY, NOW), ("Oslo", NOW, None)]


async def test_forgetting_a_memory_erases_what_it_was_before(store: Store) -> None:
    for text in ("one", "two", "three"):
        await store.memories.put([write(text, id="mem_1", key="k", vector=vector(1, 0))])
    assert (await store.memories.counts()).memories == 3
    await store.memories.delete(ME, ["mem_1"])
    assert (await store.memories.counts()).memories == 0
    assert (await store.check()).problems == []


async def test_what_gave_way_to_a_memory_is_true_again_when_that_is_forgotten(store: Store) -> None:
    for day, editor in enumerate(("Vim", "Emacs", "Zed")):
        moment = NOW + day * DAY
        ended = NOW + 12 * HOUR if editor == "Vim" else None
        about: dict[str, Any] = {"subject": "editor", "recorded_at": moment, "updated_at": moment}
        await store.memories.put([write(f"Ada uses {editor}", id=f"mem_{day}", valid_until=ended, **about)])
    assert [(one.valid_until, one.superseded_by) for one in await store.memories.history(ME, "mem_0")] == [
        (NOW + 12 * HOUR, "mem_1"),
        (NOW + 2 * DAY, "mem_2"),
        (None, None),
    ]
    await store.memories.delete(ME, ["mem_2"])
    assert await found(store, "Ada", now=NOW + 3 * DAY) == ["Ada uses Emacs"]
    assert [(one.valid_until, one.superseded_by) for one in await store.memories.history(ME, "mem_1")] == [
        (NOW + 12 * HOUR, "mem_1"),
        (None, None),
    ]
    late = write("Ada uses Zed", id="mem_3", subject="editor", recorded_at=NOW + 4 * DAY, updated_at=NOW + 4 * DAY)
    await store.memories.put([late])
    await store.memories.delete(ME, ["mem_1"])
    (first,) = [one for one in await store.memories.history(ME, "mem_3") if one.id == "mem_0"]
    assert (first.valid_until, first.superseded_by) == (NOW + 12 * HOUR, "mem_3")


async def test_what_gave_way_to_a_memory_that_faded_away_stays_history(store: Store) -> None:
    later = NOW + DAY
    await store.memories.put([write("Ada uses Vim", id="mem_1", subject="editor")])
    await store.memories.put([write("Ada uses Zed", id="mem_2", subject="editor", recorded_at=later, updated_at=later)])
    await store.memories.erase(["mem_2"])
    assert await found(store, "Ada", now=later + DAY) == []


async def test_a_later_memory_about_a_subject_takes_the_place_of_the_earlier_one(store: Store, other: Store) -> None:
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
        assert await found(reader, "Ada", now=later) == ["Ada uses Emacs"]
        assert await found(reader, "Ada", filter=at(NOW), now=later) == ["Ada uses Vim"]
        assert [one.id for one in await reader.memories.history(ME, "mem_1")] == ["mem_1", "mem_2"]
        assert [one.id for one in await reader.memories.history(ME, "mem_2")] == ["mem_1", "mem_2"]


async def test_only_what_is_held_true_is_superseded_and_what_it_superseded_stays_as_it_was(store: Store) -> None:
    for day, editor in enumerate(("Vim", "Emacs", "Zed")):
        moment = NOW + day * DAY
        made = write(editor, id=f"mem_{day}", subject="editor", recorded_at=moment, updated_at=moment)
        (stored,) = await store.memories.put([made])
        assert stored.superseded == ((f"mem_{day - 1}",) if day else ())
    versions = await store.memories.history(ME, "mem_2")
    assert [(one.id, one.superseded_by) for one in versions] == [
        ("mem_0", "mem_1"),
        ("mem_1", "mem_2"),
        ("mem_2", None),
    ]


async def test_an_earlier_memory_about_a_subject_is_history_at_once(store: Store) -> None:
    await store.memories.put([write("Emacs", id="mem_2", subject="editor")])
    (stored,) = await store.memories.put([write("Vim", id="mem_1", subject="editor", occurred_at=NOW - DAY)])
    assert (stored.memory.superseded_by, stored.memory.valid_until) == ("mem_2", NOW)
    assert await found(store, "emacs", "vim") == ["Emacs"]


async def test_what_cannot_be_decided_is_told_as_a_conflict_on_both_sides(store: Store) -> None:
    first, second = write("Vim", id="mem_1", subject="editor"), write("Emacs", id="mem_2", subject="editor")
    outcomes = await store.memories.put([first, second])
    assert outcomes == [Stored(first.memory), Stored(second.memory, conflicts=("mem_1",))]
    pool = await search(store, query("vim", "emacs"))
    assert {one.memory.content: one.memory.conflicts for one in pool.candidates} == {
        "Vim": ("mem_2",),
        "Emacs": ("mem_1",),
    }


async def test_subjects_are_of_one_audience(store: Store) -> None:
    later = NOW + DAY
    await store.memories.put([write("global", id="mem_1", subject="s")])
    (stored,) = await store.memories.put(
        [write("mine", subject="s", scope=Scope.PROJECT, project_id="p", recorded_at=later, updated_at=later)]
    )
    assert (stored.superseded, stored.conflicts) == ((), ())


async def test_what_is_true_only_for_a_time_is_found_only_then(store: Store, other: Store) -> None:
    await store.memories.put([write("summer offer", valid_until=NOW + DAY, vector=vector(1, 0))])
    for reader in (store, other):
        assert await found(reader, "summer", now=NOW) == ["summer offer"]
        assert await found(reader, "summer", now=NOW + DAY) == []
        assert await found(reader, "summer", filter=at(NOW + DAY / 2), now=NOW + 9 * DAY) == ["summer offer"]


async def test_kinds_are_kept_and_chosen_by(store: Store, other: Store) -> None:
    await store.memories.put([write(f"a {kind}", kind=kind, vector=vector(1, 0)) for kind in Kind])
    for reader in (store, other):
        for kinds in ((Kind.TURN,), (Kind.SUMMARY, Kind.PREFERENCE)):
            wanted = MemoryFilter(kinds=kinds)
            assert await found(reader, "a", filter=wanted) == sorted(f"a {kind}" for kind in kinds)
            listed = await reader.memories.find(ME, wanted, 10)
            assert sorted(one.content for one in listed) == sorted(f"a {kind}" for kind in kinds)


async def test_pages_go_by_the_time_things_happened_and_tell_the_total(store: Store) -> None:
    writes = [
        write(f"t{day}", session_id="s", kind=Kind.TURN, occurred_at=datetime(2026, 1, day, tzinfo=UTC))
        for day in (3, 1, 4, 2)
    ]
    await store.memories.put([*writes, write("else", session_id="s"), write("other", kind=Kind.TURN)])
    turns = MemoryFilter(kinds=(Kind.TURN,), from_session="s")

    async def page(newest_first: bool, limit: int, offset: int) -> tuple[int, list[str]]:
        found = await store.memories.page(ME, turns, newest_first=newest_first, limit=limit, offset=offset)
        assert isinstance(found, Page)
        return found.total, [one.content for one in found.memories]

    assert await page(False, 10, 0) == (4, ["t1", "t2", "t3", "t4"])
    assert await page(False, 2, 1) == (4, ["t2", "t3"])
    assert await page(True, 2, 0) == (4, ["t4", "t3"])
    assert await page(True, 2, 4) == (4, [])


async def test_051_a_write_that_is_sent_twice_is_done_once(store: Store, other: Store) -> None:
    once = Once("client", "key-1", "digest")
    first = await store.memories.put_once([write("a", id="mem_1")], once, NOW)
    assert [receipt.id for receipt in first.receipts] == ["mem_1"]
    again = await other.memories.put_once([write("a", id="mem_2")], once, NOW + DAY)
    assert (again.receipts, again.outcomes) == ([receipt_of(Stored(write("a", id="mem_1").memory))], None)
    assert (await store.memories.counts()).memories == 1
    with pytest.raises(Conflict, match="something else"):
        await store.memories.put_once([write("b")], replace(once, digest="another"), NOW)
    await store.memories.put_once([write("c")], replace(once, client="another"), NOW)
    assert (await store.memories.counts()).memories == 2


async def test_a_write_that_failed_can_be_sent_again_under_its_key(store: Store) -> None:
    once = Once("client", "key-1", "digest")
    with pytest.raises(TypeError):
        await store.memories.put_once([write("bad", metadata={"unkeepable": object()})], once, NOW)
    assert (await store.memories.put_once([write("good")], once, NOW)).outcomes is not None


async def test_after_a_week_a_key_means_nothing_any_more(store: Store) -> None:
    once = Once("client", "key-1", "digest")
    await store.memories.put_once([write("a")], once, NOW)
    assert (await store.memories.put_once([write("a")], once, NOW + 8 * DAY)).outcomes is not None


async def test_a_write_can_change_a_memory_that_has_no_key(store: Store) -> None:
    await store.memories.put([write("old", id="mem_1", speaker="Ada", vector=vector(1, 0))])
    change = replace(write("new", recorded_at=NOW + DAY, updated_at=NOW + DAY), revises="mem_1")
    (updated,) = await store.memories.put([replace(change, given=frozenset({"content"}))])
    assert (updated.memory.id, updated.memory.content, updated.memory.speaker) == ("mem_1", "new", "Ada")
    assert [one.content for one in await store.memories.history(ME, "mem_1")] == ["old", "new"]
    with pytest.raises(Conflict, match="gone"):
        await store.memories.put([replace(change, revises="mem_none")])
    elsewhere = write("new", scope=Scope.PROJECT, project_id="p")
    with pytest.raises(Conflict, match="gone"):
        await store.memories.put([replace(elsewhere, revises="mem_1")])


async def test_protection_is_for_those_who_may_see_a_memory(store: Store) -> None:
    await store.memories.put([write("mine", id="mem_1", scope=Scope.PROJECT, project_id="p"), write("all", id="mem_2")])
    assert await store.memories.protect(ME, ["mem_1"], protected=True) == []
    (kept,) = await store.memories.protect(Visibility("p"), ["mem_1"], protected=True)
    assert kept.protected
    assert await store.memories.erase(["mem_1", "mem_2"]) == 1
    await store.memories.protect(Visibility("p"), ["mem_1"], protected=False)
    assert await store.memories.erase(["mem_1"]) == 1


async def test_what_is_erased_is_gone_whoever_could_see_it(store: Store) -> None:
    await store.memories.put([write("a", id="mem_1", scope=Scope.SESSION, project_id="p", session_id="s"), write("b")])
    assert await store.memories.erase(["mem_1", "mem_none"]) == 1
    assert [one.content for one in await store.memories.scan(None, 10)] == ["b"]
    assert (await store.check()).problems == []


async def test_the_whole_record_comes_back(store: Store) -> None:
    kept = write(
        "all of it",
        kind=Kind.DECISION,
        details={"deep": [1, {"a": None}]},
        provenance={"tool": "remember", "from": ["mem_1"]},
        subject="it",
        valid_from=NOW - DAY,
        valid_until=NOW + DAY,
        protected=True,
        model=MODEL,
    )
    await store.memories.put([kept])
    assert await store.memories.get(ME, kept.memory.id) == kept.memory


async def test_what_was_true_only_until_a_moment_is_not_true_longer_because_something_else_is(store: Store) -> None:
    later = NOW + 10 * DAY
    for key, subject in (("home", None), (None, "home")):
        named: dict[str, Any] = {"key": key, "subject": subject, "vector": vector(1, 0)}
        ended = write(f"lived in Rome {key}", valid_until=NOW + DAY, **named)
        await store.memories.put([ended])
        await store.memories.put([write(f"lives in Oslo {key}", recorded_at=later, updated_at=later, **named)])
    assert await found(store, "lived", filter=at(NOW + HOUR), now=later) == ["lived in Rome None", "lived in Rome home"]
    assert await found(store, "lived", filter=at(NOW + 5 * DAY), now=later) == []
