"""Which of the fitting memories make the answer: the same thing once, various if that is wanted, within a budget.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.memory.models import CandidatePool, Memory
from scrubjay.search_index.neighbourhood import REACH
from scrubjay.search_index.terms import every_term

# Two texts with less similar meanings cannot have almost the same words.
ALIKE: Final = 0.9
# One text may have so large a share of words that the other one lacks.
MORE_WORDS: Final = 0.2
# What a memory loses for each better one of the same session, where all about a topic is wanted. With it questions that
# several memories answer find more of them; those that one memory answers would lose a little.
SPREAD: Final = 0.02
# A text with one of these more says something else.
_TURNING: Final = frozenset(
    every_term("not no never nor none nobody nothing neither without except unless until only but cannot hardly rarely")
)
# What only parts words or sentences. A question mark does more.
_PARTING: Final = ".,;:!\"'()[]\u201c\u201d\u2018\u2019\u2026"


def with_lookalikes(
    vectors: NDArray[np.float32], best_first: Sequence[int], limit: int
) -> tuple[Sequence[int], Mapping[int, Sequence[int]]]:
    """As many of the best as are needed for `limit` different ones, and of each which better ones it may repeat."""
    width = limit
    while True:
        some = best_first[:width]
        first = vectors[some]
        alike = first @ first.T >= ALIKE
        if width == limit and np.count_nonzero(alike) == np.count_nonzero(alike.diagonal()):
            return some, {}  # each is like itself alone
        alike = np.tril(alike, -1)
        repeats: NDArray[np.bool_] = np.asarray(alike.any(axis=1))
        if width >= len(best_first) or width - np.count_nonzero(repeats) >= limit:
            break
        width *= 2
    enough = int(np.searchsorted(np.cumsum(~repeats), limit)) + 1
    lookalikes: dict[int, list[int]] = {
        some[place]: [some[better] for better in alike[place].nonzero()[0].tolist()]
        for place in repeats[:enough].nonzero()[0].tolist()
    }
    return some[:enough], lookalikes


def fold(memories: Mapping[int, Memory], lookalikes: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Which memories say the same as a better one, and which one that is.

    The lookalikes come best first.
    """
    folded: dict[int, int] = {}
    for place, better_ones in lookalikes.items():
        for better in better_ones:
            if says_the_same(memories[place], memories[better]):
                folded[place] = folded.get(better, better)
                break
    return folded


def with_every_term(pool: CandidatePool) -> int | None:
    """The place of the candidate that has every term that was looked for, and fits them best; None if none has all."""
    own = pool.around[:, REACH]
    if not pool.terms or not len(own):
        return None
    scores = np.where((pool.text_occurrences[own] > 0).all(axis=1), pool.text_bm25[own], np.float32(0))
    place = int(scores.argmax())
    return place if scores[place] > 0 else None


def says_the_same(one: Memory, other: Memory) -> bool:
    """Whether two memories have almost the same words, of the same speaker and on the same matter."""
    if one.speaker != other.speaker or (one.key and other.key and one.key != other.key):
        return False
    return almost_the_same_words(one.content, other.content)


def almost_the_same_words(one: str, other: str) -> bool:
    """Whether two texts have the same words, in whichever grammatical form, in the same order.

    Word for word, because a bag of words or a vector does not tell "Ada owes Bob" from "Bob owes Ada"; only a few more
    words on one side are allowed, none of which turns the meaning.
    """
    short, long = sorted((_words(one), _words(other)), key=len)
    if len(long) - len(short) > MORE_WORDS * len(short):
        return False
    rest = iter(short)
    expected = next(rest, None)
    more: list[str] = []
    for term in long:
        if term == expected:
            expected = next(rest, None)
        else:
            more.append(term)
    return expected is None and not any(term in _TURNING or not term.isalpha() for term in more)


def represents(text: str, other: str) -> bool:
    """Whether a text says what another one says, and has every word of it as it stands there.

    For when the other one gives way for good: grammatical forms that recall takes for the same tell something.
    """
    rest = iter(bare_words(text))
    same = all(word in rest for word in bare_words(other))
    return same and almost_the_same_words(text.casefold(), other.casefold())


@lru_cache(maxsize=128)  # each text is compared with many
def bare_words(text: str) -> tuple[str, ...]:
    """The words of a text in order, in lower case and without what only parts them; signs alone ":(" tell something."""
    return tuple([piece.strip(_PARTING).casefold() or piece for piece in text.split()])


def _words(text: str) -> list[str]:
    """Everything between spaces, in order; words by their stems, anything else ("C++", "-5", "really?") as it is."""
    found: list[str] = []
    for piece in text.split():
        bare = piece.strip(_PARTING)
        found += every_term(bare) if bare.isalpha() else [bare.casefold()]
    return found


def diversified(
    scores: NDArray[np.float32], vectors: NDArray[np.float32], best_first: Sequence[int], diversity: float
) -> list[int]:
    """The same, each next one chosen for its score and for how little it is like those before it.

    This is maximal marginal relevance with `diversity` as the share of the second; what cannot be
    compared is like none.
    """
    places = np.array(best_first, dtype=np.intp)
    worth, values = (1 - diversity) * scores[places], np.nan_to_num(vectors[places])
    likeness = np.zeros(len(places), dtype=np.float32)
    left = np.ones(len(places), dtype=np.bool_)
    chosen: list[int] = []
    for _ in places:
        next_best = int(np.argmax(np.where(left, worth - diversity * likeness, -np.inf)))
        left[next_best] = False
        chosen.append(int(places[next_best]))
        np.maximum(likeness, values @ values[next_best], out=likeness)
    return chosen


def spread_over_sessions(
    scores: NDArray[np.float32], sessions: NDArray[np.int32], best_first: Sequence[int]
) -> list[int]:
    """The same, each the later the more better ones there are of its session."""
    better: Counter[int] = Counter()
    held_back: dict[int, float] = {}
    for place in best_first:
        session = int(sessions[place])
        held_back[place] = float(scores[place]) - SPREAD * better[session]
        if session >= 0:
            better[session] += 1
    return sorted(best_first, key=lambda place: -held_back[place])
