"""Parse code with holes: `$NAME` matches one node, `$$$NAME` any number of siblings, `$_` any node."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING

from scrubjay.code_index.facts.tokenizer import find_identifiers
from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.languages import load_parser
from scrubjay.core.errors import InvalidRequest

if TYPE_CHECKING:
    from tree_sitter import Node

_HOLE = re.compile(r"(?<![\w$])(?:\$\$\$(?P<many>[A-Z_][A-Z0-9_]*|)|\$(?P<one>[A-Z_][A-Z0-9_]*))(?![\w$])")
# Separators of siblings; a trailing one is optional.
_SEPARATORS = frozenset({",", ";"})
# Nodes that only group siblings: the siblings are matched, and a hole is one of them.
_CONTAINER_KINDS = frozenset(
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
# Deeper patterns are refused.
MAX_DEPTH = 100
# A hole is first parsed as a name. Where no name is allowed it is tried as a statement, a variable, a constant, a
# parameter, a call statement and a match arm.
_SPELLINGS = ("{0}", "{0};", "${0}", "{1}", "int {0}", "{0}: int", "{0}();", "{0} => 0,")
MAX_ATTEMPTS = 600
# Contexts for code that cannot stand alone: a function, a class, the right side of an assignment.
_CONTEXTS = {
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
_NEEDS_CONTEXT = frozenset({Language.PHP, Language.GO})
CODE_LANGUAGES = frozenset({*_CONTEXTS, Language.PYTHON, Language.RUBY, Language.BASH})


@dataclass(frozen=True, slots=True)
class Hole:
    """A placeholder that matches anything."""

    name: str
    """Holes with equal names must match equal code. Names that start with `_` match anything and are not captured."""
    many: bool


@dataclass(frozen=True, slots=True)
class NodePattern:
    """A node that must match."""

    kind: str
    named: bool
    text: bytes | None = None
    """Its text without whitespace, for a leaf; None when its children are matched."""
    parts: tuple["NodePattern | Hole", ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedPattern:
    """One way to parse a pattern: a node, followed by siblings if it has several."""

    first: NodePattern
    others: tuple[NodePattern | Hole, ...] = ()


def parse_pattern(pattern: str, language: Language) -> list[ParsedPattern]:
    """Return all ways to parse a pattern without syntax errors. Raises `InvalidRequest` when there is none."""
    if language not in CODE_LANGUAGES:
        known = ", ".join(sorted(CODE_LANGUAGES))
        raise InvalidRequest(f"language: {language.value} cannot be searched by structure", hint=f"use one of {known}")
    pattern = pattern.strip()
    if not _HOLE.sub("", pattern).strip():
        raise InvalidRequest("pattern: contains only holes", hint="add some code around them")
    holes = sum(1 for _ in _HOLE.finditer(pattern))
    contexts = _CONTEXTS.get(language, ())
    candidates = contexts if language in _NEEDS_CONTEXT else ("{0}", *contexts)
    found: dict[ParsedPattern, None] = {}
    # Mixed spellings are tried only when no uniform one parses: there are many combinations.
    for spellings in ([[spelling] * holes for spelling in _SPELLINGS], _mixed_spellings(holes)):
        for context in candidates:
            if (parsed := _parse_first(pattern, context, spellings, language)) is not None:
                found[parsed] = None
        if found:
            break
    if not found:
        raise InvalidRequest(
            f"pattern: is not valid {language.value}",
            hint="give a whole expression, statement or definition that starts with code, not with a hole; "
            "$NAME matches one node, $$$NAME several",
        )
    return list(found)


def pattern_identifiers(pattern: str) -> list[str]:
    """Return the identifiers that matching code must contain."""
    return list(dict.fromkeys(find_identifiers(_HOLE.sub(" ", pattern))))


class _SpelledPattern:
    """The source text that is parsed: the pattern in its context, with names in place of holes."""

    def __init__(self, pattern: str, context: str, spellings: Sequence[str]) -> None:
        self.holes: dict[tuple[int, int], Hole] = {}
        before, after = (part.format() for part in context.split("{0}"))
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


def _mixed_spellings(holes: int) -> list[Sequence[str]]:
    return list(islice(product(_SPELLINGS, repeat=holes), MAX_ATTEMPTS)) if holes > 1 else []


def _parse_first(
    pattern: str, context: str, spellings: Sequence[Sequence[str]], language: Language
) -> ParsedPattern | None:
    for spelling in spellings:
        if (parsed := _parse(_SpelledPattern(pattern, context, spelling), language)) is not None:
            return parsed
    return None


def _parse(spelled: _SpelledPattern, language: Language) -> ParsedPattern | None:
    root = load_parser(language).parse(spelled.code).root_node
    if root.has_error:
        return None
    nodes = [node for node in _covering_nodes(root, spelled.start, spelled.end) if not node.is_extra]
    parts = _without_separators([_to_node_pattern(node, spelled) for node in nodes])
    if not parts or not isinstance(first := parts[0], NodePattern) or not first.named:
        return None
    return ParsedPattern(first, tuple(parts[1:]))


def _covering_nodes(node: "Node", start: int, end: int) -> list["Node"]:
    """Return the innermost node that is the whole pattern, or the siblings that make it up."""
    whole: Node | None = None
    while True:
        if (node.start_byte, node.end_byte) == (start, end):
            whole = node
        inner = [child for child in node.children if child.start_byte <= start and end <= child.end_byte]
        if not inner:
            break
        node = inner[0]
    if whole is not None and whole.type not in _CONTAINER_KINDS:
        return [whole]
    return [child for child in node.children if start <= child.start_byte and child.end_byte <= end]


def _to_node_pattern(node: "Node", spelled: _SpelledPattern, depth: int = 0) -> NodePattern | Hole:
    if depth > MAX_DEPTH:
        raise InvalidRequest("pattern: is nested too deeply", hint="search for a smaller part of it")
    start, end = node.start_byte, node.end_byte
    if (hole := spelled.holes.get((start, end))) is not None and node.type not in _CONTAINER_KINDS:
        return hole
    if not node.named_child_count or not node.child_count:
        return NodePattern(node.type, node.is_named, remove_whitespace(spelled.code[start:end]))
    parts = [_to_node_pattern(child, spelled, depth + 1) for child in node.children if not child.is_extra]
    return NodePattern(node.type, node.is_named, None, tuple(_without_separators(parts)))


def _without_separators(parts: Sequence[NodePattern | Hole]) -> list[NodePattern | Hole]:
    return [part for part in parts if isinstance(part, Hole) or part.named or part.kind not in _SEPARATORS]


def remove_whitespace(text: bytes) -> bytes:
    return b"".join(text.split())
