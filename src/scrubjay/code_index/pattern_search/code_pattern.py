"""Reading code with holes: `$NAME` stands for one thing, `$$$NAME` for any number of neighbours, `$_` for whatever."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING

from scrubjay.code_index.facts.words import identifiers_of
from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.languages import parser_of
from scrubjay.core.errors import InvalidRequest

if TYPE_CHECKING:
    from tree_sitter import Node

_HOLE = re.compile(r"(?<![\w$])(?:\$\$\$(?P<many>[A-Z_][A-Z0-9_]*|)|\$(?P<one>[A-Z_][A-Z0-9_]*))(?![\w$])")
# What stands between parts, or behind the last of them or not.
_SEPARATORS = frozenset({",", ";"})
# Nodes that only hold neighbours together: the neighbours are looked for, and a hole is one of them.
_HOLDERS = frozenset(
    {
        "module",
        "program",
        "source_file",
        "compilation_unit",
        "translation_unit",
        "block",
        "statement_list",
        "statements",
        "body_statement",
        "argument_list",
    }
)
# Deeper ones are no code that anybody looks for.
DEEPEST = 100
# A hole is written as a name first. Where no name can stand it is tried as a statement, a variable, a constant, a
# parameter, a statement again, an arm of a match.
_SPELLINGS = ("{0}", "{0};", "${0}", "{1}", "int {0}", "{0}: int", "{0}();", "{0} => 0,")
MOST_TRIED = 600
# What stands around code that cannot stand alone: nothing, a function, a class, the right side of an assignment.
_AROUND = {
    Language.C: ("void f() {{ {0} }}", "void f() {{ {0}; }}"),
    Language.CPP: ("void f() {{ {0} }}", "void f() {{ {0}; }}", "class C {{ {0} }};"),
    Language.JAVA: ("class C {{ void m() {{ {0} }} }}", "class C {{ void m() {{ x({0}); }} }}", "class C {{ {0} }}"),
    Language.CSHARP: ("class C {{ void M() {{ {0} }} }}", "class C {{ void M() {{ F({0}); }} }}", "class C {{ {0} }}"),
    Language.GO: ("package p\nfunc f() {{\n{0}\n}}\n", "package p\n{0}\n"),
    Language.RUST: ("fn f() {{ {0} }}", "fn f() {{ {0}; }}", "impl C {{ {0} }}"),
    Language.PHP: ("<?php\n{0}\n", "<?php\n{0};\n", "<?php\nclass C {{ {0} }}\n"),
    Language.KOTLIN: ("fun f() {{\n{0}\n}}\n", "class C {{\n{0}\n}}\n"),
    Language.SWIFT: ("func f() {{\n{0}\n}}\n", "class C {{\n{0}\n}}\n"),
    Language.SCALA: ("object C {{\n{0}\n}}\n", "object C {{ def f = {{\n{0}\n}} }}\n"),
    Language.JAVASCRIPT: ("({0})", "class C {{ {0} }}", "async function f() {{ {0} }}"),
    Language.TYPESCRIPT: ("({0})", "class C {{ {0} }}", "async function f() {{ {0} }}"),
    Language.TSX: ("({0})", "class C {{ {0} }}", "async function f() {{ {0} }}"),
}
_NEEDS_AROUND = frozenset({Language.PHP, Language.GO})
CODE_LANGUAGES = frozenset({*_AROUND, Language.PYTHON, Language.RUBY, Language.BASH})


@dataclass(frozen=True, slots=True)
class Hole:
    """What may be anything."""

    name: str
    """What begins with an underscore may be something else each time, and is not told."""
    many: bool


@dataclass(frozen=True, slots=True)
class Form:
    """A node of a tree that is looked for."""

    kind: str
    named: bool
    text: bytes | None = None
    """What it is as a whole, without blanks; None when its parts are looked for."""
    parts: tuple["Form | Hole", ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a pattern: a node, or several that are neighbours."""

    first: Form
    others: tuple[Form | Hole, ...] = ()


def readings_of(pattern: str, language: Language) -> list[Reading]:
    """All ways to read a pattern that are without a mistake."""
    if language not in CODE_LANGUAGES:
        known = ", ".join(sorted(CODE_LANGUAGES))
        raise InvalidRequest(f"language: {language.value} has no structure to look for", hint=f"one of {known}")
    pattern = pattern.strip()
    if not _HOLE.sub("", pattern).strip():
        raise InvalidRequest("pattern: is nothing but holes", hint="say something of the code around them")
    holes = sum(1 for _ in _HOLE.finditer(pattern))
    arounds = _AROUND.get(language, ())
    tried = arounds if language in _NEEDS_AROUND else ("{0}", *arounds)
    found: dict[Reading, None] = {}
    # Holes in places of different sorts are tried only where nothing simpler can be read: there are many ways.
    for spellings in ([[spelling] * holes for spelling in _SPELLINGS], _mixed(holes)):
        for around in tried:
            if (reading := _first_reading(pattern, around, spellings, language)) is not None:
                found[reading] = None
        if found:
            break
    if not found:
        raise InvalidRequest(
            f"pattern: cannot be read as {language.value}",
            hint="give a whole expression, statement or definition, which begins with code and not with a hole alone; "
            "$NAME stands for one thing, $$$NAME for several",
        )
    return list(found)


def words_of_pattern(pattern: str) -> list[str]:
    """The identifiers that code must have in order to match."""
    return list(dict.fromkeys(identifiers_of(_HOLE.sub(" ", pattern))))


class _Spelled:
    """The pattern with names in the place of holes, as it is parsed."""

    def __init__(self, pattern: str, around: str, spellings: Sequence[str]) -> None:
        self.holes: dict[tuple[int, int], Hole] = {}
        before, after = (part.format() for part in around.split("{0}"))
        whole = bytearray(before.encode())
        self.start = len(whole)
        end = 0
        for number, found in enumerate(_HOLE.finditer(pattern)):
            whole += pattern[end : found.start()].encode()
            start = len(whole)
            whole += spellings[number].format(f"rclhole{number}", f"Rclhole{number}").encode()
            many = found["one"] is None
            self.holes[start, len(whole)] = Hole((found["many"] or "_") if many else found["one"], many)
            end = found.end()
        whole += pattern[end:].encode()
        self.end = len(whole)
        self.code = bytes(whole + after.encode())

    def has_hole(self, start: int, end: int) -> bool:
        return any(start <= first and last <= end for first, last in self.holes)


def _mixed(holes: int) -> list[Sequence[str]]:
    return list(islice(product(_SPELLINGS, repeat=holes), MOST_TRIED)) if holes > 1 else []


def _first_reading(pattern: str, around: str, spellings: Sequence[Sequence[str]], language: Language) -> Reading | None:
    for spelling in spellings:
        if (reading := _read(_Spelled(pattern, around, spelling), language)) is not None:
            return reading
    return None


def _read(spelled: _Spelled, language: Language) -> Reading | None:
    root = parser_of(language).parse(spelled.code).root_node
    if root.has_error:
        return None
    nodes = [node for node in _covering(root, spelled.start, spelled.end) if not node.is_extra]
    forms = _without_separators([_form(node, spelled) for node in nodes])
    if not forms or not isinstance(first := forms[0], Form) or not first.named:
        return None
    return Reading(first, tuple(forms[1:]))


def _covering(node: "Node", start: int, end: int) -> list["Node"]:
    """The innermost node that is the pattern as a whole, or the neighbours that are it together."""
    whole: Node | None = None
    while True:
        if (node.start_byte, node.end_byte) == (start, end):
            whole = node
        inner = [child for child in node.children if child.start_byte <= start and end <= child.end_byte]
        if not inner:
            break
        node = inner[0]
    if whole is not None and whole.type not in _HOLDERS:
        return [whole]
    return [child for child in node.children if start <= child.start_byte and child.end_byte <= end]


def _form(node: "Node", spelled: _Spelled, depth: int = 0) -> Form | Hole:
    if depth > DEEPEST:
        raise InvalidRequest("pattern: is nested too deep", hint="look for a smaller part of it")
    start, end = node.start_byte, node.end_byte
    if (hole := spelled.holes.get((start, end))) is not None and node.type not in _HOLDERS:
        return hole
    if not node.named_child_count or not node.child_count:
        return Form(node.type, node.is_named, without_blanks(spelled.code[start:end]))
    parts = [_form(child, spelled, depth + 1) for child in node.children if not child.is_extra]
    return Form(node.type, node.is_named, None, tuple(_without_separators(parts)))


def _without_separators(forms: Sequence[Form | Hole]) -> list[Form | Hole]:
    return [form for form in forms if isinstance(form, Hole) or form.named or form.kind not in _SEPARATORS]


def without_blanks(text: bytes) -> bytes:
    return b"".join(text.split())
