"""Who uses what in one index, in both directions.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scrubjay.code_index.index.gc_pause import uncollected
from scrubjay.code_index.models import Evidence, FileEdges, Unresolved, UseKind
from scrubjay.code_index.search.corpus import Corpus


class Link(NamedTuple):
    """One use, seen from either end."""

    source_file: int
    source: int
    """The row of the definition that uses; -1 for what is at the top of the file."""
    target_file: int
    target: int
    """The row of the definition that is used; -1 for the file itself."""
    kind: UseKind
    line: int
    """Where it is used, in the using file."""
    evidence: Evidence
    confidence: float


class Links:
    """The uses of one state of an index, by what uses and by what is used."""

    def __init__(self, corpus: Corpus, edges: Mapping[str, FileEdges]) -> None:
        self._corpus = corpus
        self._from: dict[tuple[int, int], list[Link]] = {}
        self._to: dict[tuple[int, int], list[Link]] = {}
        self.unresolved: dict[int, Sequence[Unresolved]] = {}
        """By file what could not be resolved."""
        self.imports: dict[int, list[int]] = {}
        """By file the files that it imports."""
        firsts: list[int] = corpus.first_symbols.tolist()
        with uncollected():
            for path, found in edges.items():
                if (file := corpus.row_of.get(path)) is not None:
                    self._add(file, found, firsts)

    def _add(self, file: int, found: FileEdges, firsts: Sequence[int]) -> None:
        row_of, first = self._corpus.row_of, firsts[file]
        self.unresolved[file] = found.unresolved
        self.imports[file] = [row for path in found.imports if (row := row_of.get(path)) is not None]
        outward, inward = self._from.setdefault, self._to.setdefault
        for source, path, target, kind, line, evidence, confidence in found.edges:
            target_file = row_of.get(path)
            if target_file is None:
                continue
            source = first + source if source >= 0 else -1
            target = firsts[target_file] + target if target >= 0 else -1
            link = Link(file, source, target_file, target, kind, line, evidence, confidence)
            outward((file, source), []).append(link)
            inward((target_file, target), []).append(link)

    def of(self, symbol: int) -> list[Link]:
        """What a definition uses."""
        return self._from.get((int(self._corpus.symbols.files[symbol]), symbol), [])

    def of_file(self, file: int) -> list[Link]:
        """What the top of a file uses."""
        return self._from.get((file, -1), [])

    def to(self, symbol: int) -> list[Link]:
        """Who uses a definition."""
        return self._to.get((int(self._corpus.symbols.files[symbol]), symbol), [])

    def to_file(self, file: int) -> list[Link]:
        """Who uses a file itself, and nothing that it defines."""
        return self._to.get((file, -1), [])
