"""All that one file says by itself, read by its language's syntax."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scrubjay.code_index.models import FileFacts, Language, Problem, Symbol, UseKind
from scrubjay.code_index.parsing.languages import flow_of, parser_of, reader_of
from scrubjay.code_index.parsing.typescript import without_unknown_syntax

if TYPE_CHECKING:
    from tree_sitter import Tree

    from scrubjay.code_index.parsing.nodes import Findings
    from scrubjay.code_index.parsing.rust_macros import Macro


def read_facts(content: bytes, language: Language) -> FileFacts:
    """Read a file's definitions, imports and uses; of broken syntax what can be had, and where it is broken."""
    lines = lines_of(content)
    reader, flow = reader_of(language), flow_of(language)
    if reader is None:
        return FileFacts(language, lines, flow=flow(content, None) if flow is not None else b"")
    if language is Language.PYTHON:
        from scrubjay.code_index.parsing import python_native as python_compiled

        facts = python_compiled.read(content) or _read_by_python(content, lines)
        if facts is not None:
            return facts
    from scrubjay.code_index.parsing.nodes import Findings, problems_of

    tree, macros = _parsed(content, language)
    found = Findings(content, language)
    reader(tree, found)
    found.uses += [(UseKind.CALL, macro.name.replace("::", "."), macro.start, -1) for macro in macros]
    facts = _facts(language, lines, found, problems_of(tree, found), flow(content, tree) if flow is not None else b"")
    return replace(facts, symbols=[_within(macros, symbol) for symbol in facts.symbols]) if macros else facts


def tree_of(content: bytes, language: Language) -> "Tree":
    """The syntax of a file, with all that a grammar alone would not see in it."""
    return _parsed(content, language)[0]


def _within(macros: "Sequence[Macro]", symbol: Symbol) -> Symbol:
    """A definition that is decorated by the macros around it."""
    around = [macro for macro in macros if macro.start < symbol.span.start and symbol.span.end <= macro.end]
    return symbol._replace(decorators=(*(f"{macro.name}!" for macro in around), *symbol.decorators))


def _parsed(content: bytes, language: Language) -> "tuple[Tree, Sequence[Macro]]":
    """The same, and the macros that were taken from around definitions."""
    parse = parser_of(language).parse
    if language is Language.RUST:
        from scrubjay.code_index.parsing.rust_macros import with_items_of_macros

        return with_items_of_macros(content, parse)
    is_typescript = language in (Language.TYPESCRIPT, Language.TSX)
    return parse(without_unknown_syntax(content) if is_typescript else content), ()


def _read_by_python(content: bytes, lines: int) -> FileFacts | None:
    """The same by Python's own parser, which is faster; None where that cannot read it."""
    from scrubjay.code_index.parsing.python_syntax import parsed, read

    module = parsed(content)
    found = read(content, module) if module is not None else None
    if found is None:
        return None
    flow = flow_of(Language.PYTHON)
    return _facts(Language.PYTHON, lines, found, [], flow(content, module) if flow is not None else b"")


def _facts(language: Language, lines: int, found: "Findings", problems: Sequence[Problem], flow: bytes) -> FileFacts:
    symbols, imports, uses = found.in_order()
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


def lines_of(content: bytes) -> int:
    """How many lines it has."""
    return content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
