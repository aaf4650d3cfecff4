"""Call the C functions of the search index with random arrays of exact size, many of them extreme.

The arrays obey what their callers guarantee (rows exist, chains end); numbers are of any kind: NaN, infinities, ties.
"""

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scrubjay.search_index.candidates import CandidateFinder, RowScores, WordMatches
from scrubjay.search_index.native_nearest import encode_single, find_nearest, write_cosines
from scrubjay.search_index.rotation import Rotation
from scrubjay.search_index.row_columns import NONE, RowColumns, RowEntry
from scrubjay.search_index.token_segments import PASSAGE_END, TokenSegments, token

_REALS = (0.0, -0.0, 1.0, -1.0, 0.5, 0.5, 0.5, math.nan, math.inf, -math.inf, 1e-45, 3.4e38, -3.4e38)
# Around the sizes of blocks that the loops handle at once: 8, 32 and 64.
_SIZES = (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100)
_WORDS = ("alpha", "beta", "gamma", "delta", "epsilon")
_DIMENSIONS = (1, 2, 3, 5, 8, 9, 31, 32, 33, 100, 384, 1024, 1025)
_rotations: dict[int, Rotation] = {}

Target = Callable[[random.Random], object]


def reals(rng: random.Random, count: int, kind: Any) -> NDArray[Any]:
    is_plain = rng.random() < 0.5
    values = [rng.uniform(-2, 2) if is_plain or rng.random() < 0.6 else rng.choice(_REALS) for _ in range(count)]
    with np.errstate(all="ignore"):
        return np.array(values, dtype=np.float64).astype(kind)


def mask(rng: random.Random, count: int) -> NDArray[np.bool_] | None:
    share = rng.choice((None, 0.0, 0.1, 0.9, 1.0))
    return None if share is None else np.array([rng.random() < share for _ in range(count)], dtype=np.bool_)


def some_rows(rng: random.Random, rows: int) -> NDArray[np.int64]:
    return np.array(sorted(rng.sample(range(rows), rng.randrange(rows + 1))), dtype=np.int64)


def score_and_lay_out(rng: random.Random) -> None:
    rows = rng.choice(_SIZES)
    words: list[WordMatches] = []
    for _ in range(rng.randrange(5)):
        having = None if rng.random() < 0.5 else some_rows(rng, rows)
        shares = reals(rng, rows if having is None else len(having), np.float32)
        words.append(WordMatches(len(shares), having, shares))
    allowed, limit = mask(rng, rows), rng.choice((0, 1, 2, 7, rows, rows + 1, 200))
    finder = CandidateFinder()
    scored = finder.score(words, reals(rng, len(words), np.float32), rows, allowed, limit)
    columns = RowColumns()
    seqs = rng.sample(range(1, 3 * rows + 2), rows)
    columns.add(
        [RowEntry(seq, 1, rng.choice((None, "a", "b")), rng.randrange(9), 0, None, 0, 0.5, 1.0) for seq in seqs]
    )
    if rng.random() < 0.3 and rows:  # any best rows, also repeated ones
        scored = RowScores(scored.scores, np.array([rng.randrange(rows) for _ in range(limit)], dtype=np.int64))
    others = some_rows(rng, rows)
    for _ in range(2):
        layout = finder.lay_out(columns, scored, others, allowed)
        if len(layout.around):
            assert layout.around.min() >= NONE
            assert layout.around.max() < len(layout.texts)


def match_tokens(rng: random.Random) -> None:
    segments = TokenSegments()
    known = [PASSAGE_END, 1, 2**64 - 1, *map(token, _WORDS), *map(token, _WORDS)]
    for _ in range(rng.randrange(3)):
        count = rng.choice((0, 1, 3, 8))
        segments.append([[rng.choice(known) for _ in range(rng.choice((0, 1, 5, 33)))] for _ in range(count)])
    if rng.random() < 0.7:  # arrays of exact size, as in a file
        arrays = segments.arrays_of(np.arange(segments.rows))
        segments = TokenSegments()
        segments.attach({name: values.copy() for name, values in arrays.items()})
    rows = some_rows(rng, segments.rows)
    terms = [rng.choice(_WORDS) for _ in range(rng.choice((0, 1, 2, 5, 64, 65)))]
    places = np.array(rng.sample(range(2 * len(rows)), len(rows)), dtype=np.int64)
    average = rng.choice((0.0, 1.0, 1e-30, 1e30, math.nan))
    with np.errstate(all="ignore"):
        segments.match_rows(rows, terms, reals(rng, len(terms), np.float32), average, places, 2 * len(rows))


def encode_vector(rng: random.Random) -> None:
    dimensions = rng.choice(_DIMENSIONS)
    if dimensions not in _rotations:
        _rotations[dimensions] = Rotation(dimensions)
    vector = reals(rng, dimensions, np.float16)
    if rng.random() < 0.5:  # any bits, and vectors with few or tiny values
        vector = (
            np.frombuffer(rng.randbytes(2 * dimensions), np.float16)
            if rng.random() < 0.3
            else np.zeros(dimensions, np.float16)
        )
        vector = np.array(vector)
        vector[rng.randrange(dimensions)] = rng.choice((6e-8, 1.0, 3.9, 65504.0))
    encode_single(vector.tobytes(), _rotations[dimensions], dimensions)


def find_nearest_rows(rng: random.Random) -> None:
    rows, dimensions = rng.choice(_SIZES), rng.choice((1, 7, 8, 9, 31, 32, 33, 100))
    directions = np.frombuffer(rng.randbytes(rows * dimensions), np.int8).reshape(rows, dimensions)
    directions = np.where(directions == -128, 0, directions).astype(np.int8)  # no code has this value
    query = np.array([rng.choice((-127, 0, 127, rng.randrange(-127, 128))) for _ in range(dimensions)], dtype=np.int8)
    cosines = np.empty(rows, dtype=np.float64)
    write_cosines(directions, reals(rng, rows, np.float32), query, rng.choice(_REALS), cosines)
    if rng.random() < 0.7:
        cosines = reals(rng, rows, np.float64)
    known = rng.choice((rows, rows, rows + 3, max(0, rows - 3)))
    is_known = mask(rng, known)
    found = find_nearest(
        cosines,
        mask(rng, rows),
        rng.choice((0, 1, 2, 7, max(1, rows), rows + 1, 200)),
        rng.choice((0.0, 1e-9, 0.1, 10.0, math.inf)),
        rng.choice((0, 1, 5, 100)),
        None if rng.random() < 0.3 else reals(rng, dimensions, np.float64),
        reals(rng, known * dimensions, np.float32).reshape(known, dimensions),
        np.ones(known, dtype=np.bool_) if is_known is None else is_known,
    )
    if found is not None and len(found[0]):
        assert found[0].min() >= 0
        assert found[0].max() < rows


def search_targets() -> Iterator[Target]:
    """Yield one target for each function of the search index."""
    yield score_and_lay_out
    yield match_tokens
    yield encode_vector
    yield find_nearest_rows
