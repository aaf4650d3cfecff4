"""The map of a repository: its most important files, each with its most important definitions.

This module imports numpy, which is slow to load.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.code_index.models import FileTrait, Symbol, SymbolKind
from scrubjay.code_index.questions.evidence import tokens_of
from scrubjay.code_index.service import CodeService, LoadedIndex

MAX_SYMBOLS = 12
MAX_SIGNATURE = 160
# Size of an entry without its texts.
FILE_CHARACTERS = 60
SYMBOL_CHARACTERS = 50
# Largest share of the budget for one file, so that the map shows several; but at least enough for a few definitions.
MAX_FILE_SHARE = 0.1
MIN_FILE_TOKENS = 80
_EXCLUDED = (
    FileTrait.TEST
    | FileTrait.EXAMPLE
    | FileTrait.VENDORED
    | FileTrait.GENERATED
    | FileTrait.MINIFIED
    | FileTrait.DOCUMENTATION
    | FileTrait.DECLARATION
)
_LISTED_KINDS = frozenset(SymbolKind) - {SymbolKind.SECTION, SymbolKind.FIELD, SymbolKind.MEMBER, SymbolKind.IMPL}


@dataclass(frozen=True, slots=True)
class MappedSymbol:
    """A definition on the map."""

    row: int
    symbol: Symbol
    rank: float


@dataclass(frozen=True, slots=True)
class MappedFile:
    """A file on the map."""

    file: int
    rank: float
    symbols: Sequence[MappedSymbol]
    """The most important definitions, in file order."""
    left_out: int
    """Number of definitions that are not shown."""


@dataclass(frozen=True, slots=True)
class RepositoryMap:
    """The part of the map that fits the budget."""

    files: Sequence[MappedFile]
    """Most important first."""
    total: int
    """Number of files that qualify for the map."""


async def repository_map(
    code: CodeService, loaded: LoadedIndex, *, token_budget: int, folder: str = ""
) -> RepositoryMap:
    """Return the most important files with their most important definitions, without tests, examples and the like."""
    corpus = loaded.corpus
    importance = await code.importance(loaded)
    of_files, of_symbols = importance.files.tolist(), importance.symbols.tolist()
    rows = [
        row
        for path, row in corpus.row_of.items()
        if not corpus.files[row].traits & _EXCLUDED and (not folder or path.startswith(f"{folder.rstrip('/')}/"))
    ]
    rows.sort(key=lambda row: (-of_files[row], corpus.files[row].path))
    shown: list[MappedFile] = []
    left = token_budget
    for row in rows:
        head = tokens_of(FILE_CHARACTERS + len(corpus.files[row].path))
        if head > left:
            break
        facts = await code.facts(loaded, corpus.files[row].path)
        first = int(corpus.first_symbols[row])
        best = sorted(
            (
                MappedSymbol(first + place, symbol, of_symbols[first + place])
                for place, symbol in enumerate(facts.symbols)
                if symbol.kind in _LISTED_KINDS and not _is_local(symbol, facts.symbols)
            ),
            key=lambda one: (-one.rank, one.row),
        )
        if not best:
            continue
        most = min(left, max(MIN_FILE_TOKENS, int(MAX_FILE_SHARE * token_budget)))
        kept: list[MappedSymbol] = []
        spent = head
        for one in best[:MAX_SYMBOLS]:
            cost = tokens_of(SYMBOL_CHARACTERS + len(signature_of(one.symbol)) + len(one.symbol.name))
            if spent + cost <= most:
                kept.append(one)
                spent += cost
        if not kept:
            break
        left -= spent
        kept.sort(key=lambda one: one.row)
        shown.append(MappedFile(row, of_files[row], kept, len(best) - len(kept)))
    return RepositoryMap(shown, len(rows))


def signature_of(symbol: Symbol) -> str:
    """Return the signature of a definition, shortened if it is long."""
    head = symbol.signature or symbol.name
    return head if len(head) <= MAX_SIGNATURE else f"{head[: MAX_SIGNATURE - 1]}…"


def _is_local(symbol: Symbol, symbols: Sequence[Symbol]) -> bool:
    """Return whether it is local to a function, where other code cannot reach it."""
    outer = symbol.container
    return outer >= 0 and symbols[outer].kind in {SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR}
