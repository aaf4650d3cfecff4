"""How well each candidate answers a question: a sum of signals, each of which makes sense for any conversation.

The weights start from measured notes and were checked on conversations that are in no benchmark; see
docs/decisions/0010-ranking-by-signals.md. This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.memory.models import CandidatePool
from scrubjay.features.memory.ranking.presets import ABOUT, DECAY_PER_DAY, MANY_USES, WEIGHTS, Preset
from scrubjay.features.memory.ranking.question import Kind, Question, is_assistant
from scrubjay.features.memory.ranking.traits import Trait
from scrubjay.search_index.neighbourhood import REACH

Column = NDArray[np.float32]

# What a word is worth that occurs only so far away from the memory itself.
NEARNESS: Final = (1.0, 0.75, 0.6, 0.45, 0.3, 0.2)
# More words than this say nothing more about whether a text is worth reading.
ENOUGH_WORDS: Final = 30
# The sum at which nothing is missing: one in twenty true answers reaches it. The second is for models that read words
# in their context, whose meaning counts more.
FULL: Final = 14.0
FULL_IN_CONTEXT: Final = 17.0
# Below this much evidence, what a text is like counts less and less, and nothing at all without evidence.
CONVINCING: Final = 3.0
# A memory with less of the question's words, and less similar, may be about something else; and so may any, when less
# than this much of the question's words occurs anywhere. Fewer texts than these lack most words anyway.
SAYS_IT: Final = 0.3
MEANS_IT: Final = 0.45
KNOWN: Final = 0.7
MANY_TEXTS: Final = 200
# A smaller contribution is not worth mentioning.
TELLING: Final = 0.02
MICROSECONDS_PER_DAY: Final = 86_400_000_000
# How much of what speaks against an assistant's words falls away when these are asked for, or a summary is.
WHEN_ASKED: Final = 0.7
WHEN_SUMMARISED: Final = 1.1
# What the question's words count in an assistant's words that are asked for; else they do not.
COVERED_BY_ASSISTANT: Final = 0.6

_AROUND: Final = np.array(
    [NEARNESS[abs(place - REACH)] * (place != REACH) for place in range(2 * REACH + 1)], np.float32
)

_WHEN, _NAME, _ADVICE = int(Kind.WHEN), int(Kind.NAME), int(Kind.ADVICE)
_QUESTION, _ASKS, _TIMED = int(Trait.QUESTION), int(Trait.ASKS), int(Trait.TIMED)
_PERSONAL, _NAMES, _STANDING = int(Trait.PERSONAL), int(Trait.NAMES), int(Trait.STANDING)


@dataclass(frozen=True, slots=True)
class Meaning:
    """One signal: what it says, and how much it counts."""

    weight: float
    about: str
    evidence: bool = True
    """Whether it speaks for what the question is about; the others only tell between candidates that have evidence."""


SIGNALS: Final[dict[str, Meaning]] = {
    "words": Meaning(1.6, "its own words match the question's"),
    "coverage": Meaning(5.4, "the question's words occur in it, or near it in the conversation"),
    "meaning": Meaning(0.4, "it means something similar, compared with other memories"),
    "similarity": Meaning(1.5, "it means something similar"),
    "overlap": Meaning(-0.3, "words and meaning say the same, which counts once"),
    "nearby": Meaning(0.3, "something near it in the conversation means something similar"),
    "pairs": Meaning(0.4, "it has words of the question side by side"),
    "answer": Meaning(1.7, "it follows a question with the same words"),
    "two_before": Meaning(0.7, "what was said a little before matches"),
    "speaker": Meaning(1.35, "the one whom the question names said it"),
    "date": Meaning(5.0, "it happened when the question says"),
    "timed": Meaning(1.2, "the question asks when, and it says when", evidence=False),
    "named": Meaning(0.3, "the question asks for a name, and it has one", evidence=False),
    "standing": Meaning(3.0, "advice is asked for, and it says what is preferred"),
    "session": Meaning(0.05, "something in the same session fits well"),
    "asking": Meaning(-1.2, "it asks something itself", evidence=False),
    "substance": Meaning(0.4, "it says more than a few words", evidence=False),
    "names": Meaning(0.3, "it names somebody or something", evidence=False),
    "personal": Meaning(0.5, "somebody speaks about themselves", evidence=False),
    "assistant": Meaning(-1.9, "an assistant said it, not a person", evidence=False),
}

# A model that reads each word among the others tells meanings apart better than one that adds up words.
CONTEXTUAL: Final = {"meaning": 0.8, "similarity": 6.0, "overlap": -0.9}


class Signal(NamedTuple):
    """What one witness says of a candidate."""

    name: str
    raw: float
    """As it was measured."""
    value: float
    """As it counts: compared with the best, with other memories, or with 1."""
    weight: float
    contribution: float
    """What it adds to the score."""
    about: str


class Reasons(NamedTuple):
    """Why a candidate has its score."""

    signals: tuple[Signal, ...]
    confirmed: bool
    """Whether it says what was asked about; else it is only related to it."""

    @property
    def why(self) -> str:
        """The strongest reasons in words."""
        strongest = sorted(self.signals, key=lambda signal: -signal.contribution)
        found = [signal.about for signal in strongest if signal.contribution >= TELLING][:3]
        words = "; ".join(found) or "hardly anything speaks for it"
        return words if self.confirmed else f"related, not confirmed: {words}"


class Ranking:
    """All candidates of a pool, scored; the reasons can be asked for."""

    def __init__(
        self,
        pool: CandidatePool,
        question: Question,
        preset: Preset = Preset.RELEVANT,
        *,
        contextual: bool = False,
    ) -> None:
        """`contextual` is whether the model behind the vectors reads words in their context."""
        self._pool = pool
        self._contextual = contextual
        self._full = FULL_IN_CONTEXT if contextual else FULL
        self._values = _signals(pool, question)
        together = np.concatenate([*self._values.values()]).reshape(len(self._values), -1)
        evidence, likeness = _weights(self._values, contextual) @ together
        self._trust = _share_of_one(evidence * np.float32(1 / CONVINCING))
        self._totals: Column = np.asarray(evidence + likeness * self._trust, dtype=np.float32)
        if len(pool.handles):
            self._values["session"] = _best_of_session(self._totals, pool.sessions)
            self._totals += np.float32(SIGNALS["session"].weight) * self._values["session"]
        self.relevance: Column = _share_of_one(self._totals * np.float32(1 / self._full))
        self.scores = self.relevance
        self._weights = WEIGHTS[preset]
        self._circumstances: dict[str, Column] = {}
        if preset is not Preset.RELEVANT:
            self._circumstances = _circumstances(pool, question.asked_at)
            self.scores = np.float32(self._weights["relevance"]) * self.relevance
            for name, column in self._circumstances.items():
                self.scores += np.float32(self._weights[name]) * column

    def best_first(self) -> list[int]:
        """The places of the candidates, the most relevant first; ties go to what was remembered later."""
        latest_first = (-self._totals[::-1]).argsort(kind="stable")
        return (len(self._totals) - 1 - latest_first).tolist()

    def parted(self, threshold: float) -> tuple[list[int], list[int]]:
        """Those that are relevant enough, by score, and the others, by relevance; best first.

        No preset lifts what is not relevant.
        """
        order = self.best_first()
        good = int(np.count_nonzero((self.relevance >= threshold) & (self.relevance > 0)))
        fitting = order[:good]
        if self._circumstances:
            fitting.sort(key=lambda place: -self.scores[place])
        return fitting, order[good:]

    def confirmed(self, places: Sequence[int]) -> list[bool]:
        """Whether each says what was asked about; else it is only related to it."""
        # Of few places, numbers are compared faster than arrays.
        pool, worth = self._pool, self._pool.worth.tolist()
        whole = sum(worth) or 1
        known = sum(own for own, texts in zip(worth, pool.frequencies, strict=True) if texts)
        words_tell = pool.texts < MANY_TEXTS or known / whole >= KNOWN
        similarity, speaker = self._values["similarity"], self._values.get("speaker")
        says_it: list[bool] = []
        for place in places:
            says = bool(similarity[place] >= MEANS_IT)
            if words_tell and not says:
                occurrences = pool.text_occurrences[pool.around[place, REACH]].tolist()
                said = sum(own for own, count in zip(worth, occurrences, strict=True) if count)
                says = said / whole >= SAYS_IT
            says_it.append(says and (speaker is None or bool(speaker[place] > 0)))
        return says_it

    def reasons(self, place: int) -> Reasons:
        """Every signal of one candidate."""
        share = self._weights["relevance"]
        signals = [self._signal(name, float(column[place]), place, share) for name, column in self._values.items()]
        for name, column in self._circumstances.items():
            value, weight = float(column[place]), self._weights[name]
            signals.append(Signal(name, value, value, weight, weight * value, ABOUT[name]))
        return Reasons(tuple(signals), *self.confirmed([place]))

    def _signal(self, name: str, value: float, place: int, share: float) -> Signal:
        meaning = SIGNALS[name]
        trust = 1.0 if meaning.evidence else float(self._trust[place])
        weight = _weight(name, self._contextual) * share
        raw = self._raw(name, value, place)
        return Signal(name, raw, value, weight, weight * value * trust / self._full, meaning.about)

    def _raw(self, name: str, value: float, place: int) -> float:
        pool = self._pool
        match name:
            case "words":
                return float(pool.text_bm25[pool.around[place, REACH]])
            case "meaning":
                return float(_known(pool.cosines)[place])
            case "pairs":
                return float(pool.pairs[place])
            case "substance":
                return float(pool.lengths[place])
            case _:
                return value


def _weights(names: Iterable[str], contextual: bool) -> NDArray[np.float32]:
    """What each of these signals counts: as evidence in the first row, between candidates in the second."""
    weights = [(_weight(name, contextual), SIGNALS[name].evidence) for name in names]
    return np.array(
        [
            [weight if is_evidence else 0 for weight, is_evidence in weights],
            [0 if is_evidence else weight for weight, is_evidence in weights],
        ],
        dtype=np.float32,
    )


def _weight(name: str, contextual: bool) -> float:
    return CONTEXTUAL[name] if contextual and name in CONTEXTUAL else SIGNALS[name].weight


def _circumstances(pool: CandidatePool, asked_at: datetime) -> dict[str, Column]:
    """What is so of each candidate whatever the question is, each from 0 to 1."""
    days = np.maximum(_microseconds(asked_at) - pool.used, 0) / MICROSECONDS_PER_DAY
    use = np.log1p(pool.uses) / np.log1p(MANY_USES)
    return {
        "recency": np.exp(-DECAY_PER_DAY * days).astype(np.float32),
        "use": np.minimum(use, 1).astype(np.float32),
        "importance": pool.importance,
        "confidence": pool.confidence,
    }


def _signals(pool: CandidatePool, question: Question) -> dict[str, Column]:
    own = pool.around[:, REACH]
    traits = pool.text_traits[own]
    # One more text, for neighbours that are not there: it has no words and no traits.
    words = np.zeros(len(pool.text_bm25) + 1, dtype=np.float32)
    np.divide(pool.text_bm25, pool.text_bm25.max(initial=0) or 1, out=words[:-1])
    standing, similarity = _known(pool.standings), _known(pool.cosines)
    by_assistant = _by_assistant(pool)
    answer = two_before = np.zeros(len(own), dtype=np.float32)
    if is_conversation := _is_conversation(pool):
        asked = words.copy()
        asked[:-1] *= _share(pool.text_traits, _ASKS)
        answer, two_before = asked[pool.around[:, REACH - 1]], words[pool.around[:, REACH - 2]]
    coverage = _coverage(pool, by_assistant, is_conversation=is_conversation)
    names = _share(traits, _NAMES)
    found: dict[str, Column] = {
        "words": words[own],
        "coverage": coverage,
        "meaning": standing,
        "similarity": similarity,
        "overlap": coverage * standing,
        "pairs": np.minimum(pool.pairs, 2),
        "answer": answer,
        "two_before": two_before,
        "asking": _share(traits, _QUESTION),
        "substance": np.log1p(np.minimum(pool.lengths, ENOUGH_WORDS)),
        "names": names,
        "personal": _share(traits, _PERSONAL),
    }
    meant = question.speakers_meant(pool.speaker_names)
    if len(meant) == 1:
        found["speaker"] = (pool.text_speakers[own] == pool.speaker_names.index(meant[0])).astype(np.float32)
    if question.spans:
        found["date"] = _fit(pool.times, question)
    kind = int(question.kind)  # with which it takes a tenth of the time to compute
    if kind & _WHEN:
        found["timed"] = _share(traits, _TIMED)
    if kind & _NAME:
        found["named"] = names
    if kind & _ADVICE:
        found["standing"] = _share(traits, _STANDING)
    if is_conversation:
        found["nearby"] = _nearby(pool, standing, by_assistant)
    if by_assistant is not None:
        _mind_assistants(found, by_assistant[own], question.kind)
    return found


def _mind_assistants(found: dict[str, Column], spoken: NDArray[np.bool_], kind: Kind) -> None:
    """What an assistant said counts when it is asked for; else what people said comes first."""
    people = np.where(spoken, np.float32(0), np.float32(1))
    wanted = WHEN_ASKED * bool(kind & Kind.ASKED) + WHEN_SUMMARISED * bool(kind & Kind.SUMMARY)
    found["assistant"] = (1 - people) * np.float32(1 - wanted)
    found["coverage"] = found["coverage"] * np.where(spoken, np.float32(COVERED_BY_ASSISTANT if wanted else 0), 1)
    found["overlap"] = found["coverage"] * found["meaning"]
    for name in ("personal", "asking", "standing"):
        if name in found:
            found[name] = found[name] * people


def _by_assistant(pool: CandidatePool) -> NDArray[np.bool_] | None:
    """Which texts an assistant said; None when it said nothing at all."""
    assistants = [place for place, name in enumerate(pool.speaker_names) if is_assistant(name)]
    if not assistants:
        return None
    # Not by `np.isin`, whose first use loads a part of numpy that nobody needs.
    return (pool.text_speakers[:, np.newaxis] == np.array(assistants)).any(axis=1)


def _coverage(pool: CandidatePool, by_assistant: NDArray[np.bool_] | None, *, is_conversation: bool) -> Column:
    """The share of the question's words that occur in a memory or near it; each counts once, where it is nearest."""
    if not pool.terms:
        return np.zeros(len(pool.handles), dtype=np.float32)
    has = np.zeros((len(pool.text_bm25) + 1, len(pool.terms)), dtype=np.float32)
    np.greater(pool.text_occurrences, 0, out=has[:-1], casting="unsafe")
    nearest = has[pool.around[:, REACH]]
    if is_conversation:
        if by_assistant is not None:
            has[:-1][by_assistant] = 0  # what an assistant said nearby is not what a person meant
        for distance in range(1, REACH + 1):
            for place in (REACH - distance, REACH + distance):
                np.maximum(nearest, np.float32(NEARNESS[distance]) * has[pool.around[:, place]], out=nearest)
    return nearest @ (pool.worth / np.add.reduce(pool.worth))


def _is_conversation(pool: CandidatePool) -> bool:
    """Whether any candidate has others around it."""
    return len(pool.text_bm25) > len(pool.handles) or bool((pool.sessions >= 0).any())


def _nearby(pool: CandidatePool, standing: Column, by_assistant: NDArray[np.bool_] | None) -> Column:
    """How similar in meaning the best of the candidates around each is, less the farther it is."""
    means = np.zeros(len(pool.text_bm25) + 1, dtype=np.float32)
    means[pool.around[:, REACH]] = standing
    if by_assistant is not None:
        means[:-1][by_assistant] = 0
    return (means[pool.around] * _AROUND).max(axis=1)


def _share_of_one(values: Column) -> Column:
    """The same, with 0 for what is less and 1 for what is more."""
    return np.minimum(np.maximum(values, np.float32(0)), np.float32(1))


def _known(values: Column) -> Column:
    """The same with 0 for what is not known."""
    return np.where(np.isnan(values), np.float32(0), values)


def _share(traits: NDArray[np.int32], trait: int) -> Column:
    return ((traits & trait) != 0).astype(np.float32)


def _fit(times: NDArray[np.int64], question: Question) -> Column:
    """How well the moment of each fits what the question names."""
    fits = np.zeros(len(times), dtype=np.float32)
    for span in question.spans:
        inside = (times >= _microseconds(span.start)) & (times < _microseconds(span.end))
        np.maximum(fits, np.float32(span.fit) * inside, out=fits)
    return fits


def _microseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)


def _best_of_session(scores: Column, sessions: NDArray[np.int32]) -> Column:
    """For each candidate the best score in its session, its own without a session."""
    last = int(sessions.max())
    if last < 0:
        return scores.copy()
    best = np.full(last + 2, -np.inf, dtype=np.float32)
    np.maximum.at(best, sessions, scores)
    return np.where(sessions < 0, scores, best[sessions])
