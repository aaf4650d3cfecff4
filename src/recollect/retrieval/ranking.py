"""How well each candidate answers a question: a sum of signals, each of which makes sense for any conversation.

The weights start from measured notes and were checked on conversations that are in no benchmark; see
docs/decisions/0010-ranking-by-signals.md. This module imports numpy, which takes a while: import it where it is needed.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.domain.memories import REACH, CandidatePool
from recollect.retrieval.question import Kind, Question, is_assistant
from recollect.retrieval.traits import Trait

Column = NDArray[np.float32]

# What a word is worth that occurs only so far away from the memory itself.
NEARNESS: Final = (1.0, 0.75, 0.6, 0.45, 0.3, 0.2)
# More words than this say nothing more about whether a text is worth reading.
ENOUGH_WORDS: Final = 30
# The score at which nothing is missing: one in twenty true answers reaches it.
FULL: Final = 14.0
# Below this much evidence, what a text is like counts less and less, and nothing at all without evidence.
CONVINCING: Final = 3.0
# A memory with less of the question's words, and less similar, may be about something else.
SAYS_IT: Final = 0.3
MEANS_IT: Final = 0.35
# A smaller contribution is not worth mentioning.
TELLING: Final = 0.02
# How much of what speaks against an assistant's words falls away when these are asked for, or a summary is.
WHEN_ASKED: Final = 0.7
WHEN_SUMMARISED: Final = 1.1
# What the question's words count in an assistant's words that are asked for; else they do not.
COVERED_BY_ASSISTANT: Final = 0.6

_QUESTION, _ASKS, _TIMED = int(Trait.QUESTION), int(Trait.ASKS), int(Trait.TIMED)
_PERSONAL, _NAMES, _STANDING = int(Trait.PERSONAL), int(Trait.NAMES), int(Trait.STANDING)


@dataclass(frozen=True, slots=True)
class Meaning:
    """One signal: what it says, and how much it counts."""

    weight: float
    about: str
    evidence: bool = True
    """Whether it depends on the question; the others only tell between candidates that have evidence."""


SIGNALS: Final[dict[str, Meaning]] = {
    "words": Meaning(1.6, "its own words match the question's"),
    "coverage": Meaning(5.4, "the question's words occur in it, or near it in the conversation"),
    "meaning": Meaning(0.4, "it means something similar, compared with other memories"),
    "similarity": Meaning(1.5, "it means something similar"),
    "overlap": Meaning(-0.3, "words and meaning say the same, which counts once"),
    "pairs": Meaning(0.4, "it has words of the question side by side"),
    "answer": Meaning(1.7, "it follows a question with the same words"),
    "two_before": Meaning(0.7, "what was said a little before matches"),
    "speaker": Meaning(1.35, "the one whom the question names said it"),
    "date": Meaning(5.0, "it happened when the question says"),
    "timed": Meaning(1.2, "the question asks when, and it says when"),
    "named": Meaning(0.3, "the question asks for a name, and it has one"),
    "standing": Meaning(3.0, "advice is asked for, and it says what is preferred"),
    "session": Meaning(0.05, "something in the same session fits well"),
    "asking": Meaning(-1.2, "it asks something itself", evidence=False),
    "substance": Meaning(0.4, "it says more than a few words", evidence=False),
    "names": Meaning(0.3, "it names somebody or something", evidence=False),
    "personal": Meaning(0.5, "somebody speaks about themselves", evidence=False),
    "assistant": Meaning(-1.9, "an assistant said it, not a person", evidence=False),
}


class Signal(NamedTuple):
    """What one witness says of a candidate."""

    name: str
    value: float
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

    def __init__(self, pool: CandidatePool, question: Question) -> None:
        self._pool = pool
        self._values = _signals(pool, question)
        evidence = np.zeros(len(pool.handles), dtype=np.float32)
        likeness = evidence.copy()
        for name, column in self._values.items():
            part = evidence if SIGNALS[name].evidence else likeness
            part += np.float32(SIGNALS[name].weight) * column
        self._trust = np.clip(evidence * np.float32(1 / CONVINCING), 0, 1)
        self._totals: Column = np.asarray(evidence + likeness * self._trust, dtype=np.float32)
        if len(pool.handles):
            self._values["session"] = _best_of_session(self._totals, pool.sessions)
            self._totals += np.float32(SIGNALS["session"].weight) * self._values["session"]
        self.scores = np.clip(self._totals * np.float32(1 / FULL), 0, 1)

    def best_first(self) -> list[int]:
        """The places of the candidates, the best first; ties go to what was remembered later."""
        latest_first = np.argsort(-self._totals[::-1], kind="stable")
        return (len(self._totals) - 1 - latest_first).tolist()

    def reasons(self, place: int) -> Reasons:
        """Every signal of one candidate."""
        signals = {name: self._signal(name, float(column[place]), place) for name, column in self._values.items()}
        by_another = "speaker" in signals and not signals["speaker"].value
        says_it = _own_coverage(self._pool, place) >= SAYS_IT or signals["similarity"].value >= MEANS_IT
        return Reasons(tuple(signals.values()), says_it and not by_another)

    def _signal(self, name: str, value: float, place: int) -> Signal:
        meaning = SIGNALS[name]
        trust = 1.0 if meaning.evidence else float(self._trust[place])
        return Signal(name, value, meaning.weight, meaning.weight * value * trust / FULL, meaning.about)


def _signals(pool: CandidatePool, question: Question) -> dict[str, Column]:
    own = pool.around[:, REACH]
    traits = pool.text_traits[own]
    # One more text, for neighbours that are not there: it has no words and no traits.
    words = np.zeros(len(pool.text_bm25) + 1, dtype=np.float32)
    np.divide(pool.text_bm25, pool.text_bm25.max(initial=0) or 1, out=words[:-1])
    asked = words * np.append(_share(pool.text_traits, _ASKS), np.float32(0))
    standing, similarity = _known(pool.standings), _known(pool.cosines)
    by_assistant = _by_assistant(pool)
    coverage = _coverage(pool, by_assistant)
    names = _share(traits, _NAMES)
    found: dict[str, Column] = {
        "words": words[own],
        "coverage": coverage,
        "meaning": standing,
        "similarity": similarity,
        "overlap": coverage * standing,
        "pairs": np.minimum(pool.pairs, 2),
        "answer": asked[pool.around[:, REACH - 1]],
        "two_before": words[pool.around[:, REACH - 2]],
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
    if question.kind & Kind.WHEN:
        found["timed"] = _share(traits, _TIMED)
    if question.kind & Kind.NAME:
        found["named"] = names
    if question.kind & Kind.ADVICE:
        found["standing"] = _share(traits, _STANDING)
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
    return np.isin(pool.text_speakers, assistants) if assistants else None


def _coverage(pool: CandidatePool, by_assistant: NDArray[np.bool_] | None) -> Column:
    """The share of the question's words that occur in a memory or near it; each counts once, where it is nearest."""
    if not pool.terms:
        return np.zeros(len(pool.handles), dtype=np.float32)
    has = np.zeros((len(pool.text_bm25) + 1, len(pool.terms)), dtype=np.float32)
    np.greater(pool.text_occurrences, 0, out=has[:-1], casting="unsafe")
    nearest = has[pool.around[:, REACH]]
    if len(pool.text_bm25) > len(pool.handles) or (pool.sessions >= 0).any():
        if by_assistant is not None:
            has[:-1][by_assistant] = 0  # what an assistant said nearby is not what a person meant
        for distance in range(1, REACH + 1):
            for place in (REACH - distance, REACH + distance):
                np.maximum(nearest, np.float32(NEARNESS[distance]) * has[pool.around[:, place]], out=nearest)
    return nearest @ (pool.worth / pool.worth.sum())


def _own_coverage(pool: CandidatePool, place: int) -> float:
    """The share of the question's words that a memory has itself."""
    has = pool.text_occurrences[pool.around[place, REACH]] > 0
    return float(pool.worth[has].sum() / (pool.worth.sum() or 1))


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
    best = np.full(int(sessions.max()) + 2, -np.inf, dtype=np.float32)
    np.maximum.at(best, sessions, scores)
    return np.where(sessions < 0, scores, best[sessions])
