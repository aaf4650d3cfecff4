"""Rules for all languages that are read by tables, or only for their structure."""

import subprocess
import sys

import pytest

from scrubjay.code_index.models import Language, Problem
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

LANGUAGES = [
    Language.JAVA,
    Language.C,
    Language.CPP,
    Language.CSHARP,
    Language.RUBY,
    Language.PHP,
    Language.KOTLIN,
    Language.SWIFT,
    Language.SCALA,
    Language.BASH,
    Language.MARKDOWN,
    Language.JSON,
    Language.YAML,
    Language.SQL,
    Language.HTML,
    Language.CSS,
]
ODD_CONTENTS = {
    "nothing": b"",
    "a line end": b"\r\n",
    "only a byte order mark": b"\xef\xbb\xbf",
    "not text": bytes(range(256)) * 4,
    "brackets": b"({[" * 200,
    "calls within calls": b"f(" * 300,
    "a chain of calls": b"x = a" + b".b()" * 300,
    "a chain of names": b"a::" * 300 + b"b; a" + b".b" * 300,
    "classes within classes": b"class A { void f() { " * 100,
    "elements within elements": b"<div id=a>" * 300,
    "headings": b"# a\n## b\n\n" * 300,
    "one line": b"x = 1; " * 1_000,
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("content", ODD_CONTENTS.values(), ids=ODD_CONTENTS)
def test_no_content_makes_the_reader_fail(language: Language, content: bytes):
    facts = read_facts(content, language)

    assert all(symbol.name and symbol.span.start < symbol.span.end for symbol in facts.symbols)
    assert all(symbol.span.first_line <= symbol.line <= symbol.span.last_line for symbol in facts.symbols)
    assert all(symbol.container < index for index, symbol in enumerate(facts.symbols))
    assert all(use.path and 0 <= use.start < len(content) for use in facts.uses)
    assert all(len(use.path) < 1_000 for use in facts.uses)


def test_the_readable_parts_of_a_broken_file_are_read_and_errors_are_listed():
    source = b"class A {\n  void good() { help(); }\n  void ((( {\n  }\n}\n"

    facts = read_facts(source, Language.JAVA)

    assert [symbol.name for symbol in facts.symbols] == ["A", "good"]
    assert [use.path for use in facts.uses][:1] == ["help"]
    assert [type(problem) for problem in facts.problems] == [Problem] * len(facts.problems)
    assert facts.problems[0].line in (2, 3)


def test_a_definition_without_a_name_is_skipped_but_its_content_is_read():
    facts = read_facts(b"class A {\n  void () { help(); }\n}\n", Language.JAVA)

    assert [(symbol.name, symbol.container) for symbol in facts.symbols] == [("A", -1)]
    assert [(use.path, use.container) for use in facts.uses] == [("help", 0)]
    assert facts.problems == [Problem(2, "identifier is missing")]


def test_other_line_endings_change_only_positions():
    source = b"/** Says. */\nclass A {\n  // Adds.\n  int add(int a) {\n    return help(a);\n  }\n}\n"

    here, there = read_facts(source, Language.JAVA), read_facts(source.replace(b"\n", b"\r\n"), Language.JAVA)

    assert [symbol._replace(span=symbol.span._replace(start=0, end=0)) for symbol in there.symbols] == [
        symbol._replace(span=symbol.span._replace(start=0, end=0)) for symbol in here.symbols
    ]
    assert [use._replace(start=0) for use in there.uses] == [use._replace(start=0) for use in here.uses]


LICENSED = """\
// Copyright of somebody. Licensed as is.

// Keeps what was ordered.

package orders;

// One order.
class Order {
}
"""


def test_a_license_is_not_the_documentation_of_a_file():
    assert (
        as_text(read_facts(LICENSED.encode(), Language.JAVA))
        == """\
java 9 Keeps what was ordered.
0 module orders 5-5@5 71:86 in -1
    package orders
1 class Order 7-9@8 88:117 in -1
    class Order
    says One order."""
    )


def test_positions_in_text_beyond_ascii_are_bytes():
    source = "// Größe.\nclass Größe { void f() { ä.ö(); Größe g = null; } }\n".encode()

    facts = read_facts(source, Language.JAVA)

    assert [(symbol.name, symbol.doc) for symbol in facts.symbols] == [("Größe", "Größe."), ("f", "")]
    assert [(use.path, source[use.start :].decode()[:2]) for use in facts.uses] == [("ä.ö", "ö("), ("Größe", "Gr")]


def test_grammars_and_numpy_are_loaded_on_first_use():
    program = (
        "import sys, scrubjay.code_index.facts.tokenizer, scrubjay.code_index.facts.chunker;"
        "import scrubjay.code_index.parsing.reader;"
        "print([name for name in sys.modules if name.startswith(('tree_sitter', 'numpy', 'Stemmer'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
