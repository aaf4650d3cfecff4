"""The use graph of an index, in both directions.

This module imports numpy, which is slow to load.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scrubjay.code_index.index.gc_pause import gc_paused
from scrubjay.code_index.models import Evidence, FileEdges, Unresolved, UseKind
from scrubjay.code_index.search.corpus import Corpus


class UseLink(NamedTuple):
    """One resolved use."""

    source_file: int
    source: int
    """Row of the using definition; -1 for module-level code."""
    target_file: int
    target: int
    """Row of the used definition; -1 for the file itself."""
    kind: UseKind
    line: int
    """Line of the use, in the source file."""
    evidence: Evidence
    confidence: float


class UseGraph:
    """The uses of one generation of an index, by source and by target."""

    def __init__(self, corpus: Corpus, edges: Mapping[str, FileEdges]) -> None:
        self._corpus = corpus
        self._from: dict[tuple[int, int], list[UseLink]] = {}
        self._to: dict[tuple[int, int], list[UseLink]] = {}
        self.unresolved: dict[int, Sequence[Unresolved]] = {}
        """Unresolved uses, by file."""
        self.imports: dict[int, list[int]] = {}
        """Imported files, by file."""
        firsts: list[int] = corpus.first_symbols.tolist()
        with gc_paused():
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
            link = UseLink(file, source, target_file, target, kind, line, evidence, confidence)
            outward((file, source), []).append(link)
            inward((target_file, target), []).append(link)

    def uses_by(self, symbol: int) -> list[UseLink]:
        """Return the uses made by a definition."""
        return self._from.get((int(self._corpus.symbols.files[symbol]), symbol), [])

    def uses_by_file(self, file: int) -> list[UseLink]:
        """Return the uses made by a file's module-level code."""
        return self._from.get((file, -1), [])

    def users_of(self, symbol: int) -> list[UseLink]:
        """Return the uses of a definition."""
        return self._to.get((int(self._corpus.symbols.files[symbol]), symbol), [])

    def users_of_file(self, file: int) -> list[UseLink]:
        """Return the uses of a file itself, not of its definitions."""
        return self._to.get((file, -1), [])
