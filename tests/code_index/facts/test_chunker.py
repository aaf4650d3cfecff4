"""Files are cut into chunks along their definitions."""

import random
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scrubjay
from scrubjay.code_index.discovery.languages import language_by_name
from scrubjay.code_index.facts import chunk_arrays
from scrubjay.code_index.facts.chunk_arrays import cut_chunk_arrays
from scrubjay.code_index.facts.chunker import MAX_SIZE, cut_chunks
from scrubjay.code_index.models import Language, Span, Symbol, SymbolKind
from scrubjay.code_index.parsing.reader import read_facts

BLANK = b" \t\r\n\f\v"


class Chunk(NamedTuple):
    """A chunk with the names defined in it."""

    span: Span
    names: tuple[str, ...]
    symbol: int


def chunks_in(source: bytes, symbols: Sequence[Symbol]) -> list[Chunk]:
    """Return the chunks of a file; both implementations must agree."""
    spans, main_symbols, owners = cut_chunks(source, symbols)
    found = cut_chunk_arrays(source, symbols)
    assert [Span(*span) for span in found.spans.tolist()] == spans
    assert (found.symbols.tolist(), found.owners.tolist()) == (main_symbols, owners)
    named = [
        [symbol.name for symbol, owner in zip(symbols, owners, strict=True) if owner == i] for i in range(len(spans))
    ]
    return [
        Chunk(span, tuple(names), main_symbol)
        for span, names, main_symbol in zip(spans, named, main_symbols, strict=True)
    ]


def read(source: bytes, language: Language = Language.PYTHON) -> list[Chunk]:
    return chunks_in(source, read_facts(source, language).symbols)


def texts(source: bytes, chunks: list[Chunk]) -> list[bytes]:
    return [source[chunk.span.start : chunk.span.end] for chunk in chunks]


def function(name: str, lines: int) -> bytes:
    return f"def {name}():\n".encode() + b"    value = compute(1, 2, 3)\n" * lines + b"    return value\n"


def assert_complete(source: bytes, chunks: list[Chunk]) -> None:
    """Check that every byte that is not blank is in exactly one chunk, in order, with correct lines."""
    end = 0
    for chunk in chunks:
        assert chunk.span.start >= end
        assert not source[end : chunk.span.start].strip(BLANK)
        assert chunk.span.end - chunk.span.start <= MAX_SIZE
        assert chunk.span.first_line == source.count(b"\n", 0, chunk.span.start) + 1
        assert chunk.span.last_line == source.count(b"\n", 0, chunk.span.end - 1) + 1
        end = chunk.span.end
    assert not source[end:].strip(BLANK)


def test_small_neighbours_are_merged_into_one_chunk():
    source = b"import os\n\n\n" + function("one", 3) + b"\n\n" + function("two", 3)

    chunks = read(source)

    assert chunks == [Chunk(Span(0, len(source) - 1, 1, 15), ("one", "two"), 0)]


def test_a_chunk_begins_with_a_definition_and_the_comments_above_it():
    source = function("first", 45) + b"\n\n# Why it is so.\n@cached\n" + function("second", 45)

    chunks = read(source)

    assert [(chunk.names, chunk.symbol, chunk.span.first_line) for chunk in chunks] == [
        (("first",), 0, 1),
        (("second",), 1, 50),
    ]
    assert texts(source, chunks)[1].startswith(b"# Why it is so.\n@cached\ndef second")


def test_a_large_class_is_cut_at_its_methods_and_a_small_one_is_not():
    method = b"    def %b(self):\n" + b"        self.count(1, 2)\n" * 25 + b"\n"
    large = b'class Large:\n    """Much."""\n\n' + b"".join(method % name for name in (b"a", b"b", b"c"))
    small = b"class Small:\n    def d(self):\n" + b"        self.count(1, 2)\n" * 8

    chunks = read(large + b"\n\n" + small)

    assert [(chunk.names, chunk.symbol) for chunk in chunks] == [
        (("Large", "a", "b"), 0),
        (("c",), 3),
        (("Small", "d"), 4),
    ]


def test_a_large_function_is_cut_after_blank_lines_and_not_merged_with_others():
    block = b"    step = compute(1, 2, 3)\n" * 20 + b"\n"
    source = b"def large():\n" + block * 6 + b"\n\ndef small():\n    one()\n    return 2\n"

    chunks = read(source)

    assert_complete(source, chunks)
    assert [chunk.names for chunk in chunks] == [("large",), (), ("small",)]
    assert [chunk.symbol for chunk in chunks] == [0, 0, 1]
    assert all(source[chunk.span.end :].startswith(b"\n\n") for chunk in chunks[:-1])


def test_a_closing_bracket_is_not_a_chunk_of_its_own():
    body = b"  void %b() {\n" + b"    counter = counter + 1;\n" * 55 + b"  }\n"
    source = b"class Large {\n" + body % b"a" + body % b"b" + b"}\n"

    chunks = read(source, Language.JAVA)

    assert [chunk.names for chunk in chunks] == [("Large", "a"), ("b",)]
    assert texts(source, chunks)[1].endswith(b"  }\n}")


def test_a_file_without_definitions_is_cut_into_windows():
    source = b"".join(b"line %d of a text\n" % number for number in range(160))

    chunks = chunks_in(source, [])

    assert [(chunk.span.first_line, chunk.span.last_line) for chunk in chunks] == [(1, 50), (51, 100), (101, 160)]
    assert [(chunk.names, chunk.symbol) for chunk in chunks] == [((), -1)] * 3


def test_a_window_ends_at_a_nearby_blank_line():
    source = b"text\n" * 46 + b"\n" + b"text\n" * 60

    chunks = chunks_in(source, [])

    assert [(chunk.span.first_line, chunk.span.last_line) for chunk in chunks] == [(1, 46), (48, 107)]


def test_a_very_long_line_is_cut_between_characters():
    source = ("x = '" + "ä" * 5_000 + "'\n").encode()

    chunks = read(source)

    assert_complete(source, chunks)
    assert b"".join(texts(source, chunks)) == source.rstrip()
    assert [text.decode() for text in texts(source, chunks)]


@pytest.mark.parametrize("source", [b"", b"\n\n \n", b"x", b"\r\n", b"\xef\xbb\xbf", b"\xff\xfe\x00"])
def test_tiny_files_are_cut_completely(source: bytes):
    assert_complete(source, read(source))


@pytest.mark.parametrize("language", [Language.PYTHON, Language.JAVA, Language.TEXT])
def test_every_part_of_any_file_is_in_one_chunk(language: Language):
    rng = random.Random(7)
    pieces = [
        b"def f():\n",
        b"class A {\n",
        b"    x = 1\n",
        b"\n",
        b"}\n",
        b"  void g() {\n",
        b"y" * 900,
        b"\n",
        b"# note\r\n",
    ]
    for _ in range(10):
        source = b"".join(rng.choices(pieces, k=rng.randrange(300)))
        assert_complete(source, read(source, language))


# Texts that exercise all rules, and symbols anywhere in them.
LINES = st.sampled_from(
    [
        *(
            b"\n",
            b" \t\n",
            b"x = 1\n",
            b"    call(1, 2, 3)\n",
            b"}\n",
            b"  ])\n",
            b"# note\r\n",
            b"\f\n",
            b"\x1c\n",
            b"\x00\n",
        ),
        *(
            b"y" * 900,
            b"a, b; c } d " * 90,
            "ä".encode() * 700,
            b"\n" * 40,
            b"  z = compute(1, 2, 3)\n" * 30,
            b"word " * 30 + b"\n",
        ),
        *(b"    step\n" * 90 + b"\n", b"q" * 3000 + b"\n", b"\xff" * 20, b""),
    ]
)
SOURCES = st.lists(LINES, max_size=40).map(b"".join)
POSITIONS = st.lists(st.tuples(*[st.integers(0, 10**9)] * 4), max_size=12)


@given(SOURCES, POSITIONS, st.booleans())
def test_the_native_chunker_gives_the_same_chunks_as_python(
    source: bytes, positions: list[tuple[int, int, int, int]], sort: bool
):
    symbols: list[Symbol] = []
    for at, length, line, name in positions:
        start = at % (len(source) + 1)
        end = start + length % (len(source) - start + 1)
        first, last = source.count(b"\n", 0, start) + 1, source.count(b"\n", 0, end) + 1
        span = Span(start, end, first, last)
        symbols.append(Symbol("abc"[name % 3], SymbolKind.FUNCTION, span, first + line % (last - first + 2)))
    chunks_in(source, sorted(symbols, key=lambda symbol: symbol.span) if sort else symbols)


@pytest.mark.parametrize("folder", [Path(scrubjay.__file__).parent, Path(sysconfig.get_path("stdlib")) / "asyncio"])
def test_both_chunkers_agree_on_real_files(folder: Path):
    for path in sorted(folder.rglob("*")):
        language = language_by_name(path.name)
        if language is not None and path.is_file() and path.stat().st_size < 200_000:
            read(path.read_bytes(), language)


@pytest.mark.parametrize("span", [Span(-1, 3, 1, 1), Span(3, 2, 1, 1), Span(0, 99, 1, 5), Span(0, 2**40, 1, 5)])
def test_symbols_with_invalid_spans_are_left_to_python(span: Span, monkeypatch: pytest.MonkeyPatch):
    symbols = [Symbol("x", SymbolKind.FUNCTION, span, 1), Symbol("y", SymbolKind.CLASS, Span(0, 4, 1, 1), 0)]
    calls: list[bytes] = []

    def record_call(source: bytes, own: Sequence[Symbol]) -> object:
        calls.append(source)
        return cut_chunks(source, own)

    monkeypatch.setattr(chunk_arrays, "cut_chunks", record_call)
    chunks_in(b"some text\nof two lines\n", symbols[:1])
    chunks_in(b"some text\nof two lines\n", symbols[1:])
    assert calls == [b"some text\nof two lines\n"] * 2
