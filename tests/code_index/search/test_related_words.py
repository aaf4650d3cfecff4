"""Related words of the words in a query."""

from importlib.resources import files

import pytest

from scrubjay.code_index.facts.tokenizer import query_words
from scrubjay.code_index.search.related_words import FILE, related_words


def stem(word: str) -> str:
    ((stemmed, _),) = query_words(word)
    return stemmed


@pytest.mark.parametrize(
    ("query", "word"),
    [("argument", "arg"), ("gunzip", "gzip"), ("synchronize", "sync"), ("deleting", "removed"), ("router", "routes")],
)
def test_inflections_abbreviations_and_synonyms_are_related(query: str, word: str) -> None:
    assert stem(word) in dict(related_words(stem(query)))


@pytest.mark.parametrize(("query", "word"), [("valid", "invalid"), ("client", "server"), ("argument", "file")])
def test_opposites_and_unrelated_words_are_not_related(query: str, word: str) -> None:
    assert stem(word) not in dict(related_words(stem(query)))


def test_the_most_similar_word_is_first() -> None:
    similarities = [similarity for _, similarity in related_words(stem("gunzip"))]
    assert similarities == sorted(similarities, reverse=True)
    assert 0.6 <= similarities[-1] < similarities[0] < 1


@pytest.mark.parametrize("word", ["zzyzx", "the", "", "=gunzip"])
def test_an_unknown_word_has_no_related_words(word: str) -> None:
    assert related_words(word) == ()


def test_every_line_of_the_data_file_is_valid() -> None:
    text = (files("scrubjay.code_index.search") / FILE).read_text("utf-8")
    words = [line.partition(" ")[0] for line in text.splitlines()]
    assert words == sorted(set(words))
    assert all(related_words(word) and word not in dict(related_words(word)) for word in words)
