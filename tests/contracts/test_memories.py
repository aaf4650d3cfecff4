"""Store contract: memories, with scopes, filters and deletion."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import Memory, MemoryFilter
from scrubjay.features.memory.store import MemoryCounts
from scrubjay.features.memory.writes import Stored, Updated
from tests.contracts.samples import EVERYTHING, GLOBAL_ONLY, MODEL, NOW, query, search, vector, write

STRANGE_TEXTS = [
    "",
    " ",
    "plain",
    "naïve café Ωmega",
    "日本語のテキスト",
    "שלום עולם",
    "مرحبا بالعالم",
    "👩‍👩‍👧‍👦 family 🏳️‍🌈",
    "line one\nline two\ttabbed\r\n",
    'say "hello" OR NOT (NEAR *) col:term ^start',
    "Robert'); DROP TABLE memory;--",
    "{visible} :project_id ?1 %s",
    "zero\u200bwidth\u2028separator",
    "x" * 100_000,
]


async def contents(store: Store, visibility: Visibility = GLOBAL_ONLY, filter: MemoryFilter = EVERYTHING) -> list[str]:
    return [memory.content for memory in await store.memories.find(visibility, filter, 100)]


async def test_a_memory_is_returned_exactly_as_stored(store: Store, other: Store) -> None:
    stored = write(
        "The whole thing",
        scope=Scope.SESSION,
        project_id="prj_a",
        session_id="ses_1",
        key="whole",
        category="note",
        importance=0.1,
        confidence=1 / 3,
        speaker="Ada",
        tags=("b", "a", "b", 'quote"', "ünï"),
        metadata={"z": [1, 2.5, None, True, {"deep": "é"}], "a": {}},
        occurred_at=datetime(1867, 11, 7, 4, 5, 6, 7, tzinfo=UTC),
        updated_at=NOW + timedelta(microseconds=1),
    )
    assert await store.memories.put([stored]) == [Stored(stored.memory)]
    visibility = Visibility("prj_a", "ses_1")
    for reader in (store, other):
        assert await reader.memories.get(visibility, stored.memory.id) == stored.memory
        assert await reader.memories.find(visibility, EVERYTHING, 10) == [stored.memory]
        assert await reader.memories.scan(None, 10) == [stored.memory]


async def test_times_of_other_zones_are_returned_in_utc(store: Store) -> None:
    tokyo = datetime(2026, 1, 1, 8, 0, 0, 999_999, tzinfo=timezone(timedelta(hours=9)))
    stored = write("x", occurred_at=tokyo)
    await store.memories.put([stored])
    result = await store.memories.get(GLOBAL_ONLY, stored.memory.id)
    assert result == stored.memory
    assert str(result.occurred_at if result else None) == "2025-12-31 23:00:00.999999+00:00"


@pytest.mark.parametrize("text", STRANGE_TEXTS, ids=lambda text: repr(text)[:24])
async def test_any_text_can_be_stored_in_any_field(store: Store, text: str) -> None:
    stored = write(text, key=text, category=text, speaker=text, tags=(text,), metadata={text: text}, session_id=text)
    await store.memories.put([stored])
    assert await store.memories.get(GLOBAL_ONLY, stored.memory.id) == stored.memory
    labels = MemoryFilter(key=text, category=text, speaker=text, tags=(text,), from_session=text)
    assert await store.memories.find(GLOBAL_ONLY, labels, 10) == [stored.memory]
    revised = write(text + "!", key=text, given=frozenset({"key"}))
    (updated,) = await store.memories.put([revised])
    assert updated.memory == replace(stored.memory, content=text + "!", valid_from=NOW)
    assert [one.content for one in await store.memories.history(GLOBAL_ONLY, stored.memory.id)] == [
        text,
        text + "!",
    ]


async def test_nothing_is_found_in_an_empty_store(store: Store) -> None:
    assert await store.memories.put([]) == []
    assert await store.memories.get(GLOBAL_ONLY, "mem_none") is None
    assert await store.memories.find(GLOBAL_ONLY, EVERYTHING, 10) == []
    assert await store.memories.delete(GLOBAL_ONLY, ["mem_none"]) == []
    assert await store.memories.delete(GLOBAL_ONLY, []) == []
    assert await store.memories.scan(None, 10) == []
    assert await store.memories.counts() == MemoryCounts(0, 0, {})


async def test_the_newest_memory_is_found_first(store: Store) -> None:
    await store.memories.put([write("one"), write("two")])
    await store.memories.put([write("three")])
    assert await contents(store) == ["three", "two", "one"]
    assert [memory.content for memory in await store.memories.find(GLOBAL_ONLY, EVERYTHING, 2)] == [
        "three",
        "two",
    ]


async def test_counts_report_stored_and_indexed_memories(store: Store) -> None:
    await store.memories.put(
        [
            write("one", vector=vector(1, 0)),
            write("two", vector=vector(0, 1), scope=Scope.PROJECT, project_id="p"),
            write("three", vector=vector(1, 1), model="another"),
            write("", terms=()),
        ]
    )
    assert await store.memories.counts() == MemoryCounts(4, 4, {"another": 1, MODEL: 2})


# -- keys ------------------------------------------------------------------------------------------


async def test_a_key_used_again_updates_the_named_fields_only(store: Store) -> None:
    first = write(
        "Deploy on Fridays",
        key="deploy",
        category="rule",
        importance=0.9,
        tags=("ops",),
        metadata={"by": "Ada"},
        speaker="Ada",
        session_id="ses_1",
        occurred_at=NOW,
    )
    later = NOW + timedelta(days=1)
    second = write(
        "Never deploy on Fridays",
        key="deploy",
        importance=0.2,
        tags=("ops", "risk"),
        metadata={},
        recorded_at=later,
        updated_at=later,
        given=frozenset({"key", "tags", "metadata"}),
    )
    await store.memories.put([first])
    revised = replace(
        first.memory,
        content="Never deploy on Fridays",
        tags=("ops", "risk"),
        metadata={},
        updated_at=later,
        valid_from=later,
    )
    (updated,) = await store.memories.put([second])
    (version,) = updated.superseded
    assert updated == Updated(revised, superseded=(version,))
    assert await store.memories.find(GLOBAL_ONLY, EVERYTHING, 10) == [revised]
    assert await store.memories.counts() == MemoryCounts(2, 2, {})


async def test_a_key_repeated_in_one_call_is_one_memory(store: Store) -> None:
    first, second, third = (write(text, key="k", terms=(text,), vector=vector(1, 0)) for text in ("a1", "b2", "c3"))
    other = write("other")
    outcomes = await store.memories.put([first, second, other, third])
    assert [outcome.memory for outcome in outcomes] == [
        first.memory,
        replace(first.memory, content="b2", valid_from=NOW),
        other.memory,
        replace(first.memory, content="c3", valid_from=NOW),
    ]
    assert [type(outcome) for outcome in outcomes] == [Stored, Updated, Stored, Updated]
    assert await contents(store) == ["other", "c3"]
    pool = await search(store, query("a1", "b2", "c3"))
    assert [candidate.memory.content for candidate in pool.candidates] == ["c3"]
    assert pool.frequencies == {"a1": 0, "b2": 0, "c3": 1}
    assert pool.texts == 2


async def test_memories_without_a_key_never_replace_each_other(store: Store) -> None:
    await store.memories.put([write("same"), write("same")])
    assert await contents(store) == ["same", "same"]


SCOPES = [
    (Scope.GLOBAL, None, None),
    (Scope.PROJECT, "prj_a", None),
    (Scope.PROJECT, "prj_b", None),
    (Scope.SESSION, None, "ses_1"),
    (Scope.SESSION, "prj_a", "ses_1"),
    (Scope.SESSION, "prj_a", "ses_2"),
    (Scope.SESSION, "prj_b", "ses_1"),
]


async def test_the_same_key_in_another_scope_is_another_memory(store: Store) -> None:
    def everywhere(text: str) -> list[str]:
        return [f"{text} {scope} {project} {session}" for scope, project, session in SCOPES]

    for text in ("first", "second"):
        outcomes = await store.memories.put(
            [
                write(content, key="k", scope=scope, project_id=project, session_id=session)
                for content, (scope, project, session) in zip(everywhere(text), SCOPES, strict=True)
            ]
        )
        assert {type(outcome) for outcome in outcomes} == {Stored if text == "first" else Updated}
    current = [memory for memory in await store.memories.scan(None, 100) if memory.superseded_by is None]
    assert {memory.content for memory in current} == set(everywhere("second"))


async def test_a_key_belongs_to_its_project_and_not_to_the_session_that_wrote_it(store: Store) -> None:
    first = write("a", key="k", scope=Scope.PROJECT, project_id="p", session_id="ses_1")
    second = write("b", key="k", scope=Scope.PROJECT, project_id="p", session_id="ses_2", given=frozenset({"key"}))
    third = write(
        "c", key="k", scope=Scope.PROJECT, project_id="p", session_id="ses_3", given=frozenset({"key", "session_id"})
    )
    assert [outcome.memory for outcome in await store.memories.put([first, second, third])] == [
        first.memory,
        replace(first.memory, content="b", valid_from=NOW),
        replace(first.memory, content="c", session_id="ses_3", valid_from=NOW),
    ]


async def test_a_failed_write_stores_nothing_of_its_call(store: Store) -> None:
    good, bad = write("good", key="k"), write("bad", metadata={"unkeepable": object()})
    with pytest.raises(TypeError):
        await store.memories.put([good, bad])
    assert await contents(store) == []
    assert (await search(store, query("good"))).texts == 0


# -- scopes ----------------------------------------------------------------------------------------

VIEWS = {
    Visibility(): ["global"],
    Visibility("prj_a"): ["global", "project a"],
    Visibility("prj_b"): ["global", "project b"],
    Visibility("prj_a", "ses_1"): ["global", "project a", "session a1"],
    Visibility("prj_a", "ses_2"): ["global", "project a", "session a2"],
    Visibility("prj_b", "ses_1"): ["global", "project b", "session b1"],
    Visibility("prj_b", "ses_2"): ["global", "project b"],
    Visibility(None, "ses_1"): ["global", "session -1"],
    Visibility("prj_none", "ses_none"): ["global"],
    Visibility("", ""): ["global"],
}
NAMES = ["global", "project a", "project b", "session -1", "session a1", "session a2", "session b1"]


async def store_in_every_scope(store: Store) -> dict[str, Memory]:
    writes = [
        write(name, terms=("shared",), vector=vector(1, 0.5), scope=scope, project_id=project, session_id=session)
        for name, (scope, project, session) in zip(NAMES, SCOPES, strict=True)
    ]
    await store.memories.put(writes)
    return {stored.memory.content: stored.memory for stored in writes}


@pytest.mark.parametrize("visibility", VIEWS, ids=str)
async def test_no_query_returns_more_than_its_scope(store: Store, visibility: Visibility) -> None:
    stored = await store_in_every_scope(store)
    visible = VIEWS[visibility]
    assert sorted(await contents(store, visibility)) == visible
    for scope in Scope:
        expected = [name for name in visible if name.startswith(scope.value)]
        assert sorted(await contents(store, visibility, MemoryFilter(scope=scope))) == expected
    for text, meaning in ((("shared",), b""), ((), vector(1, 0)), (("shared",), vector(1, 0))):
        pool = await search(store, query(*text, vector=meaning, visibility=visibility))
        assert [candidate.memory.content for candidate in pool.candidates] == visible
    assert [name for name, memory in stored.items() if await store.memories.get(visibility, memory.id)] == visible
    erased = await store.memories.delete(visibility, [memory.id for memory in stored.values()])
    assert [memory.content for memory in erased] == visible
    remaining = {memory.content for memory in await store.memories.scan(None, 100)}
    assert remaining == set(NAMES) - set(visible)


async def test_the_session_of_a_memory_does_not_narrow_its_scope(store: Store) -> None:
    await store.memories.put(
        [
            write("from one", session_id="ses_1"),
            write("from one in a", scope=Scope.PROJECT, project_id="prj_a", session_id="ses_1"),
        ]
    )
    assert await contents(store, Visibility("prj_a", "ses_2")) == ["from one in a", "from one"]


# -- filters ---------------------------------------------------------------------------------------

HOUR = timedelta(hours=1)
FILTERED: dict[str, dict[str, Any]] = {
    "a": {"category": "rule", "tags": ("x", "y"), "speaker": "Ada", "session_id": "ses_1", "occurred_at": NOW - HOUR},
    "b": {"category": "rule", "tags": ("x",), "speaker": "Bob", "session_id": "ses_2", "occurred_at": NOW + HOUR},
    "c": {"category": "note", "tags": ("y", "z"), "speaker": "Ada", "key": "k"},
    "d": {"scope": Scope.PROJECT, "project_id": "prj_a", "category": "note", "key": "k"},
    "e": {"scope": Scope.PROJECT, "project_id": "prj_a", "tags": ('"x"', "Y"), "speaker": "ada"},
}
FILTERS: list[tuple[MemoryFilter, str]] = [
    (MemoryFilter(), "abcde"),
    (MemoryFilter(scope=Scope.GLOBAL), "abc"),
    (MemoryFilter(scope=Scope.PROJECT), "de"),
    (MemoryFilter(scope=Scope.SESSION), ""),
    (MemoryFilter(category="rule"), "ab"),
    (MemoryFilter(category="Rule"), ""),
    (MemoryFilter(tags=("x",)), "ab"),
    (MemoryFilter(tags=("y",)), "ac"),
    (MemoryFilter(tags=("x", "y")), "a"),
    (MemoryFilter(tags=("x", "y", "z")), ""),
    (MemoryFilter(tags=('"x"',)), "e"),
    (MemoryFilter(speaker="Ada"), "ac"),
    (MemoryFilter(key="k"), "cd"),
    (MemoryFilter(from_session="ses_2"), "b"),
    (MemoryFilter(occurred_after=NOW), "bcde"),
    (MemoryFilter(occurred_after=NOW + timedelta(microseconds=1)), "b"),
    (MemoryFilter(occurred_before=NOW), "a"),
    (MemoryFilter(occurred_before=NOW + timedelta(microseconds=1)), "acde"),
    (MemoryFilter(occurred_after=NOW - HOUR, occurred_before=NOW + HOUR), "acde"),
    (MemoryFilter(category="rule", speaker="Ada"), "a"),
    (MemoryFilter(key="k", scope=Scope.PROJECT), "d"),
    (
        MemoryFilter(
            scope=Scope.GLOBAL,
            category="rule",
            tags=("y", "x"),
            speaker="Ada",
            from_session="ses_1",
            occurred_after=NOW - HOUR,
            occurred_before=NOW,
        ),
        "a",
    ),
    (MemoryFilter(key="k", category="rule"), ""),
]


@pytest.mark.parametrize(("filter", "expected"), FILTERS, ids=lambda value: None if isinstance(value, str) else "f")
async def test_a_filter_applies_to_lists_and_to_both_kinds_of_search(
    store: Store, filter: MemoryFilter, expected: str
) -> None:
    await store.memories.put(
        [
            write(name, terms=("shared",), vector=vector(1, number), **fields)
            for number, (name, fields) in enumerate(FILTERED.items())
        ]
    )
    visibility = Visibility("prj_a")
    result = await store.memories.find(visibility, filter, 10)
    assert "".join(memory.content for memory in reversed(result)) == expected
    for terms, meaning in ((("shared",), b""), ((), vector(1, 0)), (("shared",), vector(1, 0))):
        pool = await search(store, query(*terms, vector=meaning, filter=filter, visibility=visibility))
        assert "".join(candidate.memory.content for candidate in pool.candidates) == expected


# -- deleting --------------------------------------------------------------------------------------


async def test_a_deleted_memory_is_in_no_answer(store: Store, other: Store) -> None:
    deleted = write("gone forever", vector=vector(1, 0), key="k")
    stays = write("stays forever", vector=vector(1, 0))
    await store.memories.put([deleted, stays])
    question = query("gone", "forever", vector=vector(1, 0))
    for reader in (store, other):
        assert len((await search(reader, question)).candidates) == 2
    ids = [deleted.memory.id, "mem_none", deleted.memory.id]
    assert await store.memories.delete(GLOBAL_ONLY, ids) == [deleted.memory]
    for reader in (store, other):
        pool = await search(reader, question)
        assert [candidate.memory for candidate in pool.candidates] == [stays.memory]
        assert (pool.texts, pool.frequencies) == (1, {"gone": 0, "forever": 1})
        assert await reader.memories.get(GLOBAL_ONLY, deleted.memory.id) is None
    assert await store.memories.counts() == MemoryCounts(1, 1, {MODEL: 1})
    assert await store.memories.put([write("back", key="k")]) != []
    assert await contents(store) == ["back", "stays forever"]


async def test_erased_memories_are_returned_in_the_requested_order(store: Store) -> None:
    writes = [write(name) for name in "abc"]
    await store.memories.put(writes)
    ids = [writes[index].memory.id for index in (2, 0, 1)]
    assert [memory.content for memory in await store.memories.delete(GLOBAL_ONLY, ids)] == ["c", "a", "b"]


# -- scanning --------------------------------------------------------------------------------------


async def test_a_scan_reads_every_scope_in_the_order_of_ids(store: Store) -> None:
    await store_in_every_scope(store)
    everything = await store.memories.scan(None, 100)
    assert sorted(memory.content for memory in everything) == sorted(NAMES)
    assert [memory.id for memory in everything] == sorted(memory.id for memory in everything)
    pages: list[Memory] = []
    while page := await store.memories.scan(pages[-1].id if pages else None, 2):
        pages += page
    assert pages == everything


async def test_a_scan_continues_when_its_last_id_was_deleted(store: Store) -> None:
    await store.memories.put([write(name, id=f"mem_{name}") for name in "abcd"])
    first = await store.memories.scan(None, 2)
    await store.memories.delete(GLOBAL_ONLY, ["mem_b", "mem_c"])
    assert [memory.content for memory in await store.memories.scan(first[-1].id, 2)] == ["d"]
