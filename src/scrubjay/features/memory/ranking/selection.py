"""Selection of hits among relevant memories: deduplication, diversity, spread over sessions.

This module imports numpy, which is slow to load: import it with `lazy_module`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.memory.candidates import CandidatePool
from scrubjay.features.memory.models import Memory
from scrubjay.search_index.neighbourhood import REACH
from scrubjay.search_index.terms import all_terms

# Two texts with a lower cosine cannot have almost the same words.
SIMILAR_FROM: Final = 0.9
# Maximum share of additional words in the longer one of two duplicates.
MAX_EXTRA_WORDS: Final = 0.2
# Penalty of a memory for each better one of its session, and for a better one next to it in the conversation (less
# with distance), if the question asks for everything on a topic: its answers are spread over the course of events.
SESSION_PENALTY: Final = 0.035
NEARNESS_PENALTY: Final = 0.14
# The same if the question asks for several things, usually among the best memories anyway.
SEVERAL_PENALTY: Final = 0.015
SPREAD_FACTOR: Final = 4
_NEARNESS_PENALTIES: Final = np.array(
    [NEARNESS_PENALTY * (1 - abs(place - REACH) / (REACH + 2)) for place in range(2 * REACH + 1)], np.float32
)
# Longer texts are duplicates only if they are equal: comparing them word by word would take longer than the search.
MAX_COMPARED_CHARACTERS: Final = 20_000
# An additional word of these changes the meaning of a text.
_NEGATIONS: Final = frozenset(
    all_terms("not no never nor none nobody nothing neither without except unless until only but cannot hardly rarely")
)
# Characters that only separate words or sentences. A question mark changes the meaning.
_PUNCTUATION: Final = ".,;:!\"'()[]\u201c\u201d\u2018\u2019\u2026"


def find_near_duplicates(
    vectors: NDArray[np.float32], best_first: Sequence[int], limit: int
) -> tuple[Sequence[int], Mapping[int, Sequence[int]]]:
    """Return as many of the best rows as give `limit` distinct ones, and for each row the better ones it may repeat."""
    width = limit
    while True:
        some = best_first[:width]
        first = vectors[some]
        alike = first @ first.T >= SIMILAR_FROM
        if width == limit and np.count_nonzero(alike) == np.count_nonzero(alike.diagonal()):
            return some, {}  # each one is similar only to itself
        alike = np.tril(alike, -1)
        repeats: NDArray[np.bool_] = np.asarray(alike.any(axis=1))
        if width >= len(best_first) or width - np.count_nonzero(repeats) >= limit:
            break
        width *= 2
    enough = int(np.searchsorted(np.cumsum(~repeats), limit)) + 1
    lookalikes: dict[int, list[int]] = {
        some[row]: [some[better] for better in alike[row].nonzero()[0].tolist()]
        for row in repeats[:enough].nonzero()[0].tolist()
    }
    return some[:enough], lookalikes


def fold_duplicates(memories: Mapping[int, Memory], near_duplicates: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Map the row of each duplicate to the row of the best memory with the same words.

    `near_duplicates` must be ordered best first. Rows without a memory are skipped.
    """
    folded: dict[int, int] = {}
    for row, better_rows in near_duplicates.items():
        for better in better_rows:
            if row in memories and better in memories and is_duplicate(memories[row], memories[better]):
                folded[row] = folded.get(better, better)
                break
    return folded


def find_full_match(pool: CandidatePool) -> int | None:
    """Return the row of the best candidate that contains every search term; None if there is none."""
    own = pool.neighbours[:, REACH]
    if not pool.terms or not len(own):
        return None
    scores = np.where((pool.text_occurrences[own] > 0).all(axis=1), pool.text_bm25[own], np.float32(0))
    row = int(scores.argmax())
    return row if scores[row] > 0 else None


def is_duplicate(one: Memory, other: Memory) -> bool:
    """Return True if two memories have almost the same words, the same speaker and no different keys."""
    if one.speaker != other.speaker or (one.key and other.key and one.key != other.key):
        return False
    if max(len(one.content), len(other.content)) > MAX_COMPARED_CHARACTERS:
        return one.content == other.content
    return have_same_words(one.content, other.content)


def have_same_words(one: str, other: str) -> bool:
    """Return True if two texts have the same words in the same order, in any grammatical form.

    Compares word by word, because a bag of words or a vector cannot distinguish "Ada owes Bob" from "Bob owes Ada". One
    text may have a few more words, unless one of them changes the meaning.
    """
    short, long = sorted((_words(one), _words(other)), key=len)
    if len(long) - len(short) > MAX_EXTRA_WORDS * len(short):
        return False
    rest = iter(short)
    expected = next(rest, None)
    additional: list[str] = []
    for term in long:
        if term == expected:
            expected = next(rest, None)
        else:
            additional.append(term)
    return expected is None and not any(term in _NEGATIONS or not term.isalpha() for term in additional)


def covers_text(text: str, other: str) -> bool:
    """Return True if a text has the same words as another and contains each of them literally.

    Use it before the other text is deleted: unlike in recall, a different grammatical form is a difference here.
    """
    rest = iter(bare_words(text))
    same = all(word in rest for word in bare_words(other))
    return same and have_same_words(text.casefold(), other.casefold())


@lru_cache(maxsize=128)  # each text is compared with many
def bare_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case without punctuation; pieces of only punctuation (":(") stay."""
    return tuple([piece.strip(_PUNCTUATION).casefold() or piece for piece in text.split()])


def _words(text: str) -> list[str]:
    """Return the pieces of a text: words as stems, others ("C++", "-5", "really?") in lower case."""
    found: list[str] = []
    for piece in text.split():
        bare = piece.strip(_PUNCTUATION)
        found += all_terms(bare) if bare.isalpha() else [bare.casefold()]
    return found


def diversify(
    scores: NDArray[np.float32], vectors: NDArray[np.float32], best_first: Sequence[int], diversity: float
) -> list[int]:
    """Reorder the rows by maximal marginal relevance (MMR): by score and by dissimilarity to those before.

    `diversity` is the weight of dissimilarity, 0 to 1. A row without a vector is similar to none.
    """
    rows = np.array(best_first, dtype=np.intp)
    weighted, values = (1 - diversity) * scores[rows], np.nan_to_num(vectors[rows])
    similarity = np.zeros(len(rows), dtype=np.float32)
    left = np.ones(len(rows), dtype=np.bool_)
    chosen: list[int] = []
    for _ in rows:
        next_best = int(np.argmax(np.where(left, weighted - diversity * similarity, -np.inf)))
        left[next_best] = False
        chosen.append(int(rows[next_best]))
        np.maximum(similarity, values @ values[next_best], out=similarity)
    return chosen


def spread_over_sessions(
    scores: NDArray[np.float32], sessions: NDArray[np.int32], best_first: Sequence[int], count: int
) -> list[int]:
    """Reorder the best rows with a small penalty for each better row of the same session.

    For a question about several things, which are often mentioned at different times. Only the first
    `SPREAD_FACTOR * count` rows are reordered.
    """
    first = best_first[: SPREAD_FACTOR * count]
    better: Counter[int] = Counter()
    penalized: dict[int, float] = {}
    for row, score, session in zip(first, scores[first].tolist(), sessions[first].tolist(), strict=True):
        penalized[row] = score - SEVERAL_PENALTY * better[session]
        if session >= 0:
            better[session] += 1
    return [*sorted(first, key=lambda row: -penalized[row]), *best_first[SPREAD_FACTOR * count :]]


def spread_over_time(
    scores: NDArray[np.float32],
    sessions: NDArray[np.int32],
    neighbours: NDArray[np.intp],
    best_first: Sequence[int],
    count: int,
) -> list[int]:
    """Reorder the rows so that the first `count` cover the course of events, not its most discussed moment.

    Each row is followed by a penalty for the other rows of its session, and for those near it in the conversation.
    """
    row_of = np.full(int(neighbours.max(initial=0)) + 2, -1, dtype=np.intp)
    row_of[neighbours[:, REACH]] = np.arange(len(neighbours))
    left = scores.copy()
    is_left = np.zeros(len(left), dtype=np.bool_)
    is_left[list(best_first)] = True
    chosen: list[int] = []
    for _ in range(min(count, len(best_first))):
        row = int(np.argmax(np.where(is_left, left, -np.inf)))
        is_left[row] = False
        chosen.append(row)
        if sessions[row] >= 0:
            left[sessions == sessions[row]] -= np.float32(SESSION_PENALTY)
            beside = row_of[neighbours[row]]
            left[beside[beside >= 0]] -= _NEARNESS_PENALTIES[beside >= 0]
    return [*chosen, *(row for row in best_first if is_left[row])]
