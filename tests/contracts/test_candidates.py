"""What every backend brings when it is asked for candidates."""

import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.domain.memories import CandidateQuery
from recollect.storage.store import Store
from tests.contracts.samples import NOBODY_IN_PARTICULAR, Found, FoundPool, query, search, vector, write

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
async def test_any_term_finds_what_has_it_and_nothing_else(store: Store, term: str) -> None:
    neighbours = tuple(other for other in STRANGE_TERMS if other != term)
    having, lacking = write("having", terms=("before", term, "after")), write("lacking", terms=neighbours)
    await store.memories.put([having, lacking])
    pool = await search(store, query(term))
    assert names(pool) == ["having"]
    assert (pool.texts, pool.frequencies) == (2, {term: 1})
    assert pool.candidates[0].bm25 > 0


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(term=st.text(st.characters(exclude_categories=["Cs", "Lu", "Lt"]), min_size=1, max_size=12).map(str.lower))
async def test_every_term_there_can_be_is_found_whole(store: Store, term: str) -> None:
    kept = write("kept", terms=("first", term, "last"))
    longer = write("longer", terms=(term + "x", "y" + term))
    await store.memories.put([kept, longer])
    pool = await search(store, query(term))
    assert (names(pool), pool.frequencies[term]) == (["kept"], 1)
    await store.memories.delete(NOBODY_IN_PARTICULAR, [kept.memory.id, longer.memory.id])


async def test_an_empty_question_finds_nothing_and_tells_how_many_texts_there_are(store: Store) -> None:
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


async def test_the_nearest_in_meaning_come_with_their_cosine(store: Store) -> None:
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


async def test_every_candidate_has_both_scores_whichever_way_it_was_found(store: Store) -> None:
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


async def test_with_very_many_matches_those_near_in_meaning_still_have_their_score(store: Store) -> None:
    await store.memories.put(
        [write(f"many {number}", terms=("common",), vector=vector(0, 1)) for number in range(1100)]
        + [write("near", terms=("common", *"abcdefgh"), vector=vector(1, 0))]
    )
    pool = await search(store, query("common", vector=vector(1, 0), limit=2))
    assert names(pool) == ["many 0", "many 1", "near"]
    alone = await search(store, query("common", limit=2000))
    assert pool.candidates[2].bm25 == {c.memory.content: c.bm25 for c in alone.candidates}["near"] > 0


@pytest.mark.parametrize(
    ("asked", "comparable"),
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
async def test_what_cannot_be_compared_has_no_cosine(store: Store, asked: CandidateQuery, comparable: bool) -> None:
    await store.memories.put([write("word", vector=vector(1, 0)), write("no word", terms=(), vector=vector(1, 0))])
    pool = await search(store, asked)
    assert names(pool) == (["word", "no word"] if comparable else ["word"])
    assert [candidate.cosine for candidate in pool.candidates] == ([1, 1] if comparable else [None])


async def test_a_kept_vector_that_points_nowhere_has_no_cosine(store: Store) -> None:
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


async def test_ties_are_in_the_order_kept_however_many_there_are(store: Store) -> None:
    means = vector(*(math.sin(place * place) for place in range(256)))
    near = vector(*(math.sin(place * place) + math.cos(place) for place in range(256)))
    same = [write(f"same {number:03}", terms=("word",), vector=means) for number in range(151)]
    await store.memories.put(same[:70])
    await store.memories.put(same[70:])
    expected = [f"same {number:03}" for number in range(40)]
    for terms, meaning in ((("word",), b""), ((), near), (("word",), near)):
        assert names(await search(store, query(*terms, vector=meaning, limit=40))) == expected


async def test_a_revised_memory_is_found_by_its_new_words_and_meaning_only(store: Store, other: Store) -> None:
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


async def test_a_revision_may_lose_its_meaning(store: Store) -> None:
    await store.memories.put([write("meaningful", key="k", vector=vector(1, 0))])
    assert names(await search(store, query(vector=vector(1, 0)))) == ["meaningful"]
    await store.memories.put([write("!!!", key="k")])
    assert names(await search(store, query(vector=vector(1, 0)))) == []
    assert [c.cosine for c in (await search(store, query("!!!", vector=vector(1, 0)))).candidates] == [None]


async def test_a_write_without_content_leaves_what_is_derived_alone(store: Store) -> None:
    first = write("words", key="k", vector=vector(1, 0))
    await store.memories.put([first])
    relabelled = write("ignored", key="k", category="new", terms=())
    await store.memories.put([replace(relabelled, given=frozenset({"category"}))])
    (found,) = (await search(store, query("words", vector=vector(1, 0)))).candidates
    assert (found.memory.content, found.memory.category, found.cosine) == ("words", "new", 1)


async def test_what_one_process_writes_the_other_finds_at_once(store: Store, other: Store) -> None:
    for number in range(20):
        kept = write(f"note {number}", terms=(f"note{number}",), vector=vector(number, 20 - number))
        writer, reader = (store, other) if number % 2 else (other, store)
        await writer.memories.put([kept])
        pool = await search(reader, query(f"note{number}", vector=kept.derived.vector, limit=1))
        assert pool.candidates[0].memory == kept.memory
        assert pool.candidates[0].cosine == pytest.approx(1)
        assert pool.texts == number + 1


async def test_a_candidate_is_the_whole_memory(store: Store) -> None:
    kept = write("whole", vector=vector(1, 0), tags=("a",), metadata={"b": 1}, category="c")
    await store.memories.put([kept])
    pool = await search(store, query("whole", vector=vector(1, 0)))
    (found,) = pool.candidates
    assert found == Found(kept.memory, found.bm25, 1.0)
