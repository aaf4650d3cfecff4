"""What is said of Python's definitions alike, whichever parser found them."""

import re
from collections.abc import Iterable

from scrubjay.code_index.models import SymbolKind
from scrubjay.code_index.parsing.nodes import Findings, undocstringed

PATH = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*")
LONGEST_PATH = 200
IMPORTERS = frozenset({"importlib.import_module", "import_module", "__import__"})
"""What is called to import by a text."""
DOCUMENTED_BELOW = frozenset(
    {SymbolKind.FIELD, SymbolKind.VARIABLE, SymbolKind.CONSTANT, SymbolKind.MEMBER, SymbolKind.TYPE}
)
"""A text right below one of these says what it is."""

_ENUM = re.compile(r"\w*(?:Enum|Flag|Choices)")
_LITERAL = re.compile(r"(?i)[rub]{0,2}('''|\"\"\"|'|\")(.*)\1", re.DOTALL)


def written_text(literal: str) -> str | None:
    """What a text says, as it is written; None when it is no plain one."""
    found = _LITERAL.fullmatch(literal)
    return found.group(2) if found else None


def said_in(literal: str) -> str:
    """What a text within the code says of a definition."""
    return undocstringed(written_text(literal) or "")


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


def tell_exported(found: Findings) -> None:
    """Where the file has `__all__`, this alone says what others may use."""
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
