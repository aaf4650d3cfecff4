"""Reads hand-written cases: small programs with the calls in them.

In a file of cases, each case is `=== its name`, then `--- path` with the source below it, then `>>> caller -> callee`
for each call of a definition, or a single `>>>` if there is none. A definition is named with the type, object or
namespace that contains it.
"""

from pathlib import Path
from typing import NamedTuple

from scrubjay.code_index.graph.definitions import TYPES
from scrubjay.code_index.graph.names_flow import Flow
from scrubjay.code_index.graph.resolver import resolve
from scrubjay.code_index.models import FileFacts, Language, SymbolKind, UseKind
from scrubjay.code_index.parsing.reader import read_facts

_LANGUAGES = {
    "go": Language.GO,
    "py": Language.PYTHON,
    "rs": Language.RUST,
    "ts": Language.TYPESCRIPT,
    "tsx": Language.TSX,
    "js": Language.JAVASCRIPT,
    "json": Language.JSON,
    "java": Language.JAVA,
    "kt": Language.KOTLIN,
    "cs": Language.CSHARP,
    "c": Language.C,
    "h": Language.C,
    "cpp": Language.CPP,
    "hpp": Language.CPP,
    "rb": Language.RUBY,
    "php": Language.PHP,
    "swift": Language.SWIFT,
    "scala": Language.SCALA,
    "sh": Language.BASH,
}
_NAMED_CONTAINERS = TYPES | {SymbolKind.CONSTANT, SymbolKind.VARIABLE, SymbolKind.IMPL, SymbolKind.MODULE}


class Case(NamedTuple):
    """A program and the calls in it."""

    name: str
    sources: dict[str, str]
    calls: frozenset[str]


def cases_in(folder: Path) -> list[Case]:
    """Return all cases in the files of a folder."""
    cases: list[Case] = []
    for file in sorted(folder.glob("*.txt")):
        for text in file.read_text().split("=== ")[1:]:
            name, _, rest = text.partition("\n")
            sources: dict[str, str] = {}
            body, *calls = rest.split(">>>")
            for part in body.split("--- ")[1:]:
                path, _, source = part.partition("\n")
                sources[path] = source
            cases.append(Case(name, sources, frozenset(call.strip() for call in calls if call.strip())))
    return cases


def facts_of(sources: dict[str, str]) -> dict[str, FileFacts]:
    return {path: read_facts(text.encode(), _LANGUAGES[path.rpartition(".")[2]]) for path, text in sources.items()}


def calls_found(sources: dict[str, str]) -> frozenset[str]:
    """Return the calls that are resolved without guessing, in the notation of the cases."""
    facts = facts_of(sources)
    return frozenset(
        f"{_symbol_name(path, facts[path], edge.source)} -> {_symbol_name(edge.path, facts[edge.path], edge.target)}"
        for path, own in resolve(list(facts), facts).items()
        for edge in own.edges
        if edge.kind in (UseKind.CALL, UseKind.NEW)
        and edge.confidence >= 0.5
        and not _is_literal(facts, path, edge.kind)
    )


def _is_literal(facts: dict[str, FileFacts], path: str, kind: UseKind) -> bool:
    """Return whether an edge is a struct literal, not a call."""
    return kind is UseKind.NEW and facts[path].language in (Language.GO, Language.RUST)


def _symbol_name(path: str, facts: FileFacts, index: int) -> str:
    if index < 0:
        return path
    symbol = facts.symbols[index]
    owner = ""
    if facts.language in (Language.GO, Language.RUST, Language.CPP):
        owner = Flow(facts.flow).functions.get((symbol.name, symbol.line), ("", ""))[1]
    elif symbol.container >= 0 and facts.symbols[symbol.container].kind in _NAMED_CONTAINERS:
        owner = facts.symbols[symbol.container].name
    name = symbol.name.rpartition(".")[2]
    return f"{owner}.{name}" if owner else name
