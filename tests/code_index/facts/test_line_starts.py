"""Line starts, as bytes and as Python counts them."""

import ast
import random

import pytest

from scrubjay.code_index.facts.line_starts import line_starts, python_line_starts

MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", [0]),
        (b"a", [0, 1]),
        (b"a\n", [0, 2]),
        (b"\n\nab", [0, 1, 2, 4]),
        (b"a\r\nb\rc\n", [0, 3, 7]),
        (b"a\rb", [0, 3]),
        (b"\x0ca\x0b\x1c\xc2\x85b\n", [0, 8]),
    ],
)
def test_a_line_ends_with_a_newline_and_the_last_with_the_file(content: bytes, expected: list[int]) -> None:
    assert line_starts(content) == expected


@pytest.mark.parametrize("mark", [b"", MARK])
@pytest.mark.parametrize("ends", [(b"\n",), (b"\n", b"\r\n", b"\r")])
def test_lines_start_where_python_counts_them(mark: bytes, ends: tuple[bytes, ...]) -> None:
    rng = random.Random(3)
    content = mark + b"".join(b"name%d = '\x0c \xc3\xa9'" % number + rng.choice(ends) for number in range(60))
    starts = python_line_starts(content)
    for number, statement in enumerate(ast.parse(content).body):
        assert content[starts[statement.lineno] + statement.col_offset :].startswith(b"name%d =" % number)
