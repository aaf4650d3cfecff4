"""Making an answer: from candidates to the memories that are worth telling."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from math import isnan
from typing import TYPE_CHECKING

from scrubjay.features.memory.models import CandidatePool, Memory
from scrubjay.features.memory.ranking.presets import Preset
from scrubjay.features.memory.ranking.question import Kind, Question

if TYPE_CHECKING:
    from scrubjay.features.memory.ranking.ranker import Reasons

# How many memories answer a question, and one that wants all about a topic, unless somebody says how many.
FEW = 10
ALL_OF_A_TOPIC = 30
# Under a budget so many times the limit are read: what is too long makes room for shorter ones behind it.
READ_FOR_BUDGET = 4


class Order(StrEnum):
    """How an answer is put in order."""

    AUTO = "auto"
    """By time when the question is about it, and nobody said how many memories they want."""
    SCORE = "score"
    TIME = "time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What sort of answer somebody wants."""

    limit: int | None = None
    """How many memories at most; by default as many as such a question needs."""
    threshold: float
    """The least relevance."""
    order: Order = Order.AUTO
    preset: Preset = Preset.RELEVANT
    diversity: float = 0.0
    """From 0, by score alone, to 1, as different from each other as can be."""
    token_budget: int | None = None
    near_misses: int = 0
    """How many of those that are not relevant enough are told of."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers, and how well."""

    memory: Memory
    score: float
    relevance: float
    """The part of the score that is due to the question; what the threshold is about."""
    cosine: float | None
    """How similar its meaning is to the question's, -1 to 1; None when the two cannot be compared."""
    confirmed: bool
    """Whether it says what was asked about; else it is only related to it."""
    duplicates: Sequence[str]
    """The ids of memories that say the same and were left out for it."""
    explain: "Callable[[], Reasons]"
    """Where the score comes from, worked out when asked for."""


class Answering:
    """One question's way to its answer: first `choose` among candidates, then `tell` what was read of them."""

    def __init__(self, question: Question, wish: Wish, *, contextual: bool) -> None:
        """`contextual` is whether the model behind the vectors reads words in their context."""
        self._question = question
        self._contextual = contextual
        self.limit = wish.limit or (ALL_OF_A_TOPIC if question.wants_all else FEW)
        self.order = wish.order
        if wish.order is Order.AUTO:
            # Who says how many cuts the answer off somewhere, and expects the best before that.
            by_time = Kind.ORDER in question.kind and wish.limit is None
            self.order = Order.TIME if by_time else Order.SCORE
        self._wish = wish
        self._lookalikes: Mapping[int, Sequence[int]] = {}
        self._fitting: Sequence[int] = ()
        self._unfitting: Sequence[int] = ()
        self.considered = 0
        self.below_threshold = 0
        self.over_budget = 0
        """How many were left out because they did not fit into the budget."""
        self.tokens = 0

    def choose(self, pool: CandidatePool) -> list[int]:
        """The handles of the candidates that must be read."""
        from scrubjay.features.memory.ranking.ranker import Ranking
        from scrubjay.features.memory.ranking.selection import diversified, spread_over_sessions, with_lookalikes

        wish = self._wish
        self.pool = pool
        self._ranking = ranking = Ranking(pool, self._question, wish.preset, contextual=self._contextual)
        fitting, unfitting = ranking.parted(wish.threshold)
        self.considered, self.below_threshold = len(pool.handles), len(unfitting)
        if wish.diversity:
            fitting = diversified(ranking.scores, pool.vectors, fitting, wish.diversity)
        elif self._question.wants_all:
            fitting = spread_over_sessions(ranking.scores, pool.sessions, fitting)
        enough = self.limit if wish.token_budget is None else READ_FOR_BUDGET * self.limit
        self._fitting = fitting[:enough]
        if self.order is not Order.TIME:  # what happened twice is told twice
            self._fitting, self._lookalikes = with_lookalikes(pool.vectors, fitting, enough)
        self._unfitting = unfitting[: wish.near_misses]
        return pool.handles[[*self._fitting, *self._unfitting]].tolist()

    def tell(self, memories: Mapping[int, Memory]) -> tuple[list[Hit], list[Hit]]:
        """The hits and the near misses, given what was read."""
        handles = self.pool.handles.tolist()
        read = {place: memories[handles[place]] for place in (*self._fitting, *self._unfitting)}
        duplicates: dict[int, list[str]] = defaultdict(list)
        folded: dict[int, int] = {}
        if self._lookalikes:
            from scrubjay.features.memory.ranking.selection import fold

            folded = fold(read, self._lookalikes)
            for place, better in folded.items():
                duplicates[better].append(read[place].id)
        hits = self._within_limits([place for place in self._fitting if place not in folded], read)
        if self.order is Order.TIME:
            hits.sort(key=lambda place: (self.pool.times[place], place))
        return self._hits(hits, read, duplicates), self._hits(self._unfitting, read, {})

    def _within_limits(self, places: Sequence[int], read: Mapping[int, Memory]) -> list[int]:
        budget = self._wish.token_budget
        chosen: list[int] = []
        for place in places:
            if len(chosen) == self.limit:
                break
            tokens = tokens_of(read[place].content)
            if budget is not None and self.tokens + tokens > budget:
                self.over_budget += 1
                continue
            self.tokens += tokens
            chosen.append(place)
        return chosen

    def _hits(
        self, places: Sequence[int], read: Mapping[int, Memory], duplicates: Mapping[int, Sequence[str]]
    ) -> list[Hit]:
        if not places:
            return []
        ranking = self._ranking
        return [
            Hit(
                memory=read[place],
                score=float(ranking.scores[place]),
                relevance=float(ranking.relevance[place]),
                cosine=None if isnan(cosine := float(self.pool.cosines[place])) else cosine,
                confirmed=confirmed,
                duplicates=duplicates.get(place, ()),
                explain=partial(ranking.reasons, place),
            )
            for place, confirmed in zip(places, ranking.confirmed(places), strict=True)
        ]


def tokens_of(content: str) -> int:
    """About how many tokens of a language model a text takes: a quarter of its characters, rounded up."""
    return -(-len(content) // 4)
