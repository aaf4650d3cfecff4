"""Excerpts of files with their surrounding lines, and masked secrets."""

from scrubjay.code_index.excerpts import cut_excerpt
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


def test_114_an_excerpt_and_its_context_are_contiguous() -> None:
    excerpt = cut_excerpt(FILE, span(FILE, b"def login(self):\n        return os.name"), 2)
    assert excerpt.before == "\nclass Session:\n    "
    assert excerpt.text == "def login(self):\n        return os.name"
    assert excerpt.after == "\n\n    def logout(self):"


def test_114_with_zero_context_lines_there_is_no_context() -> None:
    excerpt = cut_excerpt(FILE, span(FILE, b"def login(self):"), 0)
    assert (excerpt.before, excerpt.text, excerpt.after) == ("", "def login(self):", "")


def test_114_context_ends_at_the_start_and_end_of_the_file() -> None:
    excerpt = cut_excerpt(FILE, span(FILE, b"class Session:"), 20)
    assert (excerpt.before + excerpt.text + excerpt.after).encode() == FILE


def test_020_a_secret_is_masked_when_its_name_is_on_a_line_that_is_not_shown() -> None:
    content = b'PASSWORD = \\\n    "correct-horse-battery9"\n\n\ndef connect():\n    return 1\n'
    value = span(content, b'"correct-horse-battery9"')
    assert cut_excerpt(content, value, 0).text == '"[secret: password]"'
    nearby = cut_excerpt(content, span(content, b"def connect():"), 3)
    assert nearby.before == '    "[secret: password]"\n\n\n'


def test_020_a_secret_cut_in_two_is_masked_in_both_parts() -> None:
    content = "# \u00e9\nTOKEN = 'ghp_".encode() + b"a1B2" * 9 + b"'\n"
    start = content.index(b"a1B2") + 8
    excerpt = cut_excerpt(content, Span(start, len(content) - 1, 2, 2), 1)
    assert excerpt.before + excerpt.text == "# \u00e9\nTOKEN = '[secret: github token][secret: github token]'"


def test_020_a_secret_in_parentheses_is_masked() -> None:
    content = b'DB_PASSWORD = (\n    "multilineSecretPw77"\n)\n'
    assert cut_excerpt(content, span(content, content[:-1]), 0).text == 'DB_PASSWORD = (\n    "[secret: password]"\n)'


def test_020_a_secret_is_masked_in_all_context_lines_however_many_there_are() -> None:
    content = b'PASSWORD = (\n    "correct-horse-battery9"\n)\n' + b"x = 1\n" * 300 + b"def connect(): ...\n"
    excerpt = cut_excerpt(content, span(content, b"def connect(): ..."), 303)
    assert excerpt.before.startswith('PASSWORD = (\n    "[secret: password]"\n)\nx = 1\n')
    assert "correct-horse" not in cut_excerpt(content, span(content, b"def connect(): ..."), 302).before
