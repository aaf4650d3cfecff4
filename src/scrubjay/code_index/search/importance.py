"""Importance of files and definitions: their PageRank in the use graph.

This module imports numpy, which is slow to load.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.graph.pagerank import rank_columns
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.code_index.search.use_columns import UseEdgeColumns


class Importance(NamedTuple):
    """PageRank by row; close to zero for dead rows."""

    files: NDArray[np.float64]
    symbols: NDArray[np.float64]


def importance_of(corpus: Corpus, uses: UseEdgeColumns) -> Importance:
    """Compute the importance of all files and definitions from their uses."""
    files, imports = len(corpus.files), uses.imports
    # Graph nodes: files first, then definitions.
    sources = np.where(uses.sources >= 0, files + uses.sources, uses.source_files)
    targets = np.where(uses.targets >= 0, files + uses.targets, uses.target_files)
    others = sources != targets
    of_all = rank_columns(files + len(corpus.names), sources[others], targets[others], uses.weights[others])

    outward = uses.source_files != uses.target_files
    pairs = np.concatenate([imports[:, 0], uses.source_files[outward]]) * files
    pairs += np.concatenate([imports[:, 1], uses.target_files[outward]])
    between, place_of = np.unique(pairs, return_inverse=True)
    sums = np.bincount(place_of, np.concatenate([np.zeros(len(imports)), uses.weights[outward]]), len(between))
    # Logarithm: the hundredth use of a file means less than its first.
    of_files = rank_columns(files, between // max(files, 1), between % max(files, 1), np.log1p(1.0 + sums))
    return Importance(of_files, of_all[files:])
