"""Parts of files as they are shown."""

from scrubjay.code_index.excerpts import extracted
from scrubjay.code_index.models import Span

FILE = b"""import os

class Session:
    def login(self):
        return os.name

    def logout(self):
        pass
"""


def span(content: bytes, part: bytes) -> Span:
    start = content.index(part)
    first = content.count(b"\n", 0, start) + 1
    return Span(start, start + len(part), first, first + part.count(b"\n"))


def test_114_a_part_and_what_is_around_it_are_one_piece_of_the_file() -> None:
    shown = extracted(FILE, span(FILE, b"def login(self):\n        return os.name"), 2)
    assert shown.before == "\nclass Session:\n    "
    assert shown.text == "def login(self):\n        return os.name"
    assert shown.after == "\n\n    def logout(self):"


def test_114_no_lines_around_are_nothing_around() -> None:
    shown = extracted(FILE, span(FILE, b"def login(self):"), 0)
    assert (shown.before, shown.text, shown.after) == ("", "def login(self):", "")


def test_114_the_beginning_and_the_end_of_a_file_end_what_is_around() -> None:
    shown = extracted(FILE, span(FILE, b"class Session:"), 20)
    assert (shown.before + shown.text + shown.after).encode() == FILE


def test_020_a_secret_is_masked_when_what_tells_of_it_is_on_another_line_than_is_shown() -> None:
    content = b'PASSWORD = \\\n    "correct-horse-battery9"\n\n\ndef connect():\n    return 1\n'
    value = span(content, b'"correct-horse-battery9"')
    assert extracted(content, value, 0).text == '"[secret: password]"'
    around = extracted(content, span(content, b"def connect():"), 3)
    assert around.before == '    "[secret: password]"\n\n\n'


def test_020_of_a_secret_that_a_cut_goes_through_no_part_is_shown() -> None:
    content = "# \u00e9\nTOKEN = 'ghp_".encode() + b"a1B2" * 9 + b"'\n"
    start = content.index(b"a1B2") + 8
    shown = extracted(content, Span(start, len(content) - 1, 2, 2), 1)
    assert shown.before + shown.text == "# \u00e9\nTOKEN = '[secret: github token][secret: github token]'"


def test_020_a_secret_in_parentheses_is_masked() -> None:
    content = b'DB_PASSWORD = (\n    "multilineSecretPw77"\n)\n'
    assert extracted(content, span(content, content[:-1]), 0).text == 'DB_PASSWORD = (\n    "[secret: password]"\n)'


def test_020_a_secret_is_masked_in_all_lines_around_however_many_are_shown() -> None:
    content = b'PASSWORD = (\n    "correct-horse-battery9"\n)\n' + b"x = 1\n" * 300 + b"def connect(): ...\n"
    shown = extracted(content, span(content, b"def connect(): ..."), 303)
    assert shown.before.startswith('PASSWORD = (\n    "[secret: password]"\n)\nx = 1\n')
    assert "correct-horse" not in extracted(content, span(content, b"def connect(): ..."), 302).before
