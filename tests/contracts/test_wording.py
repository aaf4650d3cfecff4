"""Store contract: search for exact wording by words, phrases and prefixes."""

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


async def matching_texts(store: Store, *required: tuple[Wording, ...]) -> list[str]:
    await store.memories.put([write(text) for text in TEXTS])
    pool = await search(store, query("a", "of", "say", "one*two", filter=MemoryFilter(containing=required)))
    return [text for text in TEXTS if any(text == one.memory.content for one in pool.candidates)]


def phrase(*terms: str) -> tuple[Wording, ...]:
    return (Wording(terms),)


def prefix(*terms: str) -> tuple[Wording, ...]:
    return (Wording(terms, open_ended=True),)


@pytest.mark.parametrize(
    ("required", "expected"),
    [
        ((phrase("deployment"),), [0, 1]),
        ((phrase("blue", "green"),), [0]),
        ((phrase("green", "blue"),), []),
        ((prefix("deploy"),), [0, 1, 2]),
        ((prefix("blue", "gr"),), [0]),
        ((phrase("blue"), phrase("sky")), [1]),
        (((Wording(("sky",)), Wording(("everything",))),), [1, 2]),
        ((phrase("nothing"),), []),
    ],
)
async def test_064_only_texts_with_the_exact_wording_are_found(
    store: Store, required: Required, expected: list[int]
) -> None:
    assert await matching_texts(store, *required) == [TEXTS[place] for place in expected]


@pytest.mark.parametrize("term", ['"hello"', "or", "one*two", "near(three)", "(four)", "-five", "col:six"])
async def test_064_terms_are_never_read_as_query_syntax(store: Store, term: str) -> None:
    assert await matching_texts(store, phrase(term)) == [text for text in TEXTS if term in text.lower().split()]


@pytest.mark.parametrize("term", ["", '"', '""', "*", "(", "\0", "a\0b", "NEAR(", "AND", "x" * 100_000])
async def test_064_an_unusual_term_finds_nothing_and_does_not_fail(store: Store, term: str) -> None:
    assert await matching_texts(store, phrase(term)) == []
    assert await matching_texts(store, prefix("zzz", term)) == []
