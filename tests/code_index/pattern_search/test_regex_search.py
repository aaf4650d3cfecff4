"""A regular expression finds lines as people count them."""

import pytest

from scrubjay.code_index.pattern_search.messages import Expression, Match
from scrubjay.code_index.pattern_search.regex_search import ExpressionFinder
from scrubjay.core.errors import InvalidRequest


def found(text: str | bytes, pattern: str, context: int = 0, **options: bool) -> list[tuple[int, int, str]]:
    """First line, column, and the lines."""
    count, matches = ExpressionFinder(Expression(pattern, **options)).found(_bytes(text), context, 100)
    assert count == len(matches)
    return [(one.first_line, one.column, one.text) for one in matches]


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def test_each_line_is_told_once_with_its_place() -> None:
    assert found("a b a\nb\n  a\r\n", "a") == [(1, 1, "a b a"), (3, 3, "  a")]
    assert found("x = 1\ny = 2", r"^y\b.*$") == [(2, 1, "y = 2")]
    assert found("a\n\nb\n", "^$") == [(2, 1, "")]


def test_a_match_goes_over_lines_only_if_that_is_asked() -> None:
    text = "class A:\n    x = 1\nfoo\n\nbar\n"
    assert found(text, r"foo\s+bar") == []
    assert found(text, r"A:\s*") == [(1, 7, "class A:")]
    assert found(text, r"foo\s+bar", multiline=True) == [(3, 1, "foo\n\nbar")]
    assert found("a\na\n", r"a\n", multiline=True) == [(1, 1, "a"), (2, 1, "a")]
    assert found(text, r"class.*1", multiline=True) == [(1, 1, "class A:\n    x = 1")]


def test_case_words_and_plain_text_are_options() -> None:
    text = "Foo foobar foo() (x|y) FOO\n"
    assert found(text, "foo", word=True) == [(1, 12, text[:-1])]
    assert found(text, "FOOBAR", ignore_case=True) == [(1, 5, text[:-1])]
    assert found(text, "(x|y)", literal=True) == [(1, 18, text[:-1])]
    assert found(text, "(?i)fOO", word=True) == [(1, 1, text[:-1])]


def test_places_are_bytes_and_columns_are_characters() -> None:
    content = "é = 'ü'; ß = 2\n".encode() + b"\xff z = 3\n"
    finder = ExpressionFinder(Expression(r"(?P<name>\w) = \d"))
    _, matches = finder.found(content, 0, 9)
    assert [(one.column, content[one.start : one.end], one.captures) for one in matches] == [
        (10, "ß = 2".encode(), {"name": "ß"}),
        (3, b"z = 3", {"name": "z"}),
    ]


def test_lines_around_are_shown_and_a_very_long_line_only_in_part() -> None:
    _, (match,) = ExpressionFinder(Expression("c")).found(b"a\nb\nc\nd\n", 2, 9)
    assert match == Match(4, 5, 3, 3, 1, "a\nb", "c", "d", {})
    _, (long,) = ExpressionFinder(Expression("needle")).found(b"x" * 5000 + b"needle" + b"y" * 5000, 0, 9)
    assert (len(long.text), "needle" in long.text, long.column) == (1000, True, 5001)


def test_only_so_many_are_told_and_all_are_counted() -> None:
    count, matches = ExpressionFinder(Expression("a")).found(b"a\n" * 10, 0, 3)
    assert (count, len(matches)) == (10, 3)


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "(" * 5000 + ")" * 5000, "(?<=a*)b"])
def test_what_is_no_expression_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidRequest, match="no regular expression"):
        ExpressionFinder(Expression(pattern))
