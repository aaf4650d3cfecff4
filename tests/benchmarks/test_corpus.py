"""The made-up corpus is the same everywhere and behaves like text."""

from collections import Counter
from typing import Any

import pytest

from benchmarks.corpus import CHUNK, RARE_CATEGORY, Corpus

VOCABULARY = [
    "the",
    "##ing",
    "[PAD]",
    "42",
    *(
        f"{a}{b}{c}"
        for a in "bdfgklmn"
        for b in ("ala", "eni")
        for c in map("".join, [(x, y, z) for x in "prst" for y in "aeiou" for z in "klmnprst"])
    ),
    *(f"{a}{b}" for a in "bdfgklmn" for b in ("ala", "eni")),
    "boy",
    "boys",
]

CORPUS = Corpus(VOCABULARY)


@pytest.fixture(scope="module")
def memories() -> list[dict[str, Any]]:
    return CORPUS.memories(1)


def test_the_same_rows_come_out_again(memories: list[dict[str, Any]]) -> None:
    assert Corpus(VOCABULARY).memories(1) == memories


def test_rows_are_numbered_through_and_one_in_a_hundred_is_of_the_rare_category(
    memories: list[dict[str, Any]],
) -> None:
    assert [memory["metadata"]["row"] for memory in memories] == list(range(CHUNK, 2 * CHUNK))
    assert Counter(memory["category"] for memory in memories)[RARE_CATEGORY] == CHUNK // 100


def test_sentences_have_eight_to_forty_words_and_most_words_are_rare(memories: list[dict[str, Any]]) -> None:
    texts = [memory["content"].split() for memory in memories]
    assert {len(text) in range(8, 41) for text in texts} == {True}
    occurrences = Counter(word for text in texts for word in set(text))
    once = sum(1 for count in occurrences.values() if count == 1)
    assert once > len(occurrences) / 2


def test_no_memory_has_a_word_that_begins_like_one_held_back(memories: list[dict[str, Any]]) -> None:
    held_back = {word[:4] for word in CORPUS.held_back}
    used = {word[:4] for memory in memories for word in memory["content"].lower().replace("_", " ").split()}
    assert held_back
    assert not held_back & used
    assert "boys" not in {*CORPUS.held_back, *CORPUS.words}


def test_questions_are_made_of_words_of_their_row_or_of_none_at_all() -> None:
    memories = CORPUS.memories(0)
    for question in CORPUS.questions(CHUNK, 20, memories.__getitem__):
        content = memories[question.target]["content"]
        assert any(word in content for word in question.text.rstrip("?").split() if len(word) > 5)
    reworded = CORPUS.reworded_questions(CHUNK, 5, memories.__getitem__, lambda word: CORPUS.held_back[len(word)])
    assert {word for question in reworded for word in question.text.split()} <= set(CORPUS.held_back)
