"""The synthetic corpus is reproducible and has the statistics of real text."""

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


def test_the_same_rows_are_generated_again(memories: list[dict[str, Any]]) -> None:
    assert Corpus(VOCABULARY).memories(1) == memories


def test_rows_are_numbered_and_one_percent_have_the_rare_category(
    memories: list[dict[str, Any]],
) -> None:
    assert [memory["metadata"]["row"] for memory in memories] == list(range(CHUNK, 2 * CHUNK))
    assert Counter(memory["category"] for memory in memories)[RARE_CATEGORY] == CHUNK // 100


def test_sentences_have_8_to_40_words_and_most_words_are_rare(memories: list[dict[str, Any]]) -> None:
    texts = [memory["content"].split() for memory in memories]
    assert {len(text) in range(8, 41) for text in texts} == {True}
    occurrences = Counter(word for text in texts for word in set(text))
    once = sum(1 for count in occurrences.values() if count == 1)
    assert once > len(occurrences) / 2


def test_no_memory_has_a_word_with_the_beginning_of_a_withheld_word(memories: list[dict[str, Any]]) -> None:
    withheld = {word[:4] for word in CORPUS.withheld}
    used = {word[:4] for memory in memories for word in memory["content"].lower().replace("_", " ").split()}
    assert withheld
    assert not withheld & used
    assert "boys" not in {*CORPUS.withheld, *CORPUS.words}


def test_questions_use_words_of_their_row_or_only_withheld_words() -> None:
    memories = CORPUS.memories(0)
    for question in CORPUS.questions(CHUNK, 20, memories.__getitem__):
        content = memories[question.target]["content"]
        assert any(word in content for word in question.text.rstrip("?").split() if len(word) > 5)
    reworded = CORPUS.reworded_questions(CHUNK, 5, memories.__getitem__, lambda word: CORPUS.withheld[len(word)])
    assert {word for question in reworded for word in question.text.split()} <= set(CORPUS.withheld)
