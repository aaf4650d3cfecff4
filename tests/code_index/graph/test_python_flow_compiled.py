"""What is compiled finds the same flow of values in a Python file as Python does, to the byte."""

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
from scrubjay.code_index.graph.python_flow import flow_of
from scrubjay.code_index.parsing import python_native as python_compiled
from tests.code_index.graph.python_flow_sources import RARE_SOURCES, SOURCES

OWN = sorted(Path(scrubjay.__file__).parent.rglob("*.py"))[::3]
STANDARD = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::3]


def compiled(content: bytes) -> bytes | None:
    facts = python_compiled.read(content)
    return facts.flow if facts is not None else None


def parsed(content: bytes) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def by_python(content: bytes, module: ast.Module) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of texts that are annotations
        return flow_of(content, module)


def formatted_texts(content: bytes, module: ast.Module) -> list[tuple[int, int]]:
    starts = python_line_starts(content)
    return [
        (starts[node.lineno] + node.col_offset, starts[node.end_lineno or 0] + (node.end_col_offset or 0))
        for node in ast.walk(module)
        if isinstance(node, ast.JoinedStr)
    ]


def same_but_places_in_texts(content: bytes, module: ast.Module, one: bytes, other: bytes) -> bool:
    """An older Python does not know where in a formatted text a value is. Anything else is the same."""
    texts = formatted_texts(content, module)
    told, known = from_json(one), from_json(other)
    for call, same in zip(told[3], known[3], strict=True):
        if any(start <= call[4] < end for start, end in texts):
            same[3:5] = call[3:5]
    return told == known and list(told[6]) == list(known[6])


def is_same(content: bytes) -> bool | None:
    """None when it is declined, or not Python."""
    module, found = parsed(content), compiled(content)
    if module is None or found is None:
        assert found is None, f"Python refuses this: {content!r}"
        return None
    wanted = by_python(content, module)
    return found == wanted or same_but_places_in_texts(content, module, found, wanted)


def assert_same(files: Iterable[Path], declined: int) -> None:
    """No more than some percent of them are declined, and all others are the same."""
    seen = {file: is_same(file.read_bytes()) for file in files}
    assert [file for file, same in seen.items() if same is False] == []
    assert Counter(seen.values())[None] * 100 <= len(seen) * declined


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_each_kind_of_syntax_comes_to_the_same(source: str):
    content = source.encode()
    module, found = parsed(content), compiled(content)
    assert module is not None
    assert found is not None
    wanted = by_python(content, module)
    if found != wanted:  # the places in formatted texts, at most
        assert same_but_places_in_texts(content, module, found, wanted), from_json(found)


@pytest.mark.parametrize("source", RARE_SOURCES.values(), ids=RARE_SOURCES)
def test_what_is_rare_comes_to_the_same_or_is_declined(source: str):
    assert is_same(source.encode()) is not False


def test_own_sources_come_to_the_same():
    assert_same(OWN, declined=1)


def test_standard_library_comes_to_the_same():
    assert_same(STANDARD, declined=10)


def mutants(seed: int) -> Iterator[bytes]:
    """Sources in which lines or words have changed places, gone or come twice."""
    chance = random.Random(seed)
    short = [source for source in SOURCES.values() if len(source) < 5_000]
    sources = [*short, *(file.read_text() for file in chance.sample(OWN, 5))]
    words = [word for source in short for word in source.split()]
    for source in sources:
        for _ in range(3):
            lines = source.split("\n")
            at, other = (chance.randrange(len(lines)) for _ in range(2))
            match chance.randrange(5):
                case 0:
                    lines[at], lines[other] = lines[other], lines[at]
                case 1:
                    lines.insert(at, lines[other])
                case 2:
                    lines[at] = lines[at].replace(chance.choice(words), chance.choice(words))
                case 3:
                    parts = lines[at].split(" ")
                    parts[chance.randrange(len(parts))] = chance.choice(words)
                    lines[at] = " ".join(parts)
                case _:
                    cut = chance.randrange(len(lines[at]) + 1)
                    lines[at] = lines[at][:cut] + chance.choice(" ()[]{}.,:=*'\"\\@#\té0x") + lines[at][cut:]
            yield "\n".join(lines).encode()


@pytest.mark.parametrize("seed", range(12))
def test_changed_sources_come_to_the_same_or_are_declined(seed: int):
    seen: dict[bytes, Any] = {content: is_same(content) for content in mutants(seed)}
    assert [content for content, same in seen.items() if same is False] == []
    assert Counter(seen.values())[True] > len(seen) // 3


@pytest.mark.parametrize(
    "source",
    [
        "x: type[()]\n",
        "x = a" + ".append(b)" * 40 + "\n",
        "if x: f()\n" + "elif y: g()\n" * 400,
        "".join(f"x{n} = 1\n" for n in range(5000)) + "if x: y = 1\n" * 5000,
    ],
    ids=["no type", "growth of growth", "deep", "names and branches"],
)
def test_what_is_odd_deep_or_takes_long_is_declined(source: str):
    assert compiled(source.encode()) is None
