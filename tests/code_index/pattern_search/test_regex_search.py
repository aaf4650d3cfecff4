"""Regular expressions match line by line."""

import pytest

from scrubjay.code_index.pattern_search.messages import Expression, PatternMatch
from scrubjay.code_index.pattern_search.regex_search import RegexFinder
from scrubjay.core.errors import InvalidRequest


def found(text: str | bytes, pattern: str, context: int = 0, **options: bool) -> list[tuple[int, int, str]]:
    """Return the first line, the column and the text of each match."""
    count, matches = RegexFinder(Expression(pattern, **options)).find(_bytes(text), context, 100)
    assert count == len(matches)
    return [(one.first_line, one.column, one.text) for one in matches]


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def test_each_matching_line_is_returned_once_with_its_position() -> None:
    assert found("a b a\nb\n  a\r\n", "a") == [(1, 1, "a b a"), (3, 3, "  a")]
    assert found("x = 1\ny = 2", r"^y\b.*$") == [(2, 1, "y = 2")]
    assert found("a\n\nb\n", "^$") == [(2, 1, "")]


def test_a_match_spans_lines_only_with_multiline() -> None:
    text = "class A:\n    x = 1\nfoo\n\nbar\n"
    assert found(text, r"foo\s+bar") == []
    assert found(text, r"A:\s*") == [(1, 7, "class A:")]
    assert found(text, r"foo\s+bar", multiline=True) == [(3, 1, "foo\n\nbar")]
    assert found("a\na\n", r"a\n", multiline=True) == [(1, 1, "a"), (2, 1, "a")]
    assert found(text, r"class.*1", multiline=True) == [(1, 1, "class A:\n    x = 1")]


def test_case_whole_words_and_literal_text_are_options() -> None:
    text = "Foo foobar foo() (x|y) FOO\n"
    assert found(text, "foo", word=True) == [(1, 12, text[:-1])]
    assert found(text, "FOOBAR", ignore_case=True) == [(1, 5, text[:-1])]
    assert found(text, "(x|y)", literal=True) == [(1, 18, text[:-1])]
    assert found(text, "(?i)fOO", word=True) == [(1, 1, text[:-1])]


def test_positions_are_bytes_and_columns_are_characters() -> None:
    content = "é = 'ü'; ß = 2\n".encode() + b"\xff z = 3\n"
    finder = RegexFinder(Expression(r"(?P<name>\w) = \d"))
    _, matches = finder.find(content, 0, 9)
    assert [(one.column, content[one.start : one.end], one.captures) for one in matches] == [
        (10, "ß = 2".encode(), {"name": "ß"}),
        (3, b"z = 3", {"name": "z"}),
    ]


def test_context_lines_are_included_and_a_long_line_is_truncated() -> None:
    _, (match,) = RegexFinder(Expression("c")).find(b"a\nb\nc\nd\n", 2, 9)
    assert match == PatternMatch(4, 5, 3, 3, 1, "a\nb", "c", "d", {})
    _, (long,) = RegexFinder(Expression("needle")).find(b"x" * 5000 + b"needle" + b"y" * 5000, 0, 9)
    assert (len(long.text), "needle" in long.text, long.column) == (1000, True, 5001)


def test_matches_are_limited_but_all_are_counted() -> None:
    count, matches = RegexFinder(Expression("a")).find(b"a\n" * 10, 0, 3)
    assert (count, len(matches)) == (10, 3)


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "(" * 5000 + ")" * 5000, "(?<=a*)b"])
def test_an_invalid_expression_is_rejected(pattern: str) -> None:
    with pytest.raises(InvalidRequest, match="not a valid regular expression"):
        RegexFinder(Expression(pattern))
