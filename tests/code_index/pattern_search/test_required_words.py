"""A word is required only if every match contains it as a whole identifier."""

import re

import pytest

from scrubjay.code_index.facts.tokenizer import find_identifiers
from scrubjay.code_index.pattern_search.required_words import required_words


@pytest.mark.parametrize(
    ("pattern", "alternatives"),
    [
        (r"\bget_user\b", [["get_user"]]),
        (r"def get_user\(", [["get_user"]]),
        (r"class\s+Foo\s*\(", [["Foo"]]),
        (r"^\s*import os\s*$", [["import", "os"]]),
        (r"\b(foo|bar)\b", [["foo"], ["bar"]]),
        (r"return (self|cls)\.name;", [["self", "name"], ["cls", "name"]]),
        (r"\bfoo(?=\()\(", [["foo"]]),
        (r"[\s(]foo[,)]", [["foo"]]),
        (r"get_user", []),
        (r"foo|bar", []),
        (r"\bfoo(bar)?\b", []),
        (r"\bfoo\w*", []),
        (r"\b(?:ab)+\b", []),
        (r"(?i)\bfoo\b", []),
        (r"\b(?i:foo)\b", []),
        (r"\bfoo\b|", []),
        (r"\bfo\Bo\b", []),
        (r"\b(\w+) \1\b", []),
    ],
)
def test_words_are_required_only_if_every_match_has_them_whole(pattern: str, alternatives: list[list[str]]) -> None:
    assert required_words(pattern, re.MULTILINE) == alternatives


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\bfoo\s*bar\b", "foobar"),
        (r"\bfoo ?bar\b", "foobar"),
        (r"\s*foo\b", "a_foo"),
        (r"\bfoo(?:\.bar)?\.baz\b", "foo.baz"),
        (r"\bx{2}y\b", "xxy"),
        (r"[ab]foo\b", "afoo"),
        (r"\bfoo(?!x)y\b", "fooy"),
        (r"\b(?:foo|)bar\b", "bar"),
        (r"\b(?>foo)bar\b", "foobar"),
        (r"(?x) \b foo # name", "foo"),
        (r"\bfoo\n?bar\b", "foobar"),
    ],
)
def test_a_match_contains_the_required_words(pattern: str, text: str) -> None:
    if "(?>" in pattern:
        assert required_words(pattern, 0) == [["foobar"]]
    assert re.search(pattern, text)
    alternatives = required_words(pattern, re.MULTILINE)
    own = {*find_identifiers(text)}
    assert not alternatives or any(own.issuperset(words) for words in alternatives)
