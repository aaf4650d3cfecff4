"""Rules for the languages that have a reader of their own."""

import subprocess
import sys
from dataclasses import replace

import pytest

from scrubjay.code_index.models import FileFacts, Import, Language, Problem, Span, Symbol, SymbolKind, Use, UseKind
from scrubjay.code_index.parsing.reader import read_facts

LANGUAGES = [
    Language.PYTHON,
    Language.JAVASCRIPT,
    Language.TYPESCRIPT,
    Language.TSX,
    Language.GO,
    Language.RUST,
]


def test_facts_hold_the_documentation_symbols_imports_and_uses_of_a_file():
    source = (
        b'"""Greets."""\n\nfrom .names import find as lookup\n\n\n'
        b"# Says it.\ndef greet(name):\n    return lookup(name)\n"
    )
    facts = read_facts(source, Language.PYTHON)
    assert replace(facts, flow=b"") == FileFacts(
        language=Language.PYTHON,
        lines=8,
        doc="Greets.",
        symbols=[
            Symbol(
                name="greet",
                kind=SymbolKind.FUNCTION,
                span=Span(51, 102, 6, 8),
                line=7,
                signature="def greet(name)",
                doc="Says it.",
            )
        ],
        imports=[Import(".names", "find", "lookup", 3)],
        uses=[Use(UseKind.CALL, "lookup", 8, 90, 0)],
        exports=[],
        problems=[],
    )


def test_plain_text_has_only_a_line_count():
    assert read_facts(b"one\ntwo", Language.TEXT) == FileFacts(Language.TEXT, 2)


def test_importing_the_reader_loads_no_grammar():
    program = "import scrubjay.code_index.parsing.reader, sys; print([m for m in sys.modules if 'tree_sitter' in m])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_readable_parts_of_a_broken_file_are_read_and_errors_are_listed():
    facts = read_facts(b"def good():\n    pass\n\nclass (:\n\ndef after():\n    pass\n", Language.PYTHON)
    assert [symbol.name for symbol in facts.symbols if symbol.kind is SymbolKind.FUNCTION] == ["good", "after"]
    assert facts.problems == [Problem(4, "invalid syntax")]


def test_at_most_twenty_problems_are_reported():
    assert len(read_facts(b"let = ;\n" * 200, Language.JAVASCRIPT).problems) == 20


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\xff\xfe\x00",
        b"\x00" * 100,
        b"(" * 10_000,
        b"a" + b".b" * 5_000,
        b"x = f" + b"(1)(2)" * 500,
        b"{[(" * 1_000,
        b"/*" + b" " * 100_000 + b"*/\nx = 1",
        b"@a\n" * 500,
    ],
    ids=["empty", "blank", "no utf-8", "nul", "brackets", "path", "calls", "mixed", "comment", "decorators"],
)
def test_no_content_makes_the_reader_fail(language: Language, content: bytes):
    facts = read_facts(content, language)
    assert facts.lines == content.count(b"\n") + (not content.endswith(b"\n") and content != b"")


@pytest.mark.parametrize(
    ("content", "first", "name"),
    [
        (b"\xef\xbb\xbfdef f():\r\n    pass\r\n", 3, "f"),
        ("größe = 1\ndef überall():\n    return größe\n".encode(), 12, "überall"),
        (b"x = '\xff\xff'\ndef g():\n    pass\n", 9, "g"),
    ],
    ids=["byte order mark and CRLF", "letters beyond ASCII", "no UTF-8"],
)
def test_positions_are_bytes_in_any_encoding(content: bytes, first: int, name: str):
    function = next(s for s in read_facts(content, Language.PYTHON).symbols if s.kind is SymbolKind.FUNCTION)
    assert (function.name, function.span.start) == (name, first)
    assert content[first:].startswith(b"def ")


def test_a_container_comes_before_what_it_contains():
    source = b"class A:\n    def f(self):\n        self.x = 1\n        def g():\n            pass\n    y = 2\n"
    symbols = read_facts(source, Language.PYTHON).symbols
    assert [(symbol.name, symbol.container) for symbol in symbols] == [
        ("A", -1),
        ("f", 0),
        ("x", 0),
        ("g", 1),
        ("y", 0),
    ]
    assert [symbol.span.start for symbol in symbols] == sorted(symbol.span.start for symbol in symbols)


def test_a_long_chain_of_calls_keeps_the_end_of_its_path():
    uses = read_facts(b"a" + b".b()" * 40, Language.PYTHON).uses
    assert len(uses) == 40
    assert uses[0].path == "a.b"
    assert uses[-1].path == "().b" * 8
