"""How much the rest of a repository leads to each of its files and definitions.

This module imports numpy, which takes a while: import it where it is needed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.graph.pagerank import ranks_by
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.code_index.search.use_columns import Uses


class Importance(NamedTuple):
    """The ranks, by row; dead rows have next to nothing."""

    files: NDArray[np.float64]
    symbols: NDArray[np.float64]


def importance_of(corpus: Corpus, uses: Uses) -> Importance:
    """What follows from who uses what."""
    files, imports = len(corpus.files), uses.imports
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
