"""Searching for exact wording: words, phrases and beginnings that a memory must have."""

import pytest

from scrubjay.app.store import Store
from scrubjay.features.memory.models import MemoryFilter, Wording
from tests.contracts.samples import query, search, write

TEXTS = [
    "a blue green deployment",
    "a green deployment of a blue sky",
    "deployments of everything",
    'say "hello" OR goodbye',
    "one*two NEAR(three) (four) -five col:six",
]

Required = tuple[tuple[Wording, ...], ...]


async def found(store: Store, *required: tuple[Wording, ...]) -> list[str]:
    await store.memories.put([write(text) for text in TEXTS])
    pool = await search(store, query("a", "of", "say", "one*two", filter=MemoryFilter(containing=required)))
    return [text for text in TEXTS if any(text == one.memory.content for one in pool.candidates)]


def phrase(*terms: str) -> tuple[Wording, ...]:
    return (Wording(terms),)


def beginning(*terms: str) -> tuple[Wording, ...]:
    return (Wording(terms, open_ended=True),)


@pytest.mark.parametrize(
    ("required", "expected"),
    [
        ((phrase("deployment"),), [0, 1]),
        ((phrase("blue", "green"),), [0]),
        ((phrase("green", "blue"),), []),
        ((beginning("deploy"),), [0, 1, 2]),
        ((beginning("blue", "gr"),), [0]),
        ((phrase("blue"), phrase("sky")), [1]),
        (((Wording(("sky",)), Wording(("everything",))),), [1, 2]),
        ((phrase("nothing"),), []),
    ],
)
async def test_064_only_what_has_the_wording_is_found(store: Store, required: Required, expected: list[int]) -> None:
    assert await found(store, *required) == [TEXTS[place] for place in expected]


@pytest.mark.parametrize("term", ['"hello"', "or", "one*two", "near(three)", "(four)", "-five", "col:six"])
async def test_064_nothing_in_a_term_is_syntax(store: Store, term: str) -> None:
    assert await found(store, phrase(term)) == [text for text in TEXTS if term in text.lower().split()]


@pytest.mark.parametrize("term", ["", '"', '""', "*", "(", "\0", "a\0b", "NEAR(", "AND", "x" * 100_000])
async def test_064_a_term_that_nobody_wrote_finds_nothing_and_breaks_nothing(store: Store, term: str) -> None:
    assert await found(store, phrase(term)) == []
    assert await found(store, beginning("zzz", term)) == []
