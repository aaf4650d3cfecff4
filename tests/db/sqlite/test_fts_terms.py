"""How terms are written for the text index."""

from scrubjay.db.sqlite.fts_terms import indexed, token


def test_terms_are_joined_by_the_only_character_that_separates() -> None:
    assert indexed([("snake_case", "a b", "日本", "")]) == "snake_case a␠b 日本 "


def test_passages_are_on_lines_of_their_own() -> None:
    assert indexed([("one", "two"), ("th\nree",), ()]) == "one two\nth␊ree\n"


def test_a_term_is_lower_case_without_control_characters_and_not_endless() -> None:
    assert token("A\tB\x00\x7f") == "a␉b␀␡"
    assert token("x" * 5000) == "x" * 1000
