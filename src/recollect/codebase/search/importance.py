"""How much the rest of a repository leads to each of its files and definitions.

This module imports numpy, which takes a while: import it where it is needed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.codebase.graph.ranks import WEIGHTS, ranks_by
from recollect.codebase.search.corpus import Corpus
from recollect.codebase.search.links import Links


class Importance(NamedTuple):
    """The ranks, by row; dead rows have next to nothing."""

    files: NDArray[np.float64]
    symbols: NDArray[np.float64]


def importance_of(corpus: Corpus, links: Links) -> Importance:
    """What follows from who uses what."""
    files, every = len(corpus.files), [*links.all()]
    source_files = np.array([link.source_file for link in every], dtype=np.int64)
    target_files = np.array([link.target_file for link in every], dtype=np.int64)
    inner_sources = np.array([link.source for link in every], dtype=np.int64)
    inner_targets = np.array([link.target for link in every], dtype=np.int64)
    weights = np.array([WEIGHTS[link.kind] * link.confidence for link in every], dtype=np.float64)
    # Files come first among all that can be led to, then definitions.
    sources = np.where(inner_sources >= 0, files + inner_sources, source_files)
    targets = np.where(inner_targets >= 0, files + inner_targets, target_files)
    others = sources != targets
    of_all = ranks_by(files + len(corpus.names), sources[others], targets[others], weights[others])

    imports = [(file, other) for file, used in links.imports.items() for other in used]
    importing = np.array(imports, dtype=np.int64).reshape(-1, 2)
    outward = source_files != target_files
    pairs = np.concatenate([importing[:, 0], source_files[outward]]) * files
    pairs += np.concatenate([importing[:, 1], target_files[outward]])
    between, place_of = np.unique(pairs, return_inverse=True)
    sums = np.bincount(place_of, np.concatenate([np.zeros(len(importing)), weights[outward]]), len(between))
    # The hundredth use of a file tells less than its first.
    of_files = ranks_by(files, between // max(files, 1), between % max(files, 1), np.log1p(1.0 + sums))
    return Importance(of_files, of_all[files:])
