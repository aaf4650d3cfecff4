"""The native reader gives the same flow of a Python file as the Python reader, byte for byte."""

import ast
import random
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import from_json

import scrubjay
from scrubjay.code_index.facts.line_starts import python_line_starts
from scrubjay.code_index.graph.python_flow import build_flow
from scrubjay.code_index.parsing import python_native
from tests.code_index.graph.python_flow_sources import RARE_SOURCES, SOURCES

OWN = sorted(Path(scrubjay.__file__).parent.rglob("*.py"))[::3]
STANDARD = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::3]


def native_flow(content: bytes) -> bytes | None:
    facts = python_native.read(content)
    return facts.flow if facts is not None else None


def parsed(content: bytes) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def python_flow(content: bytes, module: ast.Module) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about string annotations
        return build_flow(content, module)


def fstring_spans(content: bytes, module: ast.Module) -> list[tuple[int, int]]:
    starts = python_line_starts(content)
    return [
        (starts[node.lineno] + node.col_offset, starts[node.end_lineno or 0] + (node.end_col_offset or 0))
        for node in ast.walk(module)
        if isinstance(node, ast.JoinedStr)
    ]


def is_same_except_in_fstrings(content: bytes, module: ast.Module, one: bytes, other: bytes) -> bool:
    """Return whether two flows differ at most in positions within f-strings, which older Pythons do not know."""
    texts = fstring_spans(content, module)
    left, known = from_json(one), from_json(other)
    for call, same in zip(left[3], known[3], strict=True):
        if any(start <= call[4] < end for start, end in texts):
            same[3:5] = call[3:5]
    return left == known and list(left[6]) == list(known[6])


def is_same(content: bytes) -> bool | None:
    """Return whether both readers agree; None if the file is declined or is not Python."""
    module, native = parsed(content), native_flow(content)
    if module is None or native is None:
        assert native is None, f"Python refuses this: {content!r}"
        return None
    expected = python_flow(content, module)
    return native == expected or is_same_except_in_fstrings(content, module, native, expected)


def assert_same(files: Iterable[Path], declined: int) -> None:
    """Check that all files give the same flow, except for at most `declined` percent that are declined."""
    results = {file: is_same(file.read_bytes()) for file in files}
    assert [file for file, same in results.items() if same is False] == []
    assert Counter(results.values())[None] * 100 <= len(results) * declined


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_both_readers_agree_on_each_kind_of_syntax(source: str):
    content = source.encode()
    module, native = parsed(content), native_flow(content)
    assert module is not None
    assert native is not None
    expected = python_flow(content, module)
    if native != expected:
        assert is_same_except_in_fstrings(content, module, native, expected), from_json(native)


@pytest.mark.parametrize("source", RARE_SOURCES.values(), ids=RARE_SOURCES)
def test_rare_syntax_gives_the_same_flow_or_is_declined(source: str):
    assert is_same(source.encode()) is not False


def test_both_readers_agree_on_our_sources():
    assert_same(OWN, declined=1)


def test_both_readers_agree_on_the_standard_library():
    assert_same(STANDARD, declined=10)


def mutants(seed: int) -> Iterator[bytes]:
    """Yield sources in which lines or words are swapped, removed or repeated."""
    rng = random.Random(seed)
    short = [source for source in SOURCES.values() if len(source) < 5_000]
    sources = [*short, *(file.read_text() for file in rng.sample(OWN, 5))]
    words = [word for source in short for word in source.split()]
    for source in sources:
        for _ in range(3):
            lines = source.split("\n")
            at, other = (rng.randrange(len(lines)) for _ in range(2))
            match rng.randrange(5):
                case 0:
                    lines[at], lines[other] = lines[other], lines[at]
                case 1:
                    lines.insert(at, lines[other])
                case 2:
                    lines[at] = lines[at].replace(rng.choice(words), rng.choice(words))
                case 3:
                    parts = lines[at].split(" ")
                    parts[rng.randrange(len(parts))] = rng.choice(words)
                    lines[at] = " ".join(parts)
                case _:
                    cut = rng.randrange(len(lines[at]) + 1)
                    lines[at] = lines[at][:cut] + rng.choice(" ()[]{}.,:=*'\"\\@#\té0x") + lines[at][cut:]
            yield "\n".join(lines).encode()


@pytest.mark.parametrize("seed", range(12))
def test_mutated_sources_give_the_same_flow_or_are_declined(seed: int):
    results: dict[bytes, Any] = {content: is_same(content) for content in mutants(seed)}
    assert [content for content, same in results.items() if same is False] == []
    assert Counter(results.values())[True] > len(results) // 3


@pytest.mark.parametrize(
    "source",
    [
        "x: type[()]\n",
        "x = a" + ".append(b)" * 40 + "\n",
        "if x: f()\n" + "elif y: g()\n" * 400,
        "".join(f"x{n} = 1\n" for n in range(5000)) + "if x: y = 1\n" * 5000,
    ],
    ids=["no type", "quadratic growth", "deep", "names and branches"],
)
def test_odd_deep_or_slow_sources_are_declined(source: str):
    assert native_flow(source.encode()) is None
