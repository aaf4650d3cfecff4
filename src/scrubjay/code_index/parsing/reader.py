"""Reads the facts of one file by the syntax of its language."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scrubjay.code_index.models import FileFacts, Language, Problem, Symbol, UseKind
from scrubjay.code_index.parsing import python_native, python_recovery, python_syntax
from scrubjay.code_index.parsing.languages import load_flow_function, load_parser, load_tree_reader
from scrubjay.code_index.parsing.nodes import Findings, find_syntax_errors
from scrubjay.code_index.parsing.rust_macros import parse_with_macro_items
from scrubjay.code_index.parsing.typescript import blank_unsupported_syntax

if TYPE_CHECKING:
    from tree_sitter import Tree

    from scrubjay.code_index.parsing.rust_macros import Macro


def read_facts(content: bytes, language: Language) -> FileFacts:
    """Read a file's definitions, imports and uses.

    Broken files are read as far as possible, and their errors are listed.
    """
    lines = count_lines(content)
    if language is Language.PYTHON:
        return python_native.read(content) or _read_python(content, lines)
    reader, flow = load_tree_reader(language), load_flow_function(language)
    if reader is None:
        return FileFacts(language, lines, flow=flow(content, None) if flow is not None else b"")
    tree, macros = _parse_with_macros(content, language)
    found = Findings(content, language)
    reader(tree, found)
    found.uses += [(UseKind.CALL, macro.name.replace("::", "."), macro.start, -1) for macro in macros]
    facts = _facts(
        language, lines, found, find_syntax_errors(tree, found), flow(content, tree) if flow is not None else b""
    )
    return (
        replace(facts, symbols=[_with_macro_decorators(macros, symbol) for symbol in facts.symbols])
        if macros
        else facts
    )


def parse_tree(content: bytes, language: Language) -> "Tree":
    """Parse a file, including what needs more than the grammar, such as definitions within Rust macros."""
    return _parse_with_macros(content, language)[0]


def _with_macro_decorators(macros: "Sequence[Macro]", symbol: Symbol) -> Symbol:
    """Add the macros around a definition to its decorators."""
    around = [macro for macro in macros if macro.start < symbol.span.start and symbol.span.end <= macro.end]
    return symbol._replace(decorators=(*(f"{macro.name}!" for macro in around), *symbol.decorators))


def _parse_with_macros(content: bytes, language: Language) -> "tuple[Tree, Sequence[Macro]]":
    """Return the syntax tree and the macros that were removed from around definitions."""
    parse = load_parser(language).parse
    if language is Language.RUST:
        return parse_with_macro_items(content, parse)
    is_typescript = language in (Language.TYPESCRIPT, Language.TSX)
    return parse(blank_unsupported_syntax(content) if is_typescript else content), ()


def _read_python(content: bytes, lines: int) -> FileFacts:
    """Read a Python file with `ast`; broken syntax is repaired first."""
    module, problems = python_recovery.parse(content), list[Problem]()
    if module is None:
        recovered = python_recovery.recover(content)
        if recovered is None:
            return FileFacts(Language.PYTHON, lines, problems=[Problem(0, "no statement could be parsed")])
        module, problems = recovered.module, [*recovered.problems]
    found = python_syntax.read(content, module)
    flow = load_flow_function(Language.PYTHON)
    return _facts(
        Language.PYTHON, lines, found, problems + found.problems, flow(content, module) if flow is not None else b""
    )


def _facts(language: Language, lines: int, found: "Findings", problems: Sequence[Problem], flow: bytes) -> FileFacts:
    symbols, imports, uses = found.sorted_facts()
    return FileFacts(
        language=language,
        lines=lines,
        doc=found.doc,
        symbols=symbols,
        imports=imports,
        uses=uses,
        exports=found.exports,
        problems=problems,
        flow=flow,
    )


def count_lines(content: bytes) -> int:
    """Return the number of lines."""
    return content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
