"""Finding definitions by their names, whole or in part, and saying what there is instead.

This module imports numpy, which takes a while: import it where it is needed.
"""

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from scrubjay.code_index.facts.words import name_words
from scrubjay.code_index.models import FileTrait, SymbolKind
from scrubjay.code_index.search.corpus import KINDS, Corpus
from scrubjay.core.suggestions import nearest_names

_SEPARATOR = re.compile(r"::|[.#/]|->")
# As Go's own tools write methods: `(*Context).Query`.
_RECEIVER = re.compile(r"^\(\*?(\w+)\)(?=\.)")
# What somebody who names a thing means first.
_FIRST = (
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
_ORDERS = np.array([_FIRST.index(kind) for kind in KINDS])
"""The place of each kind among them."""
_LOWER = FileTrait.TEST | FileTrait.EXAMPLE | FileTrait.VENDORED | FileTrait.GENERATED | FileTrait.DOCUMENTATION
LENGTHS_APART = 4
# Of two definitions with more lines than this neither is the longer one.
LONG = 200


class Names:
    """The definitions of one corpus, by name."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._living = corpus.alive[corpus.symbols.files] if len(corpus.names) else np.empty(0, dtype=np.bool_)

    @cached_property
    def _rows(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row in np.flatnonzero(self._living).tolist():
            found.setdefault(self._corpus.names[row], []).append(row)
        return found

    @cached_property
    def _lowered(self) -> list[str]:
        return [*map(str.lower, self._corpus.names)]

    def _called(self, name: str) -> list[int]:
        names = self._corpus.names
        # Names that are one word as a whole are few, and the same name is the same word.
        return [row for row in self._corpus.definitions_of(name_words(name)[-1]).tolist() if names[row] == name]

    def _called_in_any_case(self, name: str) -> list[int]:
        lowered, names = name.lower(), self._lowered
        found, row = list[int](), -1
        for _ in range(names.count(lowered)):
            row = names.index(lowered, row + 1)
            found.append(row)
        return [row for row in found if self._living[row]]

    def find(self, name: str, *, exactly: bool = False) -> list[int]:
        """The definitions that are meant by a name, likeliest first.

        It may be qualified (`Router.add`, `src/app.py::Router.add`); upper and lower case count only if that finds any,
        or if the name is given `exactly`.
        """
        path, _, local = name.rpartition("::") if self._begins_with_path(name) else ("", "", name)
        local = _RECEIVER.sub(r"\1", local.strip().removesuffix("()"))
        parts = [part for part in _SEPARATOR.split(local) if part]
        if not parts:
            return []
        found = self._called(parts[-1])
        if not found and not exactly:
            found = self._called_in_any_case(parts[-1])
        fitting = [row for row in found if self._is_within(row, parts[:-1]) and self._is_in(row, path)]
        return self._ranked(fitting)

    def _begins_with_path(self, name: str) -> bool:
        """Whether what stands before `::` is the path of a file, and not a namespace."""
        place, separator, _ = name.partition("::")
        if not separator or "/" in place:
            return bool(separator)
        return any(path == place or path.endswith(f"/{place}") for path in self._corpus.row_of)

    def similar(self, name: str, limit: int = 5) -> list[str]:
        """Names that there are and that somebody may have meant."""
        wanted = _SEPARATOR.split(name.strip().removesuffix("()"))[-1]
        words = {*name_words(wanted)}
        sharing = sorted(
            (known for known in self._rows if len(words & {*name_words(known)}) * 2 > len(words)),
            key=lambda known: (-len(words & {*name_words(known)}), len(known), known),
        )
        # Comparing letters takes a while: only with names that begin alike and are about as long.
        alike = [
            known
            for known in self._rows
            if known[:1].lower() == wanted[:1].lower() and abs(len(known) - len(wanted)) <= LENGTHS_APART
        ]
        return list(dict.fromkeys([*nearest_names(wanted, alike), *sharing]))[:limit]

    def qualified(self, row: int) -> str:
        """The name of a definition with those of what it is in."""
        names: list[str] = []
        while row >= 0:
            names.append(self._corpus.names[row])
            if owner := self._corpus.owners.get(row):
                names.append(owner)
            row = int(self._corpus.symbols.containers[row])
        return ".".join(reversed(names))

    def around(self, file: int, byte: int) -> int:
        """The innermost definition of a file that a byte is in; -1 when it is in none."""
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
        # Beyond its file a definition is in the file's module and folders.
        path = self._corpus.files[int(self._corpus.symbols.files[row])].path
        places = re.sub(r"(?:/(?:__init__|index|mod))?\.\w+$", "", path).split("/")
        if path.endswith(".go") and [*places[:-1], *own][-len(outer) :] == list(outer):
            return True  # all files of a folder are one package
        return [*places, *own][-len(outer) :] == list(outer)

    def _is_in(self, row: int, path: str) -> bool:
        own = self._corpus.files[int(self._corpus.symbols.files[row])].path
        return not path or own == path or own.endswith(f"/{path}")

    def _ranked(self, rows: Sequence[int]) -> list[int]:
        """These definitions, likeliest first."""
        if len(rows) < 2:
            return [*rows]
        files, symbols = self._corpus.files, self._corpus.symbols
        owners: list[int] = symbols.files[rows].tolist()
        orders: list[int] = _ORDERS[symbols.kinds[rows]].tolist()
        spans = symbols.spans[rows]
        lines: list[int] = np.minimum(spans[:, 3] - spans[:, 2], LONG).tolist()
        unsure = [row in self._corpus.unsure for row in rows]
        # In one file, what is read out of a macro comes behind what stands there as it is.
        sure = dict[int, int]()
        for owner, order, is_unsure in zip(owners, orders, unsure, strict=True):
            if not is_unsure:
                sure[owner] = max(order, sure.get(owner, 0))
        orders = [
            max(order, sure.get(owner, 0)) if guessed else order
            for owner, order, guessed in zip(owners, orders, unsure, strict=True)
        ]
        keys = [
            (bool(files[owner].traits & _LOWER), order, is_unsure, -long, files[owner].path, row)
            for owner, order, is_unsure, long, row in zip(owners, orders, unsure, lines, rows, strict=True)
        ]
        return [row for *_, row in sorted(keys)]
