"""The uses of all files, as numpy columns.

This module imports numpy, which is slow to load.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.packing import unpack_edge_columns
from scrubjay.code_index.graph.pagerank import WEIGHTS
from scrubjay.code_index.index.gc_pause import gc_paused
from scrubjay.code_index.search.corpus import Corpus

_WEIGHTS = {kind.value: weight for kind, weight in WEIGHTS.items()}


class UseEdgeColumns(NamedTuple):
    """Columns with one row per use, except `imports` and `files`."""

    source_files: NDArray[np.int64]
    sources: NDArray[np.int64]
    """Row of the using definition; -1 for module-level code."""
    target_files: NDArray[np.int64]
    targets: NDArray[np.int64]
    confidences: NDArray[np.float64]
    weights: NDArray[np.float64]
    """Weight of the use for the importance of its target."""
    imports: NDArray[np.int64]
    """One row per import: importing file, imported file."""
    files: NDArray[np.int64]
    """The files whose uses these are."""


def read_uses(corpus: Corpus, packed: Mapping[str, bytes]) -> UseEdgeColumns:
    """Unpack the edges of these files, by path, into columns; files and targets outside the corpus are dropped."""
    row_of: Mapping[str, int] = corpus.row_of
    known = [(row_of[path], content) for path, content in packed.items() if path in row_of]
    files, sizes, rows, first_rows = list[int](), list[int](), list[int](), list[int]()
    sources, places, targets = list[int](), list[int](), list[int]()
    confidences, kinds, imports = list[float](), list[str](), list[tuple[int, int]]()
    with gc_paused():
        for file, content in known:
            if not content:
                continue
            edges = unpack_edge_columns(content)
            own = [row_of.get(target, -1) for target in edges.paths]
            imports += [(file, own[place]) for place in edges.imports if own[place] >= 0]
            files.append(file)
            sizes.append(len(edges.sources))
            first_rows.append(len(rows))
            rows += own
            sources += edges.sources
            places += edges.places
            targets += edges.targets
            confidences += edges.confidences
            kinds += edges.kinds
    # From here on all uses at once. Symbols are numbered from the first of their file, places from its first row.
    firsts = corpus.first_symbols.astype(np.int64)
    source_files = np.repeat(np.array(files, dtype=np.int64), sizes)
    where = np.array(places, dtype=np.int64) + np.repeat(np.array(first_rows, dtype=np.int64), sizes)
    target_files = np.array(rows, dtype=np.int64)[where]
    here = target_files >= 0
    source_files, target_files = source_files[here], target_files[here]
    using, used = np.array(sources, dtype=np.int64)[here], np.array(targets, dtype=np.int64)[here]
    sure = np.array(confidences, dtype=np.float64)[here]
    weights = np.fromiter(map(_WEIGHTS.__getitem__, kinds), np.float64, len(kinds))[here]
    return UseEdgeColumns(
        source_files,
        np.where(using >= 0, firsts[source_files] + using, -1),
        target_files,
        np.where(used >= 0, firsts[target_files] + used, -1),
        sure,
        weights * sure,
        np.array(imports, dtype=np.int64).reshape(-1, 2),
        np.array([file for file, _ in known], dtype=np.int64),
    )
