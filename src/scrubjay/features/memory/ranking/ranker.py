"""Ranking of candidates by a weighted sum of signals, fusing word and vector search.

The weights were tuned on measurements and checked on conversations outside of every benchmark; see
docs/decisions/0010-rank-by-weighted-signals.md. This module imports numpy, which is slow to load: import it with
`lazy_module`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.memory.candidates import CandidatePool
from scrubjay.features.memory.ranking.presets import DECAY_PER_DAY, DESCRIPTIONS, SATURATING_USES, WEIGHTS, Preset
from scrubjay.features.memory.ranking.question import ParsedQuestion, QuestionKind, is_assistant
from scrubjay.features.memory.ranking.traits import Trait
from scrubjay.search_index.neighbourhood import REACH

Column = NDArray[np.float32]

# Weight of a question word by the distance of the nearest memory in the conversation that contains it.
DISTANCE_WEIGHTS: Final = (1.0, 0.75, 0.6, 0.45, 0.3, 0.2)
# The `substance` signal does not grow beyond this length.
SATURATING_WORDS: Final = 30
# The sum of signals that gives relevance 1; one in twenty correct answers reaches it. The second is for contextual
# embedding models, whose similarity has a higher weight.
FULL_SCORE: Final = 14.0
FULL_SCORE_CONTEXTUAL: Final = 17.0
# With less evidence than this, signals that are no evidence count proportionally less.
FULL_TRUST_EVIDENCE: Final = 3.0
# A hit is confirmed if it contains this share of the question's words, by weight, or has this cosine. Words do not
# confirm if the share of them that occurs in any text is below MIN_KNOWN_WORD_SHARE, unless there are so few texts that
# most words are missing anyway.
CONFIRMING_WORD_SHARE: Final = 0.3
CONFIRMING_COSINE: Final = 0.45
MIN_KNOWN_WORD_SHARE: Final = 0.7
MIN_TEXTS_FOR_WORD_CHECK: Final = 200
# Smaller contributions are not mentioned as a reason.
MIN_CONTRIBUTION: Final = 0.02
MICROSECONDS_PER_DAY: Final = 86_400_000_000
# Reduction of the penalty for assistants' texts, as a share, if the question asks for them or for a summary.
ASKED_RELIEF: Final = 0.7
SUMMARY_RELIEF: Final = 2.1
# Weight of the coverage in an assistant's text if the question asks for it; otherwise 0.
ASSISTANT_COVERAGE: Final = 0.6
# Weight of the coverage in a person's request to an assistant. Requests are long and each has a topic of its own, so
# words near it say little; `request` and `reply` take their place.
REQUEST_COVERAGE: Final = 0.1
# Factor of `request` if the question asks for an order: the person's own words show when a topic came up.
REQUEST_IN_ORDER: Final = 1.6

_NEIGHBOUR_WEIGHTS: Final = np.array(
    [DISTANCE_WEIGHTS[abs(place - REACH)] * (place != REACH) for place in range(2 * REACH + 1)], np.float32
)

_WHEN, _NAME, _ADVICE = int(QuestionKind.WHEN), int(QuestionKind.NAME), int(QuestionKind.ADVICE)
_QUESTION, _ASKS, _TIMED = int(Trait.QUESTION), int(Trait.ASKS), int(Trait.TIMED)
_PERSONAL, _NAMES, _STANDING = int(Trait.PERSONAL), int(Trait.NAMES), int(Trait.STANDING)
_INSTRUCTION = int(Trait.INSTRUCTION)


@dataclass(frozen=True, slots=True)
class SignalSpec:
    """Weight and description of a signal."""

    weight: float
    description: str
    is_evidence: bool = True
    """True if it shows that the memory is on the topic of the question; others only compare candidates on the topic."""


SIGNALS: Final[dict[str, SignalSpec]] = {
    "words": SignalSpec(1.6, "its words match the question"),
    "coverage": SignalSpec(5.4, "the question's words occur in it or near it in the conversation"),
    "meaning": SignalSpec(0.4, "it is more similar in meaning than other memories"),
    "similarity": SignalSpec(1.5, "it is similar in meaning"),
    "overlap": SignalSpec(-0.3, "words and meaning match for the same reason, which counts once"),
    "nearby": SignalSpec(0.3, "a memory near it in the conversation is similar in meaning"),
    "pairs": SignalSpec(0.4, "it contains adjacent words of the question"),
    "answer": SignalSpec(1.7, "it follows a question with the same words"),
    "two_before": SignalSpec(0.7, "the text two before it in the conversation matches"),
    "speaker": SignalSpec(1.35, "its speaker is the person that the question names"),
    "date": SignalSpec(5.0, "it is from the time that the question names"),
    "timed": SignalSpec(1.2, "the question asks for a time, and it contains one", is_evidence=False),
    "named": SignalSpec(0.3, "the question asks for a name, and it contains one", is_evidence=False),
    "standing": SignalSpec(3.0, "the question asks for advice, and it states a preference"),
    "session": SignalSpec(0.05, "another memory of its session has a high score"),
    "asking": SignalSpec(-1.2, "it is a question itself", is_evidence=False),
    "substance": SignalSpec(0.4, "it is longer than a few words", is_evidence=False),
    "names": SignalSpec(0.3, "it contains a proper name", is_evidence=False),
    "personal": SignalSpec(0.5, "it is in the first person", is_evidence=False),
    "assistant": SignalSpec(-1.9, "its speaker is an assistant, not a person", is_evidence=False),
    "request": SignalSpec(5.0, "it is a request to an assistant with the question's words"),
    "request_meaning": SignalSpec(0.7, "it is a request to an assistant, similar in meaning"),
    "reply": SignalSpec(3.0, "the assistant's reply to it has the question's words"),
    "statement": SignalSpec(2.5, "it is an assistant's text with the question's words"),
    "instruction": SignalSpec(2.5, "it instructs the assistant for the future", is_evidence=False),
    "event": SignalSpec(2.0, "the question asks for an order, and it has a time or a name", is_evidence=False),
    "replied": SignalSpec(8.0, "the question asks for a summary, and it answers a request with the same words"),
}

# A contextual embedding model distinguishes meanings better than one that adds up word vectors.
CONTEXTUAL_WEIGHTS: Final = {"meaning": 0.8, "similarity": 6.0, "overlap": -0.9}


class Signal(NamedTuple):
    """Value and contribution of a signal for one candidate."""

    name: str
    raw: float
    """Raw measure: BM25, a cosine, a count."""
    value: float
    """Normalized measure: relative to the best candidate, to other memories, or to 1."""
    weight: float
    contribution: float
    """Amount added to the score."""
    about: str


class Reasons(NamedTuple):
    """Explanation of the score of a candidate."""

    signals: tuple[Signal, ...]
    confirmed: bool
    """True if it contains what the question asks about; False if it is only related."""

    @property
    def why(self) -> str:
        """The three strongest signals in words."""
        strongest = sorted(self.signals, key=lambda signal: -signal.contribution)
        found = [signal.about for signal in strongest if signal.contribution >= MIN_CONTRIBUTION][:3]
        words = "; ".join(found) or "no strong signal"
        return words if self.confirmed else f"related, not confirmed: {words}"


class Ranking:
    """The scores of all candidates of a pool; explanations are computed on demand."""

    def __init__(
        self,
        pool: CandidatePool,
        question: ParsedQuestion,
        preset: Preset = Preset.RELEVANT,
        *,
        contextual: bool = False,
    ) -> None:
        """Score the candidates. `contextual` is True if the embedding model reads words in their context."""
        self._pool = pool
        self._contextual = contextual
        self._full = FULL_SCORE_CONTEXTUAL if contextual else FULL_SCORE
        self._values = _signals(pool, question)
        matrix = np.concatenate([*self._values.values()]).reshape(len(self._values), -1)
        evidence, other = _weights(self._values, contextual) @ matrix
        self._trust = _clip(evidence * np.float32(1 / FULL_TRUST_EVIDENCE))
        self._sums: Column = np.asarray(evidence + other * self._trust, dtype=np.float32)
        if len(pool.handles):
            self._values["session"] = _best_of_session(self._sums, pool.sessions)
            self._sums += np.float32(SIGNALS["session"].weight) * self._values["session"]
        self.relevance: Column = _clip(self._sums * np.float32(1 / self._full))
        self.scores = self.relevance
        self._weights = WEIGHTS[preset]
        self._static_signals: dict[str, Column] = {}
        if preset is not Preset.RELEVANT:
            self._static_signals = _static_signals(pool, question.asked_at)
            self.scores = np.float32(self._weights["relevance"]) * self.relevance
            for name, column in self._static_signals.items():
                self.scores += np.float32(self._weights[name]) * column

    def best_first(self) -> list[int]:
        """Return the rows of the candidates, most relevant first; among equals, the last stored first."""
        latest_first = (-self._sums[::-1]).argsort(kind="stable")
        return (len(self._sums) - 1 - latest_first).tolist()

    def split(self, threshold: float) -> tuple[list[int], list[int]]:
        """Return the rows above the threshold, by score, and the others, by relevance; best first.

        The threshold applies to relevance, so no preset promotes an irrelevant memory.
        """
        order = self.best_first()
        count = int(np.count_nonzero((self.relevance >= threshold) & (self.relevance > 0)))
        relevant = order[:count]
        if self._static_signals:
            relevant.sort(key=lambda row: -self.scores[row])
        return relevant, order[count:]

    @property
    def uncapped_scores(self) -> Column:
        """The scores, without the limit of 1 if no preset is used: equal scores there still have an order."""
        return self.scores if self._static_signals else np.asarray(self._sums * np.float32(1 / self._full))

    def confirmed(self, rows: Sequence[int]) -> list[bool]:
        """Return for each row whether it contains what the question asks about; else it is only related."""
        # Lists are faster than arrays for a few rows.
        pool, weights = self._pool, self._pool.term_weights.tolist()
        total = sum(weights) or 1
        known = sum(weight for weight, texts in zip(weights, pool.frequencies, strict=True) if texts)
        check_words = pool.text_count < MIN_TEXTS_FOR_WORD_CHECK or known / total >= MIN_KNOWN_WORD_SHARE
        similarity, speaker = self._values["similarity"], self._values.get("speaker")
        found: list[bool] = []
        for row in rows:
            is_confirmed = bool(similarity[row] >= CONFIRMING_COSINE)
            if check_words and not is_confirmed:
                occurrences = pool.text_occurrences[pool.neighbours[row, REACH]].tolist()
                contained = sum(weight for weight, count in zip(weights, occurrences, strict=True) if count)
                is_confirmed = contained / total >= CONFIRMING_WORD_SHARE
            found.append(is_confirmed and (speaker is None or bool(speaker[row] > 0)))
        return found

    def reasons(self, row: int) -> Reasons:
        """Return every signal of one candidate."""
        share = self._weights["relevance"]
        signals = [self._signal(name, float(column[row]), row, share) for name, column in self._values.items()]
        for name, column in self._static_signals.items():
            value, weight = float(column[row]), self._weights[name]
            signals.append(Signal(name, value, value, weight, weight * value, DESCRIPTIONS[name]))
        return Reasons(tuple(signals), *self.confirmed([row]))

    def _signal(self, name: str, value: float, row: int, share: float) -> Signal:
        spec = SIGNALS[name]
        trust = 1.0 if spec.is_evidence else float(self._trust[row])
        weight = _weight(name, self._contextual) * share
        raw = self._raw(name, value, row)
        return Signal(name, raw, value, weight, weight * value * trust / self._full, spec.description)

    def _raw(self, name: str, value: float, row: int) -> float:
        pool = self._pool
        match name:
            case "words":
                return float(pool.text_bm25[pool.neighbours[row, REACH]])
            case "meaning":
                return float(_nan_to_zero(pool.cosines)[row])
            case "pairs":
                return float(pool.pairs[row])
            case "substance":
                return float(pool.lengths[row])
            case _:
                return value


def _weights(names: Iterable[str], contextual: bool) -> NDArray[np.float32]:
    """Return the weights of these signals: of evidence in the first row, of the others in the second."""
    weights = [(_weight(name, contextual), SIGNALS[name].is_evidence) for name in names]
    return np.array(
        [
            [weight if is_evidence else 0 for weight, is_evidence in weights],
            [0 if is_evidence else weight for weight, is_evidence in weights],
        ],
        dtype=np.float32,
    )


def _weight(name: str, contextual: bool) -> float:
    return CONTEXTUAL_WEIGHTS[name] if contextual and name in CONTEXTUAL_WEIGHTS else SIGNALS[name].weight


def _static_signals(pool: CandidatePool, asked_at: datetime) -> dict[str, Column]:
    """Return the signals that do not depend on the question's words, each from 0 to 1."""
    days = np.maximum(_microseconds(asked_at) - pool.last_used, 0) / MICROSECONDS_PER_DAY
    use = np.log1p(pool.uses) / np.log1p(SATURATING_USES)
    return {
        "recency": np.exp(-DECAY_PER_DAY * days).astype(np.float32),
        "use": np.minimum(use, 1).astype(np.float32),
        "importance": pool.importance,
        "confidence": pool.confidence,
    }


def _signals(pool: CandidatePool, question: ParsedQuestion) -> dict[str, Column]:
    own = pool.neighbours[:, REACH]
    traits = pool.text_traits[own]
    # The additional last text stands for missing neighbours (index -1); it has no words and no traits.
    words = np.zeros(len(pool.text_bm25) + 1, dtype=np.float32)
    np.divide(pool.text_bm25, pool.text_bm25.max(initial=0) or 1, out=words[:-1])
    z_score, similarity = _nan_to_zero(pool.z_scores), _nan_to_zero(pool.cosines)
    by_assistant = _by_assistant(pool)
    answer = two_before = np.zeros(len(own), dtype=np.float32)
    if is_conversation := _is_conversation(pool):
        asked = words.copy()
        asked[:-1] *= _has_trait(pool.text_traits, _ASKS)
        answer, two_before = asked[pool.neighbours[:, REACH - 1]], words[pool.neighbours[:, REACH - 2]]
    coverage = _coverage(pool, by_assistant, is_conversation=is_conversation)
    names = _has_trait(traits, _NAMES)
    found: dict[str, Column] = {
        "words": words[own],
        "coverage": coverage,
        "meaning": z_score,
        "similarity": similarity,
        "overlap": coverage * z_score,
        "pairs": np.minimum(pool.pairs, 2),
        "answer": answer,
        "two_before": two_before,
        "asking": _has_trait(traits, _QUESTION),
        "substance": np.log1p(np.minimum(pool.lengths, SATURATING_WORDS)),
        "names": names,
        "personal": _has_trait(traits, _PERSONAL),
    }
    meant = question.named_speakers(pool.speaker_names)
    if len(meant) == 1:
        found["speaker"] = (pool.text_speakers[own] == pool.speaker_names.index(meant[0])).astype(np.float32)
    if question.spans:
        found["date"] = _date_fit(pool.times, question)
    kind = int(question.kind)  # ten times faster than flags
    if kind & _WHEN:
        found["timed"] = _has_trait(traits, _TIMED)
    if kind & _NAME:
        found["named"] = names
    if kind & _ADVICE:
        found["standing"] = _has_trait(traits, _STANDING)
    if is_conversation:
        found["nearby"] = _nearby(pool, z_score, by_assistant)
    if by_assistant is not None:
        _adjust_for_assistants(found, by_assistant[own], question.kind)
        _add_chat_signals(found, pool, np.append(by_assistant, False), words, question.kind)
    return found


def _add_chat_signals(
    found: dict[str, Column],
    pool: CandidatePool,
    by_assistant: NDArray[np.bool_],
    words: Column,
    kind: QuestionKind,
) -> None:
    """Add the signals of chats with an assistant, and adjust those that mean something else there.

    `by_assistant` and `words` have one more entry, for missing neighbours.
    """
    own, before, after = (pool.neighbours[:, REACH + step] for step in (0, -1, 1))
    spoken = by_assistant[own]
    is_request = by_assistant[pool.neighbours].any(axis=1) & ~spoken
    request, wants_order = is_request.astype(np.float32), bool(kind & QuestionKind.ORDER)
    found["coverage"] = found["coverage"] * np.where(is_request, np.float32(REQUEST_COVERAGE), np.float32(1))
    found["overlap"] = found["coverage"] * found["meaning"]
    found["asking"] = found["asking"] * (1 - request)  # a request is a question, and states facts
    found["request_meaning"] = found["meaning"] * request
    if not kind & QuestionKind.ASKED:
        found["request"] = found["words"] * request * np.float32(REQUEST_IN_ORDER if wants_order else 1)
        found["reply"] = words[after] * by_assistant[after] * request
    found["statement"] = found["words"] * spoken
    found["instruction"] = _has_trait(pool.text_traits[own], _INSTRUCTION) * request
    if wants_order:
        timed = _has_trait(pool.text_traits[own], _TIMED)
        found["event"] = (timed + found["names"]) * np.where(spoken, np.float32(0), np.float32(1))
    if kind & QuestionKind.SUMMARY:
        found["replied"] = words[before] * ~by_assistant[before] * spoken


def _adjust_for_assistants(found: dict[str, Column], spoken: NDArray[np.bool_], kind: QuestionKind) -> None:
    """Lower the signals of assistants' texts, unless the question asks for them."""
    people = np.where(spoken, np.float32(0), np.float32(1))
    wanted = ASKED_RELIEF * bool(kind & QuestionKind.ASKED) + SUMMARY_RELIEF * bool(kind & QuestionKind.SUMMARY)
    found["assistant"] = (1 - people) * np.float32(1 - wanted)
    found["coverage"] = found["coverage"] * np.where(spoken, np.float32(ASSISTANT_COVERAGE if wanted else 0), 1)
    found["overlap"] = found["coverage"] * found["meaning"]
    for name in ("personal", "asking", "standing"):
        if name in found:
            found[name] = found[name] * people


def _by_assistant(pool: CandidatePool) -> NDArray[np.bool_] | None:
    """Return a mask of the texts by assistants; None if there are none."""
    assistants = [place for place, name in enumerate(pool.speaker_names) if is_assistant(name)]
    if not assistants:
        return None
    # `np.isin` would import another part of numpy.
    return (pool.text_speakers[:, np.newaxis] == np.array(assistants)).any(axis=1)


def _coverage(pool: CandidatePool, by_assistant: NDArray[np.bool_] | None, *, is_conversation: bool) -> Column:
    """Return the weighted share of the question's words that occur in each memory or near it, by their distance."""
    if not pool.terms:
        return np.zeros(len(pool.handles), dtype=np.float32)
    has = np.zeros((len(pool.text_bm25) + 1, len(pool.terms)), dtype=np.float32)
    np.greater(pool.text_occurrences, 0, out=has[:-1], casting="unsafe")
    nearest = has[pool.neighbours[:, REACH]]
    if is_conversation:
        if by_assistant is not None:
            has[:-1][by_assistant] = 0  # an assistant's text does not show the topic of a person's text
        for distance in range(1, REACH + 1):
            for place in (REACH - distance, REACH + distance):
                np.maximum(
                    nearest, np.float32(DISTANCE_WEIGHTS[distance]) * has[pool.neighbours[:, place]], out=nearest
                )
    return nearest @ (pool.term_weights / np.add.reduce(pool.term_weights))


def _is_conversation(pool: CandidatePool) -> bool:
    """Return True if any candidate has neighbours in a session."""
    return len(pool.text_bm25) > len(pool.handles) or bool((pool.sessions >= 0).any())


def _nearby(pool: CandidatePool, z_score: Column, by_assistant: NDArray[np.bool_] | None) -> Column:
    """Return the best z-score among the neighbours of each candidate, weighted by distance."""
    by_text = np.zeros(len(pool.text_bm25) + 1, dtype=np.float32)
    by_text[pool.neighbours[:, REACH]] = z_score
    if by_assistant is not None:
        by_text[:-1][by_assistant] = 0
    return (by_text[pool.neighbours] * _NEIGHBOUR_WEIGHTS).max(axis=1)


def _clip(values: Column) -> Column:
    """Limit the values to 0 to 1."""
    return np.minimum(np.maximum(values, np.float32(0)), np.float32(1))


def _nan_to_zero(values: Column) -> Column:
    """Replace NaN by 0."""
    return np.where(np.isnan(values), np.float32(0), values)


def _has_trait(traits: NDArray[np.int32], trait: int) -> Column:
    return ((traits & trait) != 0).astype(np.float32)


def _date_fit(times: NDArray[np.int64], question: ParsedQuestion) -> Column:
    """Return how well the time of each memory fits the question's time spans, 0 to 1."""
    fits = np.zeros(len(times), dtype=np.float32)
    for span in question.spans:
        inside = (times >= _microseconds(span.start)) & (times < _microseconds(span.end))
        np.maximum(fits, np.float32(span.fit) * inside, out=fits)
    return fits


def _microseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)


def _best_of_session(scores: Column, sessions: NDArray[np.int32]) -> Column:
    """Return for each candidate the best score in its session; without a session, its own score."""
    last = int(sessions.max())
    if last < 0:
        return scores.copy()
    best = np.full(last + 2, -np.inf, dtype=np.float32)
    np.maximum.at(best, sessions, scores)
    return np.where(sessions < 0, scores, best[sessions])
