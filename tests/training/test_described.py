from models.described import Described, Pair, first_sentence, pair, without_name

CODE = "def close(self):\n    for connection in self.connections:\n        connection.close()\n"


def described(lead: str, code: str = CODE) -> Described:
    return Described("close", "function", lead, lead + "\n\nMore.", code)


def test_a_summary_is_the_first_sentence_of_the_first_paragraph():
    assert first_sentence("Close all\nconnections. Then wait.\n\nMore.") == "Close all connections."


def test_a_declaration_with_a_telling_summary_is_a_pair():
    found = described("Close every open connection.")

    assert pair("pool", "py", found) == Pair(
        "pool", "py", "function", "close", "Close every open connection.", found.documentation, CODE
    )


def test_what_says_too_little_is_no_pair():
    leads = [
        "Close it.",
        "# Closing every connection",
        "TODO: close every connection",
        "Schließt alle Verbindungen hier.",
        "See http://example.org now.",
    ]

    assert [pair("pool", "py", described(lead)) for lead in leads] == [None] * 5
    assert pair("pool", "py", described("Close every open connection.", "def close(self): ...")) is None


def test_a_summary_loses_the_name_it_begins_with():
    summary = "Close closes every open connection."
    named = Pair("pool", "go", "function", "Close", summary, summary, CODE)
    short = Pair("pool", "go", "function", "Close", "Close closes it.", "", CODE)

    assert without_name(named) == "closes every open connection."
    assert without_name(short) == "Close closes it."
