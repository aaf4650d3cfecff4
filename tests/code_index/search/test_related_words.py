"""Words that are near in meaning are known for the words of questions."""

from importlib.resources import files

import pytest

from scrubjay.code_index.facts.words import query_words
from scrubjay.code_index.search.related_words import FILE, kindred


def stem(word: str) -> str:
    ((found, _),) = query_words(word)
    return found


@pytest.mark.parametrize(
    ("asked", "written"),
    [("argument", "arg"), ("gunzip", "gzip"), ("synchronize", "sync"), ("deleting", "removed"), ("router", "routes")],
)
def test_forms_short_forms_and_words_used_for_each_other_are_near(asked: str, written: str) -> None:
    assert stem(written) in dict(kindred(stem(asked)))


@pytest.mark.parametrize(("asked", "written"), [("valid", "invalid"), ("client", "server"), ("argument", "file")])
def test_opposites_and_other_words_are_not(asked: str, written: str) -> None:
    assert stem(written) not in dict(kindred(stem(asked)))


def test_the_nearest_comes_first() -> None:
    near = [likeness for _, likeness in kindred(stem("gunzip"))]
    assert near == sorted(near, reverse=True)
    assert 0.6 <= near[-1] < near[0] < 1


@pytest.mark.parametrize("word", ["zzyzx", "the", "", "=gunzip"])
def test_a_word_that_nothing_is_known_of_has_none(word: str) -> None:
    assert kindred(word) == ()


def test_every_line_can_be_read() -> None:
    text = (files("scrubjay.code_index.search") / FILE).read_text("utf-8")
    words = [line.partition(" ")[0] for line in text.splitlines()]
    assert words == sorted(set(words))
    assert all(kindred(word) and word not in dict(kindred(word)) for word in words)
