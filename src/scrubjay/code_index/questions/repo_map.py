"""The map of a repository: its most important files, and of each the most important definitions.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.code_index.models import FileTrait, Symbol, SymbolKind
from scrubjay.code_index.questions.evidence import tokens_of
from scrubjay.code_index.service import CodeService, Loaded

MOST_SYMBOLS = 12
LONGEST_SIGNATURE = 160
# What the fields of an entry take beside its texts.
FILE_CHARACTERS = 60
SYMBOL_CHARACTERS = 50
# No file takes more than this share, so that the map shows more than the first; but enough for a few definitions.
LARGEST_SHARE = 0.1
LEAST_TOKENS = 80
_LEFT_OUT = (
    FileTrait.TEST
    | FileTrait.EXAMPLE
    | FileTrait.VENDORED
    | FileTrait.GENERATED
    | FileTrait.MINIFIED
    | FileTrait.DOCUMENTATION
    | FileTrait.DECLARATION
)
_TOLD = frozenset(SymbolKind) - {SymbolKind.SECTION, SymbolKind.FIELD, SymbolKind.MEMBER, SymbolKind.IMPL}


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
    """Those that most leads to, in the order of the file."""
    left_out: int
    """How many of its definitions are not shown."""


@dataclass(frozen=True, slots=True)
class RepositoryMap:
    """As much of the map as fits."""

    files: Sequence[MappedFile]
    """Those that most leads to first."""
    total: int
    """How many files could be on it."""


async def repository_map(code: CodeService, loaded: Loaded, *, token_budget: int, folder: str = "") -> RepositoryMap:
    """The files that most leads to, with the definitions that most leads to; tests, examples and the like left out."""
    corpus = loaded.corpus
    importance = await code.importance(loaded)
    of_files, of_symbols = importance.files.tolist(), importance.symbols.tolist()
    rows = [
        row
        for path, row in corpus.row_of.items()
        if not corpus.files[row].traits & _LEFT_OUT and (not folder or path.startswith(f"{folder.rstrip('/')}/"))
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
                if symbol.kind in _TOLD and not _is_inner(symbol, facts.symbols)
            ),
            key=lambda one: (-one.rank, one.row),
        )
        if not best:
            continue
        most = min(left, max(LEAST_TOKENS, int(LARGEST_SHARE * token_budget)))
        kept: list[MappedSymbol] = []
        spent = head
        for one in best[:MOST_SYMBOLS]:
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
    """The head of a definition, or the beginning of it when it is long."""
    head = symbol.signature or symbol.name
    return head if len(head) <= LONGEST_SIGNATURE else f"{head[: LONGEST_SIGNATURE - 1]}…"


def _is_inner(symbol: Symbol, symbols: Sequence[Symbol]) -> bool:
    """Whether it is within a function, where nobody else can reach it."""
    outer = symbol.container
    return outer >= 0 and symbols[outer].kind in {SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR}
