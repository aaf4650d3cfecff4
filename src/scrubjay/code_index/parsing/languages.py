"""Loads the grammar, tree reader and flow builder of a language on first use."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from scrubjay.code_index.models import Language
from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    import tree_sitter
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser, Tree

    from scrubjay.code_index.parsing.nodes import Findings
else:
    tree_sitter = lazy_module("tree_sitter")

TreeReader = Callable[["Tree", "Findings"], None]
"""Adds the contents of a tree to the findings."""
FlowFunction = Callable[[bytes, Any], bytes]
"""Builds the flow that the language's call resolver needs, from a file's content and its syntax tree."""

_READERS = {
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
"""The module of this package whose function `read` reads the language."""

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
    Language.PYTHON: "scrubjay.code_index.graph.python_flow:build_flow",
    Language.JAVASCRIPT: "scrubjay.code_index.graph.javascript_flow:build_flow",
    Language.TYPESCRIPT: "scrubjay.code_index.graph.javascript_flow:build_flow",
    Language.TSX: "scrubjay.code_index.graph.javascript_flow:build_flow",
    Language.JSON: "scrubjay.code_index.graph.manifest_facts:extract_manifest",
    Language.TEXT: "scrubjay.code_index.graph.manifest_facts:extract_manifest",
    Language.GO: "scrubjay.code_index.graph.names_flow:build_flow_with_callbacks",
    Language.RUST: "scrubjay.code_index.graph.names_flow:build_flow_with_callbacks",
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
    "scrubjay.code_index.graph.names_flow:build_flow",
)


def _load_attribute(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


@cache
def load_grammar(language: Language) -> "Grammar":
    """Return the grammar of a language."""
    capsule: object = _load_attribute(_GRAMMARS[language])()
    return tree_sitter.Language(capsule)


@cache
def load_parser(language: Language) -> "Parser":
    """Return the parser of a language. It is shared within the process and not thread-safe."""
    return tree_sitter.Parser(load_grammar(language))


@cache
def load_tree_reader(language: Language) -> TreeReader | None:
    """Return the reader of a language's trees; None for plain text."""
    name = _READERS.get(language)
    module = f"{__package__}.{name}"
    return _load_attribute(f"{module}:read") if name is not None and find_spec(module) is not None else None


@cache
def load_flow_function(language: Language) -> FlowFunction | None:
    """Return the flow builder of a language; None if its calls are not resolved by flow."""
    place = _FLOWS.get(language)
    if place is None or find_spec("scrubjay.code_index.graph") is None or find_spec(place.partition(":")[0]) is None:
        return None
    return _load_attribute(place)
