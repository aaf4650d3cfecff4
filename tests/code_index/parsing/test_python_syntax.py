"""The Python reader, which parses with `ast`."""

import pytest

from scrubjay.code_index.models import FileFacts, Import, Language, Span, SymbolKind, UseKind
from scrubjay.code_index.parsing import python_recovery, python_syntax
from scrubjay.code_index.parsing.nodes import Findings
from scrubjay.code_index.parsing.reader import read_facts
from scrubjay.native.library import use_library


def facts_by_python(content: bytes) -> FileFacts:
    """Read a file without the native reader."""
    use_library(False)
    try:
        return read_facts(content, Language.PYTHON)
    finally:
        use_library(True)


def findings_by_python(content: bytes) -> Findings:
    module = python_recovery.parse(content)
    assert module is not None
    return python_syntax.read(content, module)


@pytest.mark.parametrize(
    "content",
    [
        "# -*- coding: latin-1 -*-\nname = 'ü'\ndef f(): pass\n".encode("latin-1"),
        b"# coding: cp1252\n# \xc3\xa9\ndef f(): pass\n",
    ],
)
def test_a_file_in_another_encoding_is_read_with_positions_in_its_own_bytes(content: bytes) -> None:
    assert python_recovery.parse(content) is None
    assert [symbol.name for symbol in read_facts(content, Language.PYTHON).symbols][-1] == "f"


def test_a_sum_of_thousands_of_terms_is_read_in_full() -> None:
    content = b"def f():\n    return " + b"+".join([b"value()"] * 2000) + b"\n"
    uses = read_facts(content, Language.PYTHON).uses
    assert [(use.kind, use.path) for use in uses] == [(UseKind.CALL, "value")] * 2000


def test_hundreds_of_elif_clauses_are_read_in_full() -> None:
    clauses = "".join(f"    elif value == {number}:\n        call_{number}()\n" for number in range(600))
    facts = read_facts(f"def f(value):\n    if value:\n        pass\n{clauses}".encode(), Language.PYTHON)
    assert [use.path for use in facts.uses] == [f"call_{number}" for number in range(600)]


def test_a_statement_that_is_nested_too_deeply_is_reported_and_the_rest_is_read() -> None:
    content = b"def f():\n    value" + b".a(1)" * 900 + b"\n\ndef g():\n    call()\n"
    facts = facts_by_python(content)
    assert [symbol.name for symbol in facts.symbols] == ["f", "g"]
    assert facts.uses[-1].path == "call"
    assert [problem.line for problem in facts.problems] == [2]


def test_syntax_that_is_newer_than_python_3_11_is_read() -> None:
    content = b"def f[T](value: T) -> T: ...\ntype Pair[T] = tuple[T, T]\n"
    assert [symbol.name for symbol in read_facts(content, Language.PYTHON).symbols] == ["f", "Pair"]


def test_comments_above_a_definition_document_it_and_strings_do_not() -> None:
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
    symbols = findings_by_python(content).sorted_facts()[0]
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


def test_positions_are_bytes_from_the_start_of_the_file() -> None:
    content = "\ufeffübung = größe()\r\nname = 'ß'; call(name)\r\n".encode()
    symbols, _, uses = findings_by_python(content).sorted_facts()
    assert [(symbol.name, content[symbol.span.start : symbol.span.end].decode()) for symbol in symbols] == [
        ("übung", "übung = größe()"),
        ("name", "name = 'ß'"),
    ]
    assert [(use.path, use.line, content[use.start :].decode()[:4]) for use in uses] == [
        ("größe", 1, "größ"),
        ("call", 2, "call"),
        ("name", 2, "name"),
    ]


def test_a_use_in_an_f_string_has_its_actual_position() -> None:
    content = b'def f():\n    return f"""\n  {first(1)}\n  and {other.second!r:>{width}}\n"""\n'
    assert [
        (use.kind, use.path, use.line, content[use.start : use.start + 6])
        for use in findings_by_python(content).sorted_facts()[2]
    ] == [
        (UseKind.CALL, "first", 3, b"first("),
        (UseKind.READ, "other.second", 4, b"second"),
        (UseKind.READ, "width", 4, b"width}"),
    ]


def test_names_bound_by_match_are_not_uses_and_other_names_are() -> None:
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
    assert [(use.kind, use.path, use.line) for use in findings_by_python(content).sorted_facts()[2]] == [
        (UseKind.TYPE, "Point", 3),
        (UseKind.TYPE, "Line", 3),
        (UseKind.CALL, "check", 5),
        (UseKind.READ, "Key.NAME", 7),
        (UseKind.READ, "Colour.RED", 9),
        (UseKind.READ, "fallback", 12),
    ]


def test_imports_by_string_and_lists_of_exports_are_read() -> None:
    content = b"""\
from importlib import import_module
__all__ = ["one"] + ["two"]
__all__ += ("three",)
__all__.append("four")
def one(): import_module("package.inner")
def hidden(): ...
"""
    found = findings_by_python(content)
    symbols, imports, uses = found.sorted_facts()
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
