"""Python's own parser: the same facts as by the grammar."""

import ast
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrubjay.code_index.models import Import, Language, Span, SymbolKind, UseKind
from scrubjay.code_index.parsing import python, python_syntax
from scrubjay.code_index.parsing.languages import parser_of
from scrubjay.code_index.parsing.nodes import Findings
from scrubjay.code_index.parsing.reader import read_facts

LIBRARY = Path(json.__file__).parent.parent


def by_grammar(content: bytes) -> Findings:
    found = Findings(content, Language.PYTHON)
    python.read(parser_of(Language.PYTHON).parse(content), found)
    return found


def by_python(content: bytes) -> Findings:
    module = python_syntax.parsed(content)
    assert module is not None
    found = python_syntax.read(content, module)
    assert found is not None
    return found


def told(found: Findings) -> Iterator[object]:
    """What both must say alike: all but comments, which the grammar takes for code here and there."""
    symbols, imports, uses = found.in_order()
    yield [(each.name, each.kind, each.line, each.container, each.exported, each.bases) for each in symbols]
    yield imports
    yield found.exports
    yield Counter(uses)


@pytest.mark.parametrize("package", ["json", "http", "logging", "concurrent/futures", "wsgiref", "dbm"])
def test_python_and_the_grammar_tell_the_same_of_the_standard_library(package: str) -> None:
    for path in sorted((LIBRARY / package).glob("*.py")):
        content = path.read_bytes()
        assert [*told(by_python(content))] == [*told(by_grammar(content))], path.name


@pytest.mark.parametrize(
    "content",
    [
        "# -*- coding: latin-1 -*-\nname = 'ü'\ndef f(): pass\n".encode("latin-1"),
        b"# coding: cp1252\n# \xc3\xa9\ndef f(): pass\n",
    ],
)
def test_what_is_counted_in_another_encoding_is_left_to_the_grammar(content: bytes) -> None:
    assert python_syntax.parsed(content) is None
    assert [symbol.name for symbol in read_facts(content, Language.PYTHON).symbols][-1] == "f"


def test_what_is_nested_too_deep_is_left_to_the_grammar() -> None:
    content = b"def f():\n    return " + b"+".join([b"value()"] * 2000) + b"\n"
    module = ast.parse(content)
    assert python_syntax.read(content, module) is None
    uses = read_facts(content, Language.PYTHON).uses
    assert [(use.kind, use.path) for use in uses] == [(UseKind.CALL, "value")] * 2000


def test_what_is_newer_than_the_reader_is_left_to_the_grammar() -> None:
    content = b"def f[T](value: T) -> T: ...\ntype Pair[T] = tuple[T, T]\n"
    module = python_syntax.parsed(content)
    assert module is None or python_syntax.read(content, module) is None
    assert [symbol.name for symbol in read_facts(content, Language.PYTHON).symbols] == ["f", "Pair"]


def test_comments_above_a_definition_say_what_it_is_and_texts_do_not() -> None:
    content = b'''\
class K:
    # Where it is kept.
    place = 1
    other, second = 1, 2
    text = """
# not a comment
"""
    # Runs
    # far.
    @decorated  # by hand
    def run(self):  # noqa
        # Kept.
        self.kept = 1

    # Of nothing.

    def stop(self): ...
'''
    symbols = by_python(content).in_order()[0]
    assert {symbol.name: symbol.doc for symbol in symbols} == {
        "K": "",
        "place": "Where it is kept.",
        "other": "",
        "second": "",
        "text": "",
        "run": "Runs\nfar.",
        "kept": "Kept.",
        "stop": "",
    }
    run = next(symbol for symbol in symbols if symbol.name == "run")
    assert run.span == Span(content.index(b"# Runs"), content.index(b"self.kept = 1") + 13, 8, 13)
    assert run.decorators == ("decorated",)
    assert run.line == 11


def test_places_are_counted_in_bytes_from_the_beginning_of_the_file() -> None:
    content = "\ufeffübung = größe()\r\nname = 'ß'; call(name)\r\n".encode()
    symbols, _, uses = by_python(content).in_order()
    assert [(symbol.name, content[symbol.span.start : symbol.span.end].decode()) for symbol in symbols] == [
        ("übung", "übung = größe()"),
        ("name", "name = 'ß'"),
    ]
    assert [(use.path, use.line, content[use.start :].decode()[:4]) for use in uses] == [
        ("größe", 1, "größ"),
        ("call", 2, "call"),
        ("name", 2, "name"),
    ]


def test_a_use_within_a_text_is_told_where_it_stands() -> None:
    content = b'def f():\n    return f"""\n  {first(1)}\n  and {other.second!r:>{width}}\n"""\n'
    assert [
        (use.kind, use.path, use.line, content[use.start : use.start + 6]) for use in by_python(content).in_order()[2]
    ] == [
        (UseKind.CALL, "first", 3, b"first("),
        (UseKind.READ, "other.second", 4, b"second"),
        (UseKind.READ, "width", 4, b"width}"),
    ]


def test_what_match_binds_is_no_use_and_what_it_names_is() -> None:
    content = b"""\
def f(value):
    match value:
        case Point(x=0, y=made) | Line(made):
            return made
        case [first, *rest] if check(first):
            return rest
        case {Key.NAME: found, **others}:
            return found, others
        case Colour.RED as colour:
            return colour
        case _:
            return fallback
"""
    assert [(use.kind, use.path, use.line) for use in by_python(content).in_order()[2]] == [
        (UseKind.TYPE, "Point", 3),
        (UseKind.TYPE, "Line", 3),
        (UseKind.CALL, "check", 5),
        (UseKind.READ, "Key.NAME", 7),
        (UseKind.READ, "Colour.RED", 9),
        (UseKind.READ, "fallback", 12),
    ]


def test_imports_by_a_text_and_lists_of_exports_are_taken() -> None:
    content = b"""\
from importlib import import_module
__all__ = ["one"] + ["two"]
__all__ += ("three",)
__all__.append("four")
def one(): import_module("package.inner")
def hidden(): ...
"""
    found = by_python(content)
    symbols, imports, uses = found.in_order()
    assert found.exports == [("one", "one"), ("two", "two"), ("three", "three"), ("four", "four")]
    assert [symbol.name for symbol in symbols if symbol.exported] == ["one"]
    assert imports == [
        Import("importlib", "import_module", "", 1),
        Import("package.inner", line=5, container=1),
    ]
    assert [(use.kind, use.path) for use in uses] == [
        (UseKind.CALL, "__all__.append"),
        (UseKind.CALL, "import_module"),
    ]
    assert symbols[0].kind is SymbolKind.VARIABLE
