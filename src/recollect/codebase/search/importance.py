"""How much the rest of a repository leads to each of its files and definitions.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.codebase.graph.ranks import WEIGHTS, ranks_by
from recollect.codebase.packing import edge_columns
from recollect.codebase.search.corpus import Corpus

_WEIGHTS = {kind.value: weight for kind, weight in WEIGHTS.items()}


class Importance(NamedTuple):
    """The ranks, by row; dead rows have next to nothing."""

    files: NDArray[np.float64]
    symbols: NDArray[np.float64]


class _Uses(NamedTuple):
    """One row a use."""

    source_files: NDArray[np.int64]
    sources: NDArray[np.int64]
    """The row of the definition that uses; -1 for what is at the top of the file."""
    target_files: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: NDArray[np.float64]


def importance_of(corpus: Corpus, packed: Mapping[str, bytes]) -> Importance:
    """What follows from what each file leads to."""
    uses, imports = _read(corpus, packed)
    files = len(corpus.files)
    # Files come first among all that can be led to, then definitions.
    sources = np.where(uses.sources >= 0, files + uses.sources, uses.source_files)
    targets = np.where(uses.targets >= 0, files + uses.targets, uses.target_files)
    others = sources != targets
    of_all = ranks_by(files + len(corpus.names), sources[others], targets[others], uses.weights[others])

    outward = uses.source_files != uses.target_files
    pairs = np.concatenate([imports[:, 0], uses.source_files[outward]]) * files
    pairs += np.concatenate([imports[:, 1], uses.target_files[outward]])
    between, place_of = np.unique(pairs, return_inverse=True)
    sums = np.bincount(place_of, np.concatenate([np.zeros(len(imports)), uses.weights[outward]]), len(between))
    # The hundredth use of a file tells less than its first.
    of_files = ranks_by(files, between // max(files, 1), between % max(files, 1), np.log1p(1.0 + sums))
    return Importance(of_files, of_all[files:])


def _read(corpus: Corpus, packed: Mapping[str, bytes]) -> tuple[_Uses, NDArray[np.int64]]:
    """All uses between files that there are, and who imports whom."""
    row_of: Mapping[str, int] = corpus.row_of
    firsts: list[int] = corpus.first_symbols.tolist()
    files, sources, target_files, targets = list[int](), list[int](), list[int](), list[int]()
    weights, imports = list[float](), list[tuple[int, int]]()
    for path, content in packed.items():
        file = row_of.get(path)
        if file is None or not content:
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
        weights += [_WEIGHTS[kind] * own for kind, own in zip(edges.kinds, edges.confidences, strict=True)]
    here = np.array(target_files, dtype=np.int64) >= 0
    found = _Uses(
        np.array(files, dtype=np.int64)[here],
        np.array(sources, dtype=np.int64)[here],
        np.array(target_files, dtype=np.int64)[here],
        np.array(targets, dtype=np.int64)[here],
        np.array(weights, dtype=np.float64)[here],
    )
    return found, np.array(imports, dtype=np.int64).reshape(-1, 2)
