"""Encoding of terms for the text index."""

from scrubjay.db.sqlite.fts_terms import index_text, index_token


def test_terms_are_joined_by_the_only_separator() -> None:
    assert index_text([("snake_case", "a b", "日本", "")]) == "snake_case a␠b 日本 "


def test_each_passage_is_a_line() -> None:
    assert index_text([("one", "two"), ("th\nree",), ()]) == "one two\nth␊ree\n"


def test_a_term_is_lower_case_without_control_characters_and_limited_in_length() -> None:
    assert index_token("A\tB\x00\x7f") == "a␉b␀␡"
    assert index_token("x" * 5000) == "x" * 1000
