"""Rules about Python definitions that both Python readers share."""

import re
from collections.abc import Iterable

from scrubjay.code_index.models import SymbolKind
from scrubjay.code_index.parsing.nodes import Findings, strip_docstring

PATH = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*")
MAX_PATH_BYTES = 200
IMPORTERS = frozenset({"importlib.import_module", "import_module", "__import__"})
"""Functions that import a module named by a string."""
DOCUMENTED_BELOW = frozenset(
    {SymbolKind.FIELD, SymbolKind.VARIABLE, SymbolKind.CONSTANT, SymbolKind.MEMBER, SymbolKind.TYPE}
)
"""Kinds of symbols that are documented by a string below them."""

_ENUM = re.compile(r"\w*(?:Enum|Flag|Choices)")
_LITERAL = re.compile(r"(?i)[rub]{0,2}('''|\"\"\"|'|\")(.*)\1", re.DOTALL)


def literal_text(literal: str) -> str | None:
    """Return the content of a string literal as written; None if it is not a plain literal."""
    found = _LITERAL.fullmatch(literal)
    return found.group(2) if found else None


def literal_doc(literal: str) -> str:
    """Return the documentation in a string literal."""
    return strip_docstring(literal_text(literal) or "")


def is_public(name: str) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def is_enum(bases: Iterable[str]) -> bool:
    return any(_ENUM.fullmatch(base.rpartition(".")[2]) for base in bases)


def function_kind(name: str, decorators: Iterable[str], *, in_class: bool) -> SymbolKind:
    if any(each.endswith("overload") for each in decorators):
        return SymbolKind.SIGNATURE
    if in_class:
        return SymbolKind.CONSTRUCTOR if name == "__init__" else SymbolKind.METHOD
    return SymbolKind.FUNCTION


def mark_exported(found: Findings) -> None:
    """Mark only the names in `__all__` as exported, if the file defines it."""
    if not found.exports:
        return
    named = {name for name, _ in found.exports}
    found.symbols = [
        symbol._replace(exported=symbol.name in named) if symbol.container < 0 else symbol for symbol in found.symbols
    ]
    found.imports = [
        each._replace(exported=True) if (each.alias or each.name or each.module) in named else each
        for each in found.imports
    ]
