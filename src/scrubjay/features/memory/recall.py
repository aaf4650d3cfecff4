"""Select the memories that answer a question from the candidates of a search."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from math import isnan
from typing import TYPE_CHECKING

from scrubjay.core.callers import Caller
from scrubjay.core.lazy import lazy_module
from scrubjay.features.memory.candidates import CandidatePool
from scrubjay.features.memory.link_review import LinkReview
from scrubjay.features.memory.models import Memory
from scrubjay.features.memory.passages import MAX_WHOLE_CHARACTERS, Passage, find_passage
from scrubjay.features.memory.ranking.presets import Preset
from scrubjay.features.memory.ranking.question import ParsedQuestion, QuestionKind

if TYPE_CHECKING:
    from scrubjay.features.memory.ranking import ranker, selection
    from scrubjay.features.memory.ranking.ranker import Reasons
else:
    # Both import numpy.
    ranker = lazy_module("scrubjay.features.memory.ranking.ranker")
    selection = lazy_module("scrubjay.features.memory.ranking.selection")

# Default limits: for most questions, and for questions about everything on a topic.
DEFAULT_LIMIT = 10
TOPIC_LIMIT = 30
# With a token budget, read this many times the limit: shorter memories replace those that exceed the budget.
BUDGET_READ_FACTOR = 4


class Order(StrEnum):
    """Order of the hits."""

    AUTO = "auto"
    """By time when the question asks about order and no limit is given, else by score."""
    SCORE = "score"
    TIME = "time"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """Limits, threshold and order of a recall."""

    limit: int | None = None
    """Maximum number of hits; None chooses a default by the kind of question."""
    threshold: float
    """Minimum relevance of a hit, 0 to 1."""
    order: Order = Order.AUTO
    preset: Preset = Preset.RELEVANT
    diversity: float = 0.0
    """0 orders by score alone; 1 prefers memories that differ most from each other."""
    token_budget: int | None = None
    near_misses: int = 0
    """Number of memories below the threshold to return as near misses."""
    code_reader: Caller | None = None
    """Reviews of linked code show what this caller may read; without one the hits have no reviews."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled memory with its score."""

    memory: Memory
    score: float
    relevance: float
    """Part of the score that depends on the question alone; compared with the threshold."""
    cosine: float | None
    """Cosine of the vectors of memory and question, -1 to 1; None when one of them has no vector."""
    confirmed: bool
    """True if the memory contains what the question asks about; False if it is only related."""
    duplicates: Sequence[str]
    """Ids of memories with the same content that were left out."""
    explain: "Callable[[], Reasons]"
    """Computes the signals behind the score, on demand."""
    review: LinkReview | None = None
    """Current state of the code that the memory is about; None without links to code, or if it was not asked for."""
    passage: Passage | None = None
    """The passage of a long text that matches the question; None if the text is short."""

    @property
    def text(self) -> str:
        """The text to show: the content, or the passage of a long one."""
        return self.memory.content if self.passage is None else self.passage.text


class RecallSelection:
    """Selects the hits of one question: `select` ranks the candidates, `to_hits` builds hits from the memories read."""

    def __init__(self, question: ParsedQuestion, options: RecallOptions, *, contextual: bool) -> None:
        """Create a selection. `contextual` is True if the embedding model reads words in their context."""
        self._question = question
        self._contextual = contextual
        self.limit = options.limit or (TOPIC_LIMIT if question.wants_all else DEFAULT_LIMIT)
        self.order = options.order
        if options.order is Order.AUTO:
            # A caller that gives a limit expects the best memories within it.
            by_time = QuestionKind.ORDER in question.kind and options.limit is None
            self.order = Order.TIME if by_time else Order.SCORE
        self._options = options
        self._near_duplicates: Mapping[int, Sequence[int]] = {}
        self._passages: dict[int, Passage] = {}
        self._relevant: Sequence[int] = ()
        self._irrelevant: Sequence[int] = ()
        self.considered = 0
        self.below_threshold = 0
        self.over_budget = 0
        """Number of memories left out because they exceed the token budget."""
        self.damaged = 0
        """Number of memories left out because they are damaged."""
        self.tokens = 0

    def select(self, pool: CandidatePool) -> list[int]:
        """Rank the candidates and return the handles of the memories to read."""
        options = self._options
        self.pool = pool
        self._ranking = ranking = ranker.Ranking(pool, self._question, options.preset, contextual=self._contextual)
        relevant, irrelevant = ranking.split(options.threshold)
        self.considered, self.below_threshold = len(pool.handles), len(irrelevant)
        count = self.limit if options.token_budget is None else BUDGET_READ_FACTOR * self.limit
        if options.diversity:
            relevant = selection.diversify(ranking.scores, pool.vectors, relevant, options.diversity)
        elif self._question.wants_all:
            relevant = selection.spread_over_time(
                ranking.uncapped_scores, pool.sessions, pool.neighbours, relevant, count
            )
        elif QuestionKind.SEVERAL in self._question.kind:
            relevant = selection.spread_over_sessions(ranking.uncapped_scores, pool.sessions, relevant, count)
        self._relevant = relevant[:count]
        if self.order is not Order.TIME:  # a timeline keeps repeated events
            self._relevant, self._near_duplicates = selection.find_near_duplicates(pool.vectors, relevant, count)
        self._irrelevant = irrelevant[: options.near_misses]
        return pool.handles[[*self._relevant, *self._irrelevant]].tolist()

    def to_hits(self, memories: Mapping[int, Memory]) -> tuple[list[Hit], list[Hit]]:
        """Return the hits and the near misses.

        `memories` maps the selected handles to their memories; a handle without one is left out as damaged.
        """
        handles = self.pool.handles.tolist()
        chosen = (*self._relevant, *self._irrelevant)
        by_row = {row: memories[handles[row]] for row in chosen if handles[row] in memories}
        self.damaged = self.pool.damaged + len(chosen) - len(by_row)
        duplicates: dict[int, list[str]] = defaultdict(list)
        folded: dict[int, int] = {}
        if self._near_duplicates:
            folded = selection.fold_duplicates(by_row, self._near_duplicates)
            for row, better in folded.items():
                duplicates[better].append(by_row[row].id)
        hits = self._within_limits([row for row in self._relevant if row in by_row and row not in folded], by_row)
        if self.order is Order.TIME:
            hits.sort(key=lambda row: (self.pool.times[row], row))
        return self._hits(hits, by_row, duplicates), self._hits(
            [row for row in self._irrelevant if row in by_row], by_row, {}
        )

    def _within_limits(self, rows: Sequence[int], by_row: Mapping[int, Memory]) -> list[int]:
        budget = self._options.token_budget
        chosen: list[int] = []
        for row in rows:
            if len(chosen) == self.limit:
                break
            tokens = estimate_tokens(self._shown_text(row, by_row[row]))
            if budget is not None and self.tokens + tokens > budget:
                self.over_budget += 1
                continue
            self.tokens += tokens
            chosen.append(row)
        return chosen

    def _shown_text(self, row: int, memory: Memory) -> str:
        """Return the content of a memory, or the matching passage of a long one."""
        if len(memory.content) <= MAX_WHOLE_CHARACTERS:
            return memory.content
        if row not in self._passages:
            self._passages[row] = find_passage(memory.content, self.pool.terms, self.pool.term_weights.tolist())
        return self._passages[row].text

    def _hits(
        self, rows: Sequence[int], by_row: Mapping[int, Memory], duplicates: Mapping[int, Sequence[str]]
    ) -> list[Hit]:
        if not rows:
            return []
        ranking = self._ranking
        for row in rows:
            self._shown_text(row, by_row[row])
        return [
            Hit(
                memory=by_row[row],
                score=float(ranking.scores[row]),
                relevance=float(ranking.relevance[row]),
                cosine=None if isnan(cosine := float(self.pool.cosines[row])) else cosine,
                confirmed=confirmed,
                duplicates=duplicates.get(row, ()),
                explain=partial(ranking.reasons, row),
                passage=self._passages.get(row),
            )
            for row, confirmed in zip(rows, ranking.confirmed(rows), strict=True)
        ]


def estimate_tokens(content: str) -> int:
    """Estimate the tokens of a text: a quarter of its characters, rounded up."""
    return -(-len(content) // 4)
