"""Find definitions by name, and suggest similar names.

This module imports numpy, which is slow to load.
"""

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from scrubjay.code_index.facts.tokenizer import tokenize_name
from scrubjay.code_index.models import FileTrait, SymbolKind
from scrubjay.code_index.search.corpus import KINDS, Corpus
from scrubjay.core.suggestions import nearest_names

_SEPARATOR = re.compile(r"::|[.#/]|->")
# Go tools write methods as `(*Context).Query`.
_RECEIVER = re.compile(r"^\(\*?(\w+)\)(?=\.)")
# Kinds in the order in which a bare name is likely to mean them.
_KIND_ORDER = (
    SymbolKind.CLASS,
    SymbolKind.STRUCT,
    SymbolKind.TRAIT,
    SymbolKind.INTERFACE,
    SymbolKind.ENUM,
    SymbolKind.FUNCTION,
    SymbolKind.METHOD,
    SymbolKind.CONSTRUCTOR,
    SymbolKind.TYPE,
    SymbolKind.MACRO,
    SymbolKind.CONSTANT,
    SymbolKind.VARIABLE,
    SymbolKind.MODULE,
    SymbolKind.FIELD,
    SymbolKind.MEMBER,
    SymbolKind.IMPL,
    SymbolKind.SIGNATURE,
    SymbolKind.SECTION,
)
_KIND_RANKS = np.array([_KIND_ORDER.index(kind) for kind in KINDS])
"""Rank of each kind in `_KIND_ORDER`."""
_SUPPORTING = FileTrait.TEST | FileTrait.EXAMPLE | FileTrait.VENDORED | FileTrait.GENERATED | FileTrait.DOCUMENTATION
MAX_LENGTH_DIFFERENCE = 4
# Definitions with more lines than this count as equally long.
MAX_COMPARED_LINES = 200


class SymbolLookup:
    """Looks up the definitions of one corpus by name."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._alive = corpus.alive[corpus.symbols.files] if len(corpus.names) else np.empty(0, dtype=np.bool_)

    @cached_property
    def _rows(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row in np.flatnonzero(self._alive).tolist():
            found.setdefault(self._corpus.names[row], []).append(row)
        return found

    @cached_property
    def _lowered(self) -> list[str]:
        return [*map(str.lower, self._corpus.names)]

    def _named(self, name: str) -> list[int]:
        names = self._corpus.names
        # Equal names have equal tokens, and few names share a token.
        return [row for row in self._corpus.definitions_of(tokenize_name(name)[-1]).tolist() if names[row] == name]

    def _named_ignoring_case(self, name: str) -> list[int]:
        lowered, names = name.lower(), self._lowered
        found, row = list[int](), -1
        for _ in range(names.count(lowered)):
            row = names.index(lowered, row + 1)
            found.append(row)
        return [row for row in found if self._alive[row]]

    def find(self, name: str, *, exactly: bool = False) -> list[int]:
        """Return the definitions that a name may mean, likeliest first.

        The name may be qualified (`Router.add`, `src/app.py::Router.add`). If no name matches in this case, case is
        ignored, unless `exactly` is true.
        """
        path, _, local = name.rpartition("::") if self._has_path_prefix(name) else ("", "", name)
        local = _RECEIVER.sub(r"\1", local.strip().removesuffix("()"))
        parts = [part for part in _SEPARATOR.split(local) if part]
        if not parts:
            return []
        found = self._named(parts[-1])
        if not found and not exactly:
            found = self._named_ignoring_case(parts[-1])
        fitting = [row for row in found if self._is_within(row, parts[:-1]) and self._is_in(row, path)]
        return self._ranked(fitting)

    def _has_path_prefix(self, name: str) -> bool:
        """Return whether the part before `::` is a file path and not a namespace."""
        place, separator, _ = name.partition("::")
        if not separator or "/" in place:
            return bool(separator)
        return any(path == place or path.endswith(f"/{place}") for path in self._corpus.row_of)

    def similar(self, name: str, limit: int = 5) -> list[str]:
        """Return existing names that resemble an unknown one."""
        wanted = _SEPARATOR.split(name.strip().removesuffix("()"))[-1]
        words = {*tokenize_name(wanted)}
        sharing = sorted(
            (known for known in self._rows if len(words & {*tokenize_name(known)}) * 2 > len(words)),
            key=lambda known: (-len(words & {*tokenize_name(known)}), len(known), known),
        )
        # Edit distance is slow: compare only names with the same first letter and a similar length.
        alike = [
            known
            for known in self._rows
            if known[:1].lower() == wanted[:1].lower() and abs(len(known) - len(wanted)) <= MAX_LENGTH_DIFFERENCE
        ]
        return list(dict.fromkeys([*nearest_names(wanted, alike), *sharing]))[:limit]

    def qualified(self, row: int) -> str:
        """Return the qualified name of a definition."""
        names: list[str] = []
        while row >= 0:
            names.append(self._corpus.names[row])
            if owner := self._corpus.owners.get(row):
                names.append(owner)
            row = int(self._corpus.symbols.containers[row])
        return ".".join(reversed(names))

    def enclosing(self, file: int, byte: int) -> int:
        """Return the innermost definition that contains this byte of a file; -1 if there is none."""
        symbols = self._corpus.symbols
        first, last = np.searchsorted(symbols.files, [file, file + 1]).tolist()
        spans = symbols.spans[first:last]
        inside = np.flatnonzero((spans[:, 0] <= byte) & (byte < spans[:, 1]))
        return first + int(inside[-1]) if len(inside) else -1

    def kind(self, row: int) -> SymbolKind:
        return KINDS[int(self._corpus.symbols.kinds[row])]

    def _is_within(self, row: int, outer: Sequence[str]) -> bool:
        if not outer:
            return True
        own = self.qualified(row).split(".")[:-1]
        if own[-len(outer) :] == list(outer):
            return True
        # Outer names may continue with the file's module and folders.
        path = self._corpus.files[int(self._corpus.symbols.files[row])].path
        places = re.sub(r"(?:/(?:__init__|index|mod))?\.\w+$", "", path).split("/")
        if path.endswith(".go") and [*places[:-1], *own][-len(outer) :] == list(outer):
            return True  # all files of a Go folder are one package
        return [*places, *own][-len(outer) :] == list(outer)

    def _is_in(self, row: int, path: str) -> bool:
        own = self._corpus.files[int(self._corpus.symbols.files[row])].path
        return not path or own == path or own.endswith(f"/{path}")

    def _ranked(self, rows: Sequence[int]) -> list[int]:
        """Sort definitions by likelihood."""
        if len(rows) < 2:
            return [*rows]
        files, symbols = self._corpus.files, self._corpus.symbols
        owners: list[int] = symbols.files[rows].tolist()
        orders: list[int] = _KIND_RANKS[symbols.kinds[rows]].tolist()
        spans = symbols.spans[rows]
        lines: list[int] = np.minimum(spans[:, 3] - spans[:, 2], MAX_COMPARED_LINES).tolist()
        unsure = [row in self._corpus.macro_symbols for row in rows]
        # Within a file, definitions parsed from macros rank after ordinary ones.
        sure = dict[int, int]()
        for owner, order, is_unsure in zip(owners, orders, unsure, strict=True):
            if not is_unsure:
                sure[owner] = max(order, sure.get(owner, 0))
        orders = [
            max(order, sure.get(owner, 0)) if guessed else order
            for owner, order, guessed in zip(owners, orders, unsure, strict=True)
        ]
        keys = [
            (bool(files[owner].traits & _SUPPORTING), order, is_unsure, -long, files[owner].path, row)
            for owner, order, is_unsure, long, row in zip(owners, orders, unsure, lines, rows, strict=True)
        ]
        return [row for *_, row in sorted(keys)]
