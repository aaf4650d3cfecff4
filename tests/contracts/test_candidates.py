"""Store contract: candidates of a search."""

import math
import random
from collections.abc import Sequence
from dataclasses import fields as fields_of
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from scrubjay.app.store import Store
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.candidates import CandidatePool, CandidateQuery
from scrubjay.features.memory.models import MemoryFilter
from scrubjay.features.memory.writes import MemoryWrite
from scrubjay.search_index import token_segments
from scrubjay.search_index.neighbourhood import REACH
from tests.contracts.conftest import Backend
from tests.contracts.samples import (
    GLOBAL_ONLY,
    NOW,
    CandidateMemory,
    FoundPool,
    candidate_pool,
    query,
    search,
    vector,
    write,
)

STRANGE_TERMS = [
    "word",
    "snake_case_name",
    "a.b.c",
    "c++",
    "it's",
    'quo"te',
    '""',
    "AND",
    "or",
    "not",
    "near(a b)",
    "*",
    "a*",
    "^a",
    "col:umn",
    "-a",
    "(",
    "\\",
    "';--",
    "日本",
    "語",
    "été",
    "שלום",
    "مرحبا",
    "👩‍👩‍👧‍👦",
    "🏳️‍🌈",
    "123",
    "3.14",
    "0",
    "with space",
    "tab\tand\nline",
    "\x01",
    "nul\x00nul",
    "\u200b",
    "\u00a0",
    "w" * 5000,
]


def names(pool: FoundPool) -> list[str]:
    return [candidate.memory.content for candidate in pool.candidates]


@pytest.mark.parametrize("term", STRANGE_TERMS, ids=lambda term: ascii(term)[:24])
async def test_a_term_finds_exactly_the_texts_that_contain_it(store: Store, term: str) -> None:
    neighbours = tuple(other for other in STRANGE_TERMS if other != term)
    having, lacking = write("having", terms=("before", term, "after")), write("lacking", terms=neighbours)
    await store.memories.put([having, lacking])
    pool = await search(store, query(term))
    assert names(pool) == ["having"]
    assert (pool.texts, pool.frequencies) == (2, {term: 1})
    assert pool.candidates[0].bm25 > 0


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(term=st.text(st.characters(exclude_categories=["Cs", "Lu", "Lt"]), min_size=1, max_size=12).map(str.lower))
async def test_any_possible_term_is_found_as_a_whole(store: Store, term: str) -> None:
    stored = write("kept", terms=("first", term, "last"))
    longer = write("longer", terms=(term + "x", "y" + term))
    await store.memories.put([stored, longer])
    pool = await search(store, query(term))
    assert (names(pool), pool.frequencies[term]) == (["kept"], 1)
    await store.memories.delete(GLOBAL_ONLY, [stored.memory.id, longer.memory.id])


async def test_an_empty_question_finds_nothing_and_returns_the_number_of_texts(store: Store) -> None:
    await store.memories.put([write("one", vector=vector(1, 0)), write("two")])
    assert await search(store, query()) == FoundPool(candidates=(), texts=2, frequencies={})
    assert await search(store, query("unknown", "")) == FoundPool(
        candidates=(), texts=2, frequencies={"unknown": 0, "": 0}
    )


async def test_a_question_with_thousands_of_terms_is_answered(store: Store) -> None:
    await store.memories.put([write("needle")])
    terms = [f"straw{number}" for number in range(3000)]
    pool = await search(store, query(*terms, "needle"))
    assert names(pool) == ["needle"]
    assert pool.frequencies == dict.fromkeys(terms, 0) | {"needle": 1}


async def test_more_and_rarer_matches_score_higher(store: Store) -> None:
    await store.memories.put(
        [
            write("common only", terms=("common", "a", "b")),
            write("rare only", terms=("rare", "a", "b")),
            write("both", terms=("common", "rare", "b")),
            *(write(f"filler {number}", terms=("common", "c", "d")) for number in range(20)),
            *(write(f"other {number}", terms=("e", "c", "d")) for number in range(30)),
        ]
    )
    pool = await search(store, query("common", "rare", limit=3))
    assert names(pool)[:2] == ["both", "rare only"]
    assert pool.frequencies == {"common": 22, "rare": 2}
    scores = [candidate.bm25 for candidate in pool.candidates]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


async def test_the_nearest_vectors_are_returned_with_their_cosine(store: Store) -> None:
    await store.memories.put(
        [
            write("north", vector=vector(0, 2)),
            write("east", vector=vector(1, 0)),
            write("north-east", vector=vector(0.5, 0.5)),
            write("south", vector=vector(0, -1)),
            write("nowhere", vector=vector(0, 0)),
            write("nothing"),
        ]
    )
    pool = await search(store, query(vector=vector(0, 1)))
    assert names(pool) == ["north", "north-east", "east", "south"]
    expected = [1, math.sqrt(0.5), 0, -1]
    assert [candidate.cosine for candidate in pool.candidates] == pytest.approx(expected, abs=1e-4)
    assert [candidate.bm25 for candidate in pool.candidates] == [0, 0, 0, 0]
    assert names(await search(store, query(vector=vector(0, 1), limit=2))) == ["north", "north-east"]


async def test_every_candidate_has_both_scores(store: Store) -> None:
    await store.memories.put(
        [
            write("text only", terms=("rare",) * 3, vector=vector(-1, 0)),
            write("meaning only", terms=("rare", "and", "some", "more", "words"), vector=vector(1, 0)),
            *(write(f"filler {number}", terms=("x", "y"), vector=vector(0, 1)) for number in range(5)),
        ]
    )
    pool = await search(store, query("rare", vector=vector(1, 0), limit=1))
    assert names(pool) == ["text only", "meaning only"]
    first, second = pool.candidates
    assert first.bm25 > second.bm25 > 0
    assert (first.cosine, second.cosine) == (-1, 1)


async def test_with_very_many_matches_the_nearest_vectors_still_have_their_keyword_score(store: Store) -> None:
    await store.memories.put(
        [write(f"many {number}", terms=("common",), vector=vector(0, 1)) for number in range(1100)]
        + [write("near", terms=("common", *"abcdefgh"), vector=vector(1, 0))]
    )
    pool = await search(store, query("common", vector=vector(1, 0), limit=2))
    assert names(pool) == ["many 0", "many 1", "near"]
    alone = await search(store, query("common", limit=2000))
    assert pool.candidates[2].bm25 == {c.memory.content: c.bm25 for c in alone.candidates}["near"] > 0


@pytest.mark.parametrize(
    ("question", "comparable"),
    [
        (query("word", vector=vector(1, 0)), True),
        (query("word"), False),
        (query("word", vector=vector(1, 0), model="another"), False),
        (query("word", vector=vector(1, 0, 0)), False),
        (query("word", vector=vector(0, 0)), False),
        (query("word", vector=vector(math.nan, 1)), False),
        (query("word", vector=vector(math.inf, 1)), False),
    ],
)
async def test_a_vector_that_cannot_be_compared_has_no_cosine(
    store: Store, question: CandidateQuery, comparable: bool
) -> None:
    await store.memories.put([write("word", vector=vector(1, 0)), write("no word", terms=(), vector=vector(1, 0))])
    pool = await search(store, question)
    assert names(pool) == (["word", "no word"] if comparable else ["word"])
    assert [candidate.cosine for candidate in pool.candidates] == ([1, 1] if comparable else [None])


async def test_a_stored_zero_vector_has_no_cosine(store: Store) -> None:
    await store.memories.put(
        [
            write("none", terms=("word",)),
            write("zero", terms=("word",), vector=vector(0, 0)),
            write("infinite", terms=("word",), vector=vector(math.inf, 0)),
            write("other size", terms=("word",), vector=vector(1, 0, 0)),
            write("other model", terms=("word",), vector=vector(1, 0), model="another"),
        ]
    )
    pool = await search(store, query("word", vector=vector(1, 0)))
    assert [candidate.cosine for candidate in pool.candidates] == [None] * 5
    assert names(await search(store, query(vector=vector(1, 0)))) == []


async def test_ties_are_in_storage_order(store: Store) -> None:
    means = vector(*(math.sin(place * place) for place in range(256)))
    near = vector(*(math.sin(place * place) + math.cos(place) for place in range(256)))
    same = [write(f"same {number:03}", terms=("word",), vector=means) for number in range(151)]
    await store.memories.put(same[:70])
    await store.memories.put(same[70:])
    expected = [f"same {number:03}" for number in range(40)]
    for terms, meaning in ((("word",), b""), ((), near), (("word",), near)):
        assert names(await search(store, query(*terms, vector=meaning, limit=40))) == expected


async def test_a_revised_memory_is_found_only_by_its_new_words_and_embedding(store: Store, other: Store) -> None:
    await store.memories.put([write("old words", key="k", vector=vector(1, 0)), write("else", vector=vector(0, 1))])
    old, new = query("old", vector=vector(1, 0)), query("new", vector=vector(-1, 0))
    for reader in (store, other):
        assert (await search(reader, old)).candidates[0].cosine == 1
    await other.memories.put([write("new words", key="k", vector=vector(-1, 0))])
    for reader in (store, other):
        by_old, by_new = await search(reader, old), await search(reader, new)
        assert [(c.memory.content, c.bm25, c.cosine) for c in by_old.candidates] == [
            ("else", 0, 0),
            ("new words", 0, -1),
        ]
        assert [(c.memory.content, c.cosine) for c in by_new.candidates] == [("new words", 1), ("else", 0)]
        assert (by_old.frequencies, by_new.frequencies) == ({"old": 0}, {"new": 1})


async def test_a_revision_can_remove_the_embedding(store: Store) -> None:
    await store.memories.put([write("meaningful", key="k", vector=vector(1, 0))])
    assert names(await search(store, query(vector=vector(1, 0)))) == ["meaningful"]
    await store.memories.put([write("!!!", key="k")])
    assert names(await search(store, query(vector=vector(1, 0)))) == []
    assert [c.cosine for c in (await search(store, query("!!!", vector=vector(1, 0)))).candidates] == [None]


async def test_a_write_without_content_leaves_derived_data_unchanged(store: Store) -> None:
    first = write("words", key="k", vector=vector(1, 0))
    await store.memories.put([first])
    relabelled = write("ignored", key="k", category="new", terms=())
    await store.memories.put([replace(relabelled, given=frozenset({"category"}))])
    (found,) = (await search(store, query("words", vector=vector(1, 0)))).candidates
    assert (found.memory.content, found.memory.category, found.cosine) == ("words", "new", 1)


async def test_writes_of_one_process_are_found_by_another_at_once(store: Store, other: Store) -> None:
    for number in range(20):
        stored = write(f"note {number}", terms=(f"note{number}",), vector=vector(number, 20 - number))
        writer, reader = (store, other) if number % 2 else (other, store)
        await writer.memories.put([stored])
        pool = await search(reader, query(f"note{number}", vector=stored.derived.vector, limit=1))
        assert pool.candidates[0].memory == stored.memory
        assert pool.candidates[0].cosine == pytest.approx(1)
        assert pool.texts == number + 1


async def test_a_candidate_contains_the_whole_memory(store: Store) -> None:
    stored = write("whole", vector=vector(1, 0), tags=("a",), metadata={"b": 1}, category="c")
    await store.memories.put([stored])
    pool = await search(store, query("whole", vector=vector(1, 0)))
    (found,) = pool.candidates
    assert found == CandidateMemory(stored.memory, found.bm25, 1.0)


# -- contents of a pool other than terms and vectors -----------------------------------------------------

MINE = Visibility("prj_a", "s")
ALONE = -1
UNTIL_SORTED = [token_segments.MAX_UNSORTED_TOKENS, 40]


def turn(
    number: int, minute: float | None, *, passages: tuple[tuple[str, ...], ...] = (), **fields: Any
) -> MemoryWrite:
    """Return a turn in a session of a project, whose number can be read from its traits."""
    defaults: dict[str, Any] = {"scope": Scope.PROJECT, "project_id": "prj_a", "session_id": "s"}
    defaults["occurred_at"] = None if minute is None else NOW + timedelta(minutes=minute)
    memory = write(f"turn {number}", terms=(f"word{number}",), traits=number, **(defaults | fields))
    return replace(memory, derived=replace(memory.derived, passages=passages)) if passages else memory


def candidate_numbers(pool: CandidatePool) -> list[int]:
    """Return the numbers of the candidates."""
    return pool.text_traits[pool.neighbours[:, REACH]].tolist()


def neighbours_by_candidate(pool: CandidatePool) -> dict[int, list[int]]:
    """Return the numbers of the neighbours of each candidate, with `ALONE` for empty places."""
    numbers = np.where(pool.neighbours == -1, ALONE, pool.text_traits[pool.neighbours]).tolist()
    return dict(zip(candidate_numbers(pool), numbers, strict=True))


def expected_neighbours(*in_order: int) -> dict[int, list[int]]:
    """Return the neighbours of each number in this order of turns."""
    padded = [*[ALONE] * REACH, *in_order, *[ALONE] * REACH]
    return {number: padded[place : place + 2 * REACH + 1] for place, number in enumerate(in_order)}


def comparable_contents(pool: CandidatePool) -> dict[str, NDArray[Any]]:
    """Return the contents of a pool, independent of the order of texts and the numbering of speakers and sessions."""
    nowhere = pool.neighbours == -1
    texts = {
        "occurrences": np.where(nowhere[:, :, np.newaxis], -1, pool.text_occurrences[pool.neighbours]),
        "bm25": np.where(nowhere, -1, pool.text_bm25[pool.neighbours]),
        "traits": np.where(nowhere, -1, pool.text_traits[pool.neighbours]),
        "speakers": np.where(nowhere, "", np.array([*pool.speaker_names, ""])[pool.text_speakers[pool.neighbours]]),
    }
    sessions = pool.sessions[:, np.newaxis]
    values = {
        "speakers by name": np.array(sorted(pool.speaker_names)),
        "same session": (sessions == sessions.T) & (sessions >= 0),
        "terms": np.array(pool.terms),
        "text_count": np.array(pool.text_count),
        "frequencies": np.array(pool.frequencies),
        "damaged": np.array(pool.damaged),
    }
    left_out = {
        "neighbours",
        "text_occurrences",
        "text_bm25",
        "text_traits",
        "text_speakers",
        "sessions",
        "speaker_names",
    }
    rest = {field.name: getattr(pool, field.name) for field in fields_of(CandidatePool)}
    return texts | values | {name: value for name, value in rest.items() if name not in left_out | values.keys()}


async def pools_of(store: Store) -> list[dict[str, NDArray[Any]]]:
    """Return the pools of a few questions of each kind."""
    return [comparable_contents(await candidate_pool(store, question)) for question in QUESTIONS]


def assert_same(pools_of: Sequence[dict[str, NDArray[Any]]], expected: Sequence[dict[str, NDArray[Any]]]) -> None:
    for place, (mine, theirs) in enumerate(zip(pools_of, expected, strict=True)):
        assert mine.keys() == theirs.keys()
        for name, values in mine.items():
            message = f"{name} of question {place}"
            if values.dtype == np.float32:  # sums depend on the order of their terms
                assert_allclose(values, theirs[name], rtol=1e-4, atol=1e-5, err_msg=message)
            else:
                assert_array_equal(values, theirs[name], err_msg=message)


async def test_neighbours_of_a_candidate_are_the_turns_before_and_after_it(store: Store) -> None:
    minutes = [7, 1, 4, 11, 2, 3, 0, 9, 5, 12, 8, 6, 10]
    await store.memories.put([turn(number, minute) for number, minute in enumerate(minutes[:6])])
    first = [number for _, number in sorted((minute, number) for number, minute in enumerate(minutes[:6]))]
    every_word = [f"word{number}" for number in range(13)]
    assert neighbours_by_candidate(
        await candidate_pool(store, query(*every_word, visibility=MINE))
    ) == expected_neighbours(*first)
    await store.memories.put([turn(number, minute) for number, minute in enumerate(minutes) if number >= 6])
    in_order = [minutes.index(minute) for minute in range(13)]
    pool = await candidate_pool(store, query(*every_word, visibility=MINE, limit=20))
    assert neighbours_by_candidate(pool) == expected_neighbours(*in_order)
    assert len(pool.text_bm25) == 13


async def test_adjacent_turns_are_candidates_and_five_on_each_side_are_returned(store: Store) -> None:
    await store.memories.put([turn(number, number) for number in range(20)])
    pool = await candidate_pool(store, query("word9", visibility=MINE))
    assert neighbours_by_candidate(pool) == {
        number: expected_neighbours(*range(20))[number] for number in (7, 8, 9, 10, 11)
    }
    at_the_end = await candidate_pool(store, query("word19", visibility=MINE))
    assert neighbours_by_candidate(at_the_end) == {
        number: expected_neighbours(*range(20))[number] for number in (17, 18, 19)
    }


async def test_neighbours_are_ordered_by_time_and_then_by_storage_order(
    store: Store,
) -> None:
    await store.memories.put([turn(1, 0), turn(2, None), turn(3, 0), turn(4, 1), turn(5, -1)])
    pool = await candidate_pool(store, query("word2", visibility=MINE))
    assert neighbours_by_candidate(pool) == expected_neighbours(5, 1, 2, 3, 4)


async def test_neighbours_are_visible_memories_of_the_same_session(store: Store) -> None:
    groups: list[dict[str, Any]] = [
        {},
        {"session_id": "t"},
        {"scope": Scope.SESSION},
        {"scope": Scope.GLOBAL, "project_id": None},
        {"project_id": "prj_b"},
        {"scope": Scope.SESSION, "session_id": "t"},
        {"scope": Scope.SESSION, "project_id": None},
        {"session_id": None},
    ]
    await store.memories.put(
        [
            turn(place + 10 * index, index + place / 10, **group)
            for index in range(3)
            for place, group in enumerate(groups)
        ]
    )
    seen = [place for place in range(8) if place not in (4, 5, 6)]
    pool = await candidate_pool(store, query(*(f"word{place + 10}" for place in range(8)), visibility=MINE))
    together = [expected_neighbours(place, place + 10, place + 20) for place in seen[:-1]]
    assert neighbours_by_candidate(pool) == {
        number: beside for group in together for number, beside in group.items()
    } | expected_neighbours(17)
    sessions = dict(zip(candidate_numbers(pool), pool.sessions.tolist(), strict=True))
    assert sessions[17] == -1
    assert [sessions[place] == sessions[place + 10] == sessions[place + 20] for place in seen[:-1]] == [True] * 4
    assert len({sessions[place] for place in seen[:-1]} - {-1}) == 4
    foreign = await candidate_pool(store, query("word14", visibility=Visibility("prj_b")))
    assert neighbours_by_candidate(foreign) == expected_neighbours(4, 14, 24)


async def test_deleted_and_revised_memories_are_no_longer_neighbours(store: Store, other: Store) -> None:
    writes = [turn(number, number, key=f"k{number}") for number in range(7)]
    await store.memories.put(writes)
    question = query(*(f"word{number}" for number in range(7)), visibility=MINE)
    for reader in (store, other):
        assert neighbours_by_candidate(await candidate_pool(reader, question)) == expected_neighbours(*range(7))
    await other.memories.delete(MINE, [writes[0].memory.id, writes[3].memory.id])
    for reader in (store, other):
        assert neighbours_by_candidate(await candidate_pool(reader, question)) == expected_neighbours(1, 2, 4, 5, 6)
    moved = turn(2, 5.5, key="k2", given=frozenset({"occurred_at"}))
    left = turn(5, 5, key="k5", session_id="t", given=frozenset({"session_id"}))
    await other.memories.put([moved, left])
    for reader in (store, other):
        pool = await candidate_pool(reader, question)
        assert neighbours_by_candidate(pool) == expected_neighbours(1, 4, 2, 6) | expected_neighbours(5)
        assert pool.handles.tolist() == sorted(pool.handles.tolist())
    await other.memories.delete(MINE, [writes[number].memory.id for number in (1, 2, 4, 5)])
    assert neighbours_by_candidate(await candidate_pool(store, question)) == expected_neighbours(6)


async def test_a_memory_that_fails_the_filter_can_be_a_neighbour_but_not_a_candidate(store: Store) -> None:
    await store.memories.put([turn(number, number, category="odd" if number % 2 else "even") for number in range(6)])
    pool = await candidate_pool(store, query("word2", "word3", visibility=MINE, filter=MemoryFilter(category="odd")))
    assert neighbours_by_candidate(pool) == {number: expected_neighbours(*range(6))[number] for number in (1, 3, 5)}
    assert pool.text_occurrences[pool.neighbours[1]].tolist()[REACH - 1 : REACH + 1] == [[1, 0], [0, 1]]


async def test_turns_of_a_session_are_found_in_any_scope(store: Store) -> None:
    scopes: list[dict[str, Any]] = [
        {},
        {"scope": Scope.SESSION},
        {"scope": Scope.GLOBAL, "project_id": None},
        {"session_id": "t"},
        {"project_id": "prj_b"},
        {"session_id": None},
    ]
    await store.memories.put([turn(number, number, **fields) for number, fields in enumerate(scopes)])
    words = [f"word{number}" for number in range(len(scopes))]
    pool = await candidate_pool(store, query(*words, visibility=MINE, filter=MemoryFilter(from_session="s")))
    assert candidate_numbers(pool) == [0, 1, 2]
    narrower = MemoryFilter(from_session="s", scope=Scope.PROJECT)
    assert candidate_numbers(await candidate_pool(store, query(*words, visibility=MINE, filter=narrower))) == [0]


async def test_the_best_passage_of_a_long_text_decides(store: Store) -> None:
    filler = tuple(f"filler{number}" for number in range(8))
    best = ("red", "fox", *filler)
    await store.memories.put(
        [
            turn(1, None, session_id=None, passages=(filler, best, filler, ("red", *filler))),
            turn(2, None, session_id=None, passages=(best,)),
            turn(3, None, session_id=None, passages=((*filler, "red"), ("fox", *filler))),
            turn(4, None, session_id=None, passages=(("red", *filler),)),
            turn(5, None, session_id=None, passages=((*filler, *filler, *filler, "red", "fox", *filler),)),
            turn(6, None, session_id=None, passages=(("fox", *filler),)),
        ]
    )
    pool = await candidate_pool(store, query("red", "fox", visibility=MINE))
    assert candidate_numbers(pool) == [1, 2, 3, 4, 5, 6]
    long, alone, apart, half, at_length, other_half = pool.text_bm25[pool.neighbours[:, REACH]].tolist()
    assert long == pytest.approx(alone)
    assert apart == pytest.approx(half) == pytest.approx(other_half)
    assert alone > at_length > half > 0
    assert pool.pairs.tolist() == [1, 1, 0, 0, 1, 0]
    assert pool.lengths.tolist() == [35, 10, 18, 9, 34, 9]
    assert pool.text_occurrences[pool.neighbours[:, REACH]].tolist() == [[2, 1], [1, 1], [1, 1], [1, 0], [1, 1], [0, 1]]


MOMENTS = (
    (NOW + timedelta(minutes=2), NOW + timedelta(minutes=4)),
    (NOW + timedelta(minutes=8), NOW + timedelta(minutes=9)),
)


async def test_memories_of_a_date_in_the_question_are_candidates(store: Store) -> None:
    await store.memories.put([turn(number, number, session_id=None) for number in range(10)])
    await store.memories.put([turn(20, None, session_id=None, recorded_at=NOW + timedelta(minutes=3))])
    await store.memories.put([turn(21, 1, session_id=None, recorded_at=NOW + timedelta(minutes=3))])
    pool = await candidate_pool(store, query(visibility=MINE, moments=MOMENTS))
    assert candidate_numbers(pool) == [2, 3, 8, 20]
    assert pool.text_bm25.tolist() == [0, 0, 0, 0]
    assert np.isnan(pool.cosines).all()
    assert candidate_numbers(await candidate_pool(store, query("word5", visibility=MINE, moments=MOMENTS[:1]))) == [
        2,
        3,
        5,
        20,
    ]


async def test_memories_of_a_date_must_be_visible_and_pass_the_filter(store: Store) -> None:
    await store.memories.put(
        [
            turn(1, 2),
            turn(2, 2, project_id="prj_b"),
            turn(3, 2, scope=Scope.SESSION, session_id="t"),
            turn(4, 2, scope=Scope.SESSION, category="c"),
            turn(5, 2, scope=Scope.GLOBAL, project_id=None),
            turn(6, 2, project_id="prj_b", category="c"),
        ]
    )
    # Exactly the limit, so a hidden memory would take the place of a visible one.
    assert candidate_numbers(await candidate_pool(store, query(visibility=MINE, moments=MOMENTS, limit=3))) == [1, 4, 5]
    assert candidate_numbers(await candidate_pool(store, query(moments=MOMENTS))) == [5]
    filtered = query(visibility=MINE, moments=MOMENTS, filter=MemoryFilter(category="c"))
    assert candidate_numbers(await candidate_pool(store, filtered)) == [4]
    nothing = query(visibility=MINE, moments=MOMENTS, filter=MemoryFilter(category="d"))
    assert candidate_numbers(await candidate_pool(store, nothing)) == []


async def test_of_many_memories_of_a_date_the_best_matches_are_candidates(store: Store) -> None:
    await store.memories.put(
        [
            turn(number, 2, session_id=None, vector=vector(1 if number == 17 else -1, number / 30))
            for number in range(1, 31)
        ]
        + [turn(40, 99, session_id=None, passages=(("word12", "word12"),), vector=vector(1, 0))]
    )
    question = query("word12", vector=vector(1, 0.5), visibility=MINE, moments=MOMENTS, limit=2)
    assert candidate_numbers(await candidate_pool(store, question)) == [12, 17, 30, 40]
    assert candidate_numbers(await candidate_pool(store, query(visibility=MINE, moments=MOMENTS, limit=3))) == [1, 2, 3]


async def test_speakers_are_recognized_from_visible_memories_only(store: Store, other: Store) -> None:
    names_given: list[list[str]] = []

    def terms(speakers: Sequence[str]) -> tuple[str, ...]:
        names_given.append(sorted(speakers))
        return ("Word1",)

    async def recognized_speakers(visibility: Visibility) -> list[str]:
        pool = await candidate_pool(store, replace(query(visibility=visibility), choose_terms=terms))
        assert pool.terms == ("word1",)
        assert sorted(pool.speaker_names) == names_given[-1]
        assert sorted(await store.memories.speakers(visibility, query().model)) == names_given[-1]
        said_by = {name for name in pool.text_speakers.tolist() if name != -1}
        assert said_by <= set(range(len(pool.speaker_names)))
        return names_given.pop()

    ann = turn(1, 0, speaker="Ann", key="k")
    await store.memories.put(
        [
            turn(1, 0, speaker="Ben", project_id="prj_b"),
            ann,
            turn(1, 0, speaker="Gil", scope=Scope.GLOBAL, project_id=None),
            turn(1, 0, speaker="Sid", scope=Scope.SESSION),
            turn(1, 0, speaker="Tom", scope=Scope.SESSION, session_id="t"),
            turn(1, 0, speaker="Sue", scope=Scope.SESSION, project_id="prj_b"),
            turn(1, 0),
        ]
    )
    assert await recognized_speakers(MINE) == ["Ann", "Gil", "Sid"]
    assert await recognized_speakers(Visibility("prj_a")) == ["Ann", "Gil"]
    assert await recognized_speakers(Visibility("prj_b", "s")) == ["Ben", "Gil", "Sue"]
    assert await recognized_speakers(GLOBAL_ONLY) == ["Gil"]
    assert names_given == []  # terms are chosen once for each question
    renamed = turn(1, 0, speaker="Anna", key="k", given=frozenset({"speaker"}))
    await other.memories.put([renamed])
    assert await recognized_speakers(MINE) == ["Anna", "Gil", "Sid"]
    await other.memories.delete(MINE, [ann.memory.id])
    assert await recognized_speakers(MINE) == ["Gil", "Sid"]


async def test_each_text_is_returned_with_its_speaker(store: Store) -> None:
    await store.memories.put([turn(0, 0, speaker="Zoe", project_id="prj_b")])
    await store.memories.put(
        [turn(number, number, speaker=name) for number, name in enumerate([None, "Ben", "Ann", "Ben"], start=1)]
    )
    pool = await candidate_pool(store, query("word2", visibility=MINE))
    names = [*pool.speaker_names, None]
    assert [names[place] for place in pool.text_speakers[pool.neighbours[:, REACH]]] == [None, "Ben", "Ann", "Ben"]


def random_memory(number: int, **fields: Any) -> MemoryWrite:
    """Return a unique memory in one of a few sessions, some of them private."""
    dice = random.Random(number)
    words = [f"w{int(dice.expovariate(0.2))}" for _ in range(dice.randint(1, 30))]
    passages = tuple(tuple(words[start : start + 12]) for start in range(0, len(words), 12))
    scope = dice.choice([Scope.GLOBAL, Scope.PROJECT, Scope.PROJECT, Scope.SESSION])
    defaults: dict[str, Any] = {
        "scope": scope,
        "project_id": None if scope is Scope.GLOBAL else "prj_a",
        "session_id": "s" if scope is Scope.SESSION else dice.choice([None, "s", "t"]),
        "speaker": dice.choice([None, "Ann", "Ben", "Cid"]),
        "importance": dice.random(),
        "confidence": dice.random(),
        "vector": dice.choice([b"", *[vector(*(dice.gauss(0.5, 1) for _ in range(8)))] * 5]),
    }
    return turn(number, dice.choice([None, dice.randint(-50, 50)]), passages=passages, **(defaults | fields))


QUESTIONS = [
    query("w0", "w3", "w40", visibility=MINE, limit=1000),
    query("w1", "w2", vector=vector(*range(8)), visibility=MINE, limit=1000, moments=MOMENTS),
    query(vector=vector(1, -1, 1, -1, 1, -1, 1, -1), visibility=MINE, limit=6, moments=MOMENTS),
    query("w5", "w6", visibility=Visibility("prj_a"), filter=MemoryFilter(speaker="Ann"), limit=1000),
    query("w7", vector=vector(*[1] * 8), limit=1000),
]


async def test_invisible_memories_do_not_change_a_pool(store: Store, backend: Backend) -> None:
    await store.memories.put([random_memory(number) for number in range(60)])
    expected = await pools_of(store)
    assert min(len(pool["handles"]) for pool in expected) > 5
    hidden: list[dict[str, Any]] = [
        {"scope": Scope.PROJECT, "project_id": "prj_b", "session_id": "s"},
        {"scope": Scope.SESSION, "project_id": "prj_b", "session_id": "s"},
        {"scope": Scope.SESSION, "project_id": "prj_a", "session_id": "t"},
        {"scope": Scope.SESSION, "project_id": None, "session_id": "s"},
    ]
    foreign = [random_memory(100 + number, speaker=f"Eve {number}", **hidden[number % 4]) for number in range(80)]
    alike = [random_memory(number, project_id="prj_b", session_id="s", scope=Scope.SESSION) for number in range(60)]
    await store.memories.put(foreign + alike)
    assert_same(await pools_of(store), expected)
    assert_same(await pools_of(await backend.open()), expected)
    foreign_pool = await candidate_pool(store, replace(QUESTIONS[1], visibility=Visibility("prj_b", "s")))
    assert foreign_pool.text_count > expected[1]["text_count"]
    await store.memories.delete(Visibility("prj_b", "s"), [one.memory.id for one in foreign + alike])
    assert_same(await pools_of(store), expected)


@pytest.mark.parametrize("until_sorted", UNTIL_SORTED)
async def test_pools_are_equal_from_memory_from_files_and_after_many_changes(
    store: Store, backend: Backend, monkeypatch: pytest.MonkeyPatch, until_sorted: int
) -> None:
    """One store follows every change; others are opened occasionally, with or without a file."""
    monkeypatch.setattr(token_segments, "MAX_UNSORTED_TOKENS", until_sorted)
    dice = random.Random(5)
    ids = [f"mem_{number:03}" for number in range(400)]
    living, numbers_by_content = dict[str, int](), dict[str, int]()
    for batch in range(12):
        numbers = range(batch * 20, batch * 20 + 20)
        await store.memories.put([random_memory(number, id=ids[number], key=f"k{number}") for number in numbers])
        living |= {ids[number]: number for number in numbers}
        numbers_by_content |= {random_memory(number).memory.content: number for number in numbers}
        deleted = dice.sample([*living], 8)
        await store.memories.delete(MINE, deleted)
        for memory_id in deleted:
            del living[memory_id]
        for memory_id in dice.sample([*living], 6):
            stored = random_memory(int(memory_id[4:])).memory
            given = frozenset({"speaker", "importance", "occurred_at"})
            living[memory_id] = dice.randint(1000, 9999)
            numbers_by_content[random_memory(living[memory_id]).memory.content] = living[memory_id]
            place = {"scope": stored.scope, "project_id": stored.project_id, "session_id": stored.session_id}
            await store.memories.put(
                [random_memory(living[memory_id], key=f"k{int(memory_id[4:])}", given=given, **place)]
            )
        if batch == 6:
            await store.memories.begin_rebuild(resume=False)
            await store.memories.rebuild(
                [
                    (
                        one.id,
                        random_memory(living[one.id] if one.id in living else numbers_by_content[one.content]).derived,
                    )
                    for one in await store.memories.scan(None, 1000)
                ]
            )
            await store.memories.finish_rebuild()
        if batch % 3 == 0:
            assert_same(await pools_of(store), await pools_of(await backend.open()))
        else:
            await candidate_pool(store, QUESTIONS[batch % 5])
    with monkeypatch.context() as patch:
        patch.setattr(token_segments, "MAX_UNSORTED_TOKENS", 131_072 if until_sorted == 40 else 40)
        expected = await pools_of(await backend.open())
    assert min(len(pool["handles"]) for pool in expected) > 5
    assert_same(await pools_of(store), expected)
    assert (await store.check()).problems == []


async def test_a_pool_returns_the_kind_and_weight_of_each_text(store: Store) -> None:
    late = NOW + timedelta(days=2)
    await store.memories.put(
        [
            write("first word", traits=5, importance=0.25, confidence=0.5, key="k"),
            write("second word", traits=2**30, importance=1.0, recorded_at=late, occurred_at=NOW - timedelta(1)),
        ]
    )
    pool = await candidate_pool(store, query("word"))
    now, day = round(NOW.timestamp() * 1_000_000), 86_400_000_000
    assert candidate_numbers(pool) == [5, 2**30]
    assert (pool.importance.tolist(), pool.confidence.tolist()) == ([0.25, 1.0], [0.5, 1.0])
    assert (pool.times.tolist(), pool.recorded_at.tolist()) == ([now, now - day], [now, now + 2 * day])
    relabelled = write("ignored", key="k", importance=0.75, traits=9)
    await store.memories.put([replace(relabelled, given=frozenset({"importance"}))])
    pool = await candidate_pool(store, query("word"))
    assert (candidate_numbers(pool), pool.importance.tolist()) == ([5, 2**30], [0.75, 1.0])
    await store.memories.put([write("third word", key="k", traits=6)])
    pool = await candidate_pool(store, query("word"))
    assert (candidate_numbers(pool), pool.handles.tolist()) == ([6, 2**30], sorted(pool.handles.tolist()))


async def test_a_rebuild_can_change_the_kind(store: Store) -> None:
    stored = write("word", traits=1)
    await store.memories.put([stored])
    await store.memories.begin_rebuild(resume=False)
    await store.memories.rebuild([(stored.memory.id, replace(stored.derived, traits=6))])
    await store.memories.finish_rebuild()
    assert candidate_numbers(await candidate_pool(store, query("word"))) == [6]


async def test_a_search_reads_no_memory_that_its_caller_may_not_see(store: Store) -> None:
    private = write("fox of one session", id="mem_b", scope=Scope.SESSION, session_id="s")
    await store.memories.put([write("fox of all", id="mem_a"), private])
    of_session = query("fox", visibility=Visibility(session_id="s"))
    handles = await store.memories.in_snapshot(of_session, lambda view: view.candidates().handles.tolist())
    for asked, expected in ((of_session, {"mem_a", "mem_b"}), (query("fox", visibility=GLOBAL_ONLY), {"mem_a"})):
        read = await store.memories.in_snapshot(asked, lambda view: view.read(handles))
        assert {memory.id for memory in read.values()} == expected
