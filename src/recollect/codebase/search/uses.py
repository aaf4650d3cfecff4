"""What the definitions of all files use, as columns.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.codebase.graph.ranks import WEIGHTS
from recollect.codebase.packing import edge_columns
from recollect.codebase.search.corpus import Corpus

_WEIGHTS = {kind.value: weight for kind, weight in WEIGHTS.items()}


class Uses(NamedTuple):
    """One row a use."""

    source_files: NDArray[np.int64]
    sources: NDArray[np.int64]
    """The row of the definition that uses; -1 for what is at the top of the file."""
    target_files: NDArray[np.int64]
    targets: NDArray[np.int64]
    confidences: NDArray[np.float64]
    weights: NDArray[np.float64]
    """What each counts for the importance of what is used."""
    imports: NDArray[np.int64]
    """Not by use: who imports whom, two files a row."""
    files: NDArray[np.int64]
    """Not by use: the files that these are all uses of."""


def read_uses(corpus: Corpus, packed: Mapping[str, bytes]) -> Uses:
    """All uses between files that there are, by what each of these leads to."""
    row_of: Mapping[str, int] = corpus.row_of
    firsts: list[int] = corpus.first_symbols.tolist()
    files, sources, target_files, targets = list[int](), list[int](), list[int](), list[int]()
    confidences, kinds, imports = list[float](), list[float](), list[tuple[int, int]]()
    told = [(row_of[path], content) for path, content in packed.items() if path in row_of]
    for file, content in told:
        if not content:
            continue
        edges = edge_columns(content)
        rows = [row_of.get(target, -1) for target in edges.paths]
        first = firsts[file]
        imports += [(file, rows[place]) for place in edges.imports if rows[place] >= 0]
        files += [file] * len(edges.sources)
        sources += [first + source if source >= 0 else -1 for source in edges.sources]
        target_files += [rows[place] for place in edges.places]
        targets += [
            firsts[rows[place]] + target if target >= 0 else -1
            for place, target in zip(edges.places, edges.targets, strict=True)
        ]
        confidences += edges.confidences
        kinds += map(_WEIGHTS.__getitem__, edges.kinds)
    here = np.array(target_files, dtype=np.int64) >= 0
    sure = np.array(confidences, dtype=np.float64)[here]
    return Uses(
        np.array(files, dtype=np.int64)[here],
        np.array(sources, dtype=np.int64)[here],
        np.array(target_files, dtype=np.int64)[here],
        np.array(targets, dtype=np.int64)[here],
        sure,
        np.array(kinds, dtype=np.float64)[here] * sure,
        np.array(imports, dtype=np.int64).reshape(-1, 2),
        np.array([file for file, _ in told], dtype=np.int64),
    )
