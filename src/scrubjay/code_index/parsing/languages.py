"""Which module reads which language, loaded when it is first needed."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from scrubjay.code_index.models import Language

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser, Tree

    from scrubjay.code_index.parsing.nodes import Findings

Reader = Callable[["Tree", "Findings"], None]
"""Puts what a tree says into the findings."""
Flow = Callable[[bytes, Any], bytes]
"""Makes what a language's own resolver of calls needs of a file's content and its syntax."""

_READERS = {
    Language.PYTHON: "python",
    Language.JAVASCRIPT: "javascript",
    Language.TYPESCRIPT: "javascript",
    Language.TSX: "javascript",
    Language.GO: "go",
    Language.RUST: "rust",
    Language.JAVA: "java",
    Language.C: "c",
    Language.CPP: "c",
    Language.CSHARP: "csharp",
    Language.RUBY: "ruby",
    Language.PHP: "php",
    Language.KOTLIN: "kotlin",
    Language.SWIFT: "swift",
    Language.SCALA: "scala",
    Language.BASH: "bash",
    Language.MARKDOWN: "markdown",
    Language.JSON: "json",
    Language.YAML: "yaml",
    Language.SQL: "sql",
    Language.HTML: "html",
    Language.CSS: "css",
}
"""The module in this room whose function `read` reads the language."""

_GRAMMARS = {
    Language.PYTHON: "tree_sitter_python:language",
    Language.JAVASCRIPT: "tree_sitter_javascript:language",
    Language.TYPESCRIPT: "tree_sitter_typescript:language_typescript",
    Language.TSX: "tree_sitter_typescript:language_tsx",
    Language.GO: "tree_sitter_go:language",
    Language.RUST: "tree_sitter_rust:language",
    Language.JAVA: "tree_sitter_java:language",
    Language.C: "tree_sitter_c:language",
    Language.CPP: "tree_sitter_cpp:language",
    Language.CSHARP: "tree_sitter_c_sharp:language",
    Language.RUBY: "tree_sitter_ruby:language",
    Language.PHP: "tree_sitter_php:language_php",
    Language.KOTLIN: "tree_sitter_kotlin:language",
    Language.SWIFT: "tree_sitter_swift:language",
    Language.SCALA: "tree_sitter_scala:language",
    Language.BASH: "tree_sitter_bash:language",
    Language.MARKDOWN: "tree_sitter_markdown:language",
    Language.JSON: "tree_sitter_json:language",
    Language.YAML: "tree_sitter_yaml:language",
    Language.SQL: "tree_sitter_sql:language",
    Language.HTML: "tree_sitter_html:language",
    Language.CSS: "tree_sitter_css:language",
}

_FLOWS = {
    Language.PYTHON: "scrubjay.code_index.graph.python_flow:flow_of",
    Language.JAVASCRIPT: "scrubjay.code_index.graph.javascript_flow:flow_of",
    Language.TYPESCRIPT: "scrubjay.code_index.graph.javascript_flow:flow_of",
    Language.TSX: "scrubjay.code_index.graph.javascript_flow:flow_of",
    Language.JSON: "scrubjay.code_index.graph.manifest_facts:flow_of",
    Language.TEXT: "scrubjay.code_index.graph.manifest_facts:flow_of",
    Language.GO: "scrubjay.code_index.graph.names_flow:flow_with_callbacks",
    Language.RUST: "scrubjay.code_index.graph.names_flow:flow_with_callbacks",
} | dict.fromkeys(
    (
        Language.JAVA,
        Language.C,
        Language.CPP,
        Language.CSHARP,
        Language.RUBY,
        Language.PHP,
        Language.KOTLIN,
        Language.SWIFT,
        Language.SCALA,
    ),
    "scrubjay.code_index.graph.names_flow:flow_of",
)


def _named(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


@cache
def grammar_of(language: Language) -> "Grammar":
    """The grammar by which a language is parsed."""
    from tree_sitter import Language as Grammar

    capsule: object = _named(_GRAMMARS[language])()
    return Grammar(capsule)


@cache
def parser_of(language: Language) -> "Parser":
    """A parser, one for each language in a process: it is not for several threads at once."""
    from tree_sitter import Parser

    return Parser(grammar_of(language))


@cache
def reader_of(language: Language) -> Reader | None:
    """What reads the trees of a language; None when it is plain text."""
    name = _READERS.get(language)
    module = f"{__package__}.{name}"
    return _named(f"{module}:read") if name is not None and find_spec(module) is not None else None


@cache
def flow_of(language: Language) -> Flow | None:
    """What makes the flow of a file for the language's own resolver of calls; None when it has none."""
    place = _FLOWS.get(language)
    if place is None or find_spec("scrubjay.code_index.graph") is None or find_spec(place.partition(":")[0]) is None:
        return None
    return _named(place)
