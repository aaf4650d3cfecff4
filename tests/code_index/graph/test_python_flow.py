"""The flow of Python files, including broken and unusual ones."""

import pytest
from pydantic_core import from_json

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from scrubjay.native.library import use_library


def flow(content: bytes) -> bytes:
    """Return the flow that the Python reader makes, without the native reader."""
    use_library(False)
    try:
        return read_facts(content, Language.PYTHON).flow
    finally:
        use_library(True)


def called(content: bytes) -> list[tuple[int, bytes]]:
    """Return the line of each call, and the text at its recorded position."""
    calls = from_json(flow(content))[3]
    return sorted((line, content[start : start + 4]) for _, _, _, line, start, _, _ in calls)


@pytest.mark.parametrize(
    "content",
    [
        b"ring()\n\nx.walk()\n",
        b"ring()\r\n\r\nx.walk()\r\n",
        b"ring()\r\rx.walk()",
        b"\xef\xbb\xbfring()\n\nx.walk()\n",
    ],
    ids=["lines", "crlf", "cr", "mark"],
)
def test_calls_are_recorded_by_line_and_byte(content: bytes):
    assert called(content) == [(1, b"ring"), (3, b"walk")]


def test_the_readable_parts_of_a_broken_file_are_read():
    assert called(b"def press():\n    ring()\n\ndef broken(:\n    pass\n\nwalk()\n") == [(2, b"ring"), (7, b"walk")]


def test_type_parameters_are_understood_by_older_pythons():
    content = b"def press[T](x: T) -> T:\n    ring()\n    return x\n\ntype Pair[T] = list[T]\nwalk()\n"
    assert called(content) == [(2, b"ring"), (6, b"walk")]
    assert [scope[1] for scope in from_json(flow(content))[2]] == ["", "press"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff\xfe",
        b"x = '\xff'\n",
        b"(" * 100_000,
        b"x = " + b"[" * 100_000 + b"]" * 100_000,
        b"x = " + b"-" * 50_000 + b"1",
        b"x = " + b"a." * 20_000 + b"b\n",
        b"x = " + b"1 + " * 20_000 + b"1\n",
        b"".join(b" " * depth + b"if x:\n" for depth in range(90)) + b" " * 90 + b"f()\n",
        b"if a: f()\n" + b"elif b: g()\n" * 600,
    ],
    ids=["nothing", "nul", "bytes", "open", "brackets", "signs", "dots", "sums", "blocks", "branches"],
)
def test_no_text_makes_the_reader_fail(content: bytes):
    assert isinstance(flow(content), bytes)
