"""Documented code becomes pairs of a summary and its code."""

from models.pairs import DescribedCode, Pair, first_sentence, make_pair, without_name

CODE = "def close(self):\n    for connection in self.connections:\n        connection.close()\n"


def documented_code(lead: str, code: str = CODE) -> DescribedCode:
    return DescribedCode("close", "function", lead, lead + "\n\nMore.", code)


def test_a_summary_is_the_first_sentence_of_the_first_paragraph():
    assert first_sentence("Close all\nconnections. Then wait.\n\nMore.") == "Close all connections."


def test_a_declaration_with_a_descriptive_summary_makes_a_pair():
    code = documented_code("Close every open connection.")

    assert make_pair("pool", "py", code) == Pair(
        "pool", "py", "function", "close", "Close every open connection.", code.documentation, CODE
    )


def test_an_unsuitable_summary_or_short_code_makes_no_pair():
    leads = [
        "Close it.",
        "# Closing every connection",
        "TODO: close every connection",
        "Schließt alle Verbindungen hier.",
        "See http://example.org now.",
    ]

    assert [make_pair("pool", "py", documented_code(lead)) for lead in leads] == [None] * 5
    assert make_pair("pool", "py", documented_code("Close every open connection.", "def close(self): ...")) is None


def test_a_leading_declaration_name_is_removed_from_a_long_summary():
    summary = "Close closes every open connection."
    named = Pair("pool", "go", "function", "Close", summary, summary, CODE)
    short = Pair("pool", "go", "function", "Close", "Close closes it.", "", CODE)

    assert without_name(named) == "closes every open connection."
    assert without_name(short) == "Close closes it."
