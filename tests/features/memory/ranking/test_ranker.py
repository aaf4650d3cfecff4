"""Candidates are put in order by a sum of signals (feature 60), and each tells why (feature 66)."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from scrubjay.features.memory.models import CandidatePool
from scrubjay.features.memory.ranking.question import read_question
from scrubjay.features.memory.ranking.ranker import (
    CONTEXTUAL,
    CONVINCING,
    COVERED_BY_ASSISTANT,
    ENOUGH_WORDS,
    FULL,
    FULL_IN_CONTEXT,
    MANY_TEXTS,
    MEANS_IT,
    NEARNESS,
    SIGNALS,
    WHEN_ASKED,
    WHEN_SUMMARISED,
    Ranking,
    Signal,
)
from scrubjay.features.memory.ranking.traits import Trait
from scrubjay.search_index.neighbourhood import REACH

TERMS = ("boat", "paint", "blue")
PLAIN = "What about the blue paint of the boat?"
ASKED_AT = datetime(2024, 6, 15, tzinfo=UTC)
MAY_2023 = datetime(2023, 5, 7, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Said:
    """One text, as the store's indexes see it."""

    has: tuple[str, ...] = ()
    """Which of TERMS."""
    bm25: float = 0.0
    traits: Trait = Trait(0)
    speaker: str | None = None
    pairs: int = 0
    length: int = 0
    cosine: float = math.nan
    standing: float = math.nan
    session: int = -1
    at: datetime = ASKED_AT
    candidate: bool = True
    """Else it is only near one."""


# Fits well enough that everything counts which is said of the text itself.
GOOD = Said(has=TERMS, bm25=4.0)


def pool(*texts: Said, terms: Sequence[str] = TERMS) -> CandidatePool:
    """These texts in the order said; those of one session are around each other."""
    places = [place for place, text in enumerate(texts) if text.candidate]
    candidates = [texts[place] for place in places]
    around = np.full((len(places), 2 * REACH + 1), -1, dtype=np.intp)
    for row, place in enumerate(places):
        session = texts[place].session
        chain = [place] if session < 0 else [other for other, text in enumerate(texts) if text.session == session]
        own = chain.index(place)
        for distance in range(-REACH, REACH + 1):
            if 0 <= own + distance < len(chain):
                around[row, REACH + distance] = chain[own + distance]
    names = list(dict.fromkeys(text.speaker for text in texts if text.speaker))

    def floats(values: Sequence[float]) -> Any:
        return np.array(values, dtype=np.float32)

    moments = np.array([round(text.at.timestamp() * 1e6) for text in candidates], dtype=np.int64)
    return CandidatePool(
        handles=np.array(places, dtype=np.int64),
        around=around,
        text_occurrences=floats([float(term in text.has) for text in texts for term in terms]).reshape(
            len(texts), len(terms)
        ),
        text_bm25=floats([text.bm25 for text in texts]),
        text_traits=np.array([int(text.traits) for text in texts], dtype=np.int32),
        text_speakers=np.array([names.index(text.speaker) if text.speaker else -1 for text in texts], dtype=np.int32),
        pairs=floats([text.pairs for text in candidates]),
        lengths=floats([text.length for text in candidates]),
        cosines=floats([text.cosine for text in candidates]),
        standings=floats([text.standing for text in candidates]),
        vectors=np.full((len(places), 1), np.nan, dtype=np.float32),
        sessions=np.array([text.session for text in candidates], dtype=np.int32),
        times=moments,
        recorded=moments,
        importance=floats([0.5] * len(places)),
        confidence=floats([1.0] * len(places)),
        uses=np.zeros(len(places), dtype=np.int64),
        used=moments,
        speaker_names=names,
        terms=tuple(terms),
        texts=len(texts),
        frequencies=[1] * len(terms),
        worth=floats([1.0] * len(terms)),
    )


def ranked(question: str, *texts: Said) -> Ranking:
    return Ranking(pool(*texts), read_question(question, ASKED_AT))


def values(question: str, *texts: Said, place: int = 0) -> dict[str, float]:
    """What every signal says of one candidate."""
    return {signal.name: signal.value for signal in ranked(question, *texts).reasons(place).signals}


@dataclass(frozen=True)
class Case:
    """Two texts that only this signal tells apart; without it the later one comes first."""

    better: tuple[Said, ...]
    """The candidate is the last; what is before it is around it."""
    worse: tuple[Said, ...]
    question: str = PLAIN


def near(*before: Said, candidate: Said) -> tuple[Said, ...]:
    return (*(replace(one, session=0, candidate=False) for one in before), replace(candidate, session=0))


MIDDLING = Said(bm25=4.0, cosine=1.0)
CASES = {
    "words": Case((Said(bm25=4.0),), (Said(bm25=2.0),)),
    "coverage": Case((Said(has=("boat", "blue")),), (Said(has=("boat",)),)),
    "meaning": Case((Said(standing=2.0),), (Said(standing=1.0),)),
    "similarity": Case((Said(cosine=0.8),), (Said(cosine=0.4),)),
    "overlap": Case((Said(has=TERMS, cosine=0.15, standing=0.0),), (Said(has=TERMS, cosine=0.0, standing=1.0),)),
    "nearby": Case((Said(standing=2.0, session=0), Said(session=0)), (Said(standing=0.2, session=1),)),
    "pairs": Case((Said(pairs=1),), (Said(pairs=0),)),
    "answer": Case(near(Said(bm25=4.0, traits=Trait.ASKS), candidate=Said()), near(Said(bm25=4.0), candidate=Said())),
    "two_before": Case(near(Said(bm25=4.0), Said(), candidate=Said()), near(Said(), Said(), candidate=Said())),
    "speaker": Case((replace(GOOD, speaker="Alice"),), (replace(GOOD, speaker="Bob"),), "What did Alice paint?"),
    "date": Case((replace(GOOD, at=MAY_2023),), (GOOD,), "What was painted on 7 May 2023?"),
    "timed": Case((replace(GOOD, traits=Trait.TIMED),), (GOOD,), "When was the boat painted?"),
    "named": Case(
        (replace(GOOD, traits=Trait.NAMES),), (replace(GOOD, traits=Trait.PERSONAL),), "Who painted the boat?"
    ),
    "standing": Case((replace(GOOD, traits=Trait.STANDING),), (GOOD,), "Should I paint the boat?"),
    "session": Case((replace(MIDDLING, cosine=9.0, session=0), replace(GOOD, session=0)), (replace(GOOD, session=1),)),
    "asking": Case((GOOD,), (replace(GOOD, traits=Trait.QUESTION),)),
    "substance": Case((replace(GOOD, length=20),), (replace(GOOD, length=2),)),
    "names": Case((replace(GOOD, traits=Trait.NAMES),), (GOOD,)),
    "personal": Case((replace(GOOD, traits=Trait.PERSONAL),), (GOOD,)),
    "assistant": Case((replace(MIDDLING, speaker="Alice"),), (replace(MIDDLING, speaker="assistant"),)),
}


def test_060_every_signal_is_proved() -> None:
    assert CASES.keys() == SIGNALS.keys()


@pytest.mark.parametrize("name", CASES)
def test_060_each_signal_moves_what_it_is_about(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    # The two talks do not hear each other.
    others = [replace(text, session=text.session + 10 if text.session >= 0 else -1) for text in case.worse]
    texts = [*case.better, *others]
    better, worse = sum(text.candidate for text in case.better) - 1, sum(text.candidate for text in texts) - 1

    def order() -> list[int]:
        return [place for place in ranked(case.question, *texts).best_first() if place in (better, worse)]

    assert order() == [better, worse]
    monkeypatch.setitem(SIGNALS, name, replace(SIGNALS[name], weight=0.0))
    assert order() == [worse, better]


@pytest.mark.parametrize("name", CASES)
def test_066_what_a_signal_adds_has_the_sign_of_its_weight(name: str) -> None:
    case = CASES[name]
    texts = case.better if SIGNALS[name].weight > 0 else case.worse
    reasons = ranked(case.question, *texts).reasons(sum(text.candidate for text in texts) - 1)
    (signal,) = [signal for signal in reasons.signals if signal.name == name]
    meaning = SIGNALS[name]
    assert signal.value > 0
    assert signal == Signal(name, signal.raw, signal.value, meaning.weight, signal.contribution, meaning.about)
    assert math.copysign(1, signal.contribution) == math.copysign(1, meaning.weight)


def any_text(dice: random.Random) -> Said:
    return Said(
        has=tuple(term for term in TERMS if dice.random() < 0.5),
        bm25=dice.choice([0.0, dice.uniform(0, 9)]),
        traits=Trait(dice.randrange(64)),
        speaker=dice.choice([None, "Alice", "Bob", "assistant"]),
        pairs=dice.randrange(4),
        length=dice.randrange(80),
        cosine=dice.choice([math.nan, dice.uniform(-0.5, 1)]),
        standing=dice.choice([math.nan, dice.uniform(-2, 5)]),
        session=dice.randrange(-1, 3),
        at=dice.choice([MAY_2023, ASKED_AT]),
        candidate=dice.random() < 0.7,
    )


@pytest.mark.parametrize(
    "question",
    [
        PLAIN,
        "When did Alice paint the boat in May 2023?",
        "What did you suggest to paint the boat with?",
        "Can you help me paint the boat blue? Who could?",
        "Summarise what you said of the boat",
    ],
)
def test_066_what_the_signals_add_makes_the_score_and_the_scores_make_the_order(question: str) -> None:
    dice = random.Random(question)
    for _ in range(30):
        ranking = ranked(question, *(any_text(dice) for _ in range(dice.randrange(1, 20))))
        sums = [
            math.fsum(signal.contribution for signal in ranking.reasons(place).signals)
            for place in range(len(ranking.scores))
        ]
        assert ranking.scores.tolist() == pytest.approx([min(max(total, 0.0), 1.0) for total in sums], abs=1e-6)
        order = ranking.best_first()
        assert sorted(order) == list(range(len(sums)))
        assert [sums[place] for place in order] == pytest.approx(sorted(sums, reverse=True), abs=1e-6)


def test_066_a_candidate_tells_every_signal_with_its_value_and_what_it_adds() -> None:
    ranking = ranked(
        "When did Alice paint the boat?",
        replace(GOOD, speaker="Alice", traits=Trait.TIMED | Trait.PERSONAL, pairs=1, cosine=0.5, standing=2.0),
        replace(GOOD, bm25=8.0, speaker="Bob"),
    )
    expected = {
        "words": 0.5,
        "coverage": 1.0,
        "meaning": 2.0,
        "similarity": 0.5,
        "overlap": 2.0,
        "pairs": 1.0,
        "answer": 0.0,
        "two_before": 0.0,
        "asking": 0.0,
        "substance": 0.0,
        "names": 0.0,
        "personal": 1.0,
        "speaker": 1.0,
        "timed": 1.0,
    }
    before = sum(SIGNALS[name].weight * value for name, value in expected.items())
    found = ranking.reasons(0).signals
    assert {signal.name: signal.value for signal in found} == pytest.approx(
        {**expected, "session": before}  # alone in its session, it is the best of it
    )
    assert [(signal.weight, signal.about) for signal in found] == [
        (SIGNALS[signal.name].weight, SIGNALS[signal.name].about) for signal in found
    ]
    assert [signal.contribution for signal in found] == pytest.approx(
        [signal.weight * signal.value / FULL for signal in found]
    )
    assert ranking.scores.tolist()[0] == pytest.approx((1 + SIGNALS["session"].weight) * before / FULL)


def test_060_ties_go_to_what_was_remembered_later() -> None:
    assert ranked(PLAIN, GOOD, GOOD, Said(), GOOD, Said()).best_first() == [3, 1, 0, 4, 2]


def test_060_what_is_beyond_a_full_score_is_still_put_in_order() -> None:
    ranking = ranked(PLAIN, *(Said(standing=standing) for standing in (90.0, 80.0, -1.0, -2.0)))
    assert ranking.scores.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert ranking.best_first() == [0, 1, 2, 3]


@pytest.mark.parametrize("question", [PLAIN, "When did you say that in May 2023?", "Should I ask Alice?"])
def test_060_an_empty_pool_has_an_empty_order(question: str) -> None:
    ranking = ranked(question)
    assert (ranking.scores.tolist(), ranking.best_first()) == ([], [])


def test_060_without_words_to_look_for_meaning_decides() -> None:
    question = read_question("?", ASKED_AT)
    ranking = Ranking(pool(Said(cosine=0.5), Said(cosine=0.2), terms=()), question)
    assert ranking.best_first() == [0, 1]
    assert ranking.reasons(0).confirmed
    assert not ranking.reasons(1).confirmed


def test_060_neighbours_that_are_not_there_count_nothing() -> None:
    # The last of all texts is where -1 would look.
    loud = Said(has=TERMS, bm25=8.0, traits=Trait.ASKS, session=1, candidate=False)
    alone, first = Said(length=3), Said(length=3, session=0)
    for texts in ([alone, loud], [first, loud]):
        found = values(PLAIN, *texts)
        assert {name: found[name] for name in ("words", "coverage", "answer", "two_before")} == {
            "words": 0.0,
            "coverage": 0.0,
            "answer": 0.0,
            "two_before": 0.0,
        }
        assert found == {**values(PLAIN, texts[0]), "nearby": 0.0}


@pytest.mark.parametrize("distance", range(1, REACH + 1))
@pytest.mark.parametrize("after", [False, True])
def test_060_a_word_nearby_counts_less_the_farther_it_is(distance: int, after: bool) -> None:
    silence = [Said(session=0, candidate=False)] * (distance - 1)
    near_by = Said(has=("boat",), session=0, candidate=False)
    itself = Said(has=("blue",), session=0)
    texts = [itself, *silence, near_by]
    found = values(PLAIN, *(texts if after else reversed(texts)))
    assert found["coverage"] == pytest.approx((1 + NEARNESS[distance]) / 3)


def test_060_a_word_counts_once_where_it_is_nearest_and_not_at_all_beyond_reach() -> None:
    said = [Said(has=("boat",), session=0, candidate=False)] * 2
    assert values(PLAIN, *said, Said(has=("boat",), session=0), *said)["coverage"] == pytest.approx(1 / 3)
    assert values(PLAIN, *said, Said(session=0), *said)["coverage"] == pytest.approx(NEARNESS[1] / 3)
    silence = [Said(session=0, candidate=False)] * REACH
    assert values(PLAIN, *said, *silence, Said(session=0), *silence, *said)["coverage"] == 0


def test_060_a_rare_word_covers_more_of_the_question_than_a_common_one() -> None:
    question = read_question(PLAIN, ASKED_AT)
    told = pool(Said(has=("boat",)), Said(has=("paint", "blue")))
    weighed = replace(told, worth=np.array([6.0, 1.0, 1.0], dtype=np.float32))
    assert Ranking(told, question).best_first() == [1, 0]
    assert Ranking(weighed, question).best_first() == [0, 1]
    assert [Ranking(weighed, question).reasons(place).confirmed for place in (0, 1)] == [True, False]


def test_060_only_a_question_right_before_makes_an_answer() -> None:
    asked = Said(bm25=4.0, traits=Trait.ASKS)
    assert values(PLAIN, *near(asked, candidate=Said()))["answer"] == 1
    assert values(PLAIN, *near(replace(asked, traits=Trait(0)), candidate=Said()))["answer"] == 0
    assert values(PLAIN, *near(asked, Said(), candidate=Said()))["answer"] == 0
    assert values(PLAIN, Said(session=0), replace(asked, session=0, candidate=False))["answer"] == 0


def test_060_more_pairs_or_words_than_enough_count_no_more() -> None:
    assert values(PLAIN, Said(pairs=5, length=400)) == values(PLAIN, Said(pairs=2, length=ENOUGH_WORDS))


def test_060_what_a_text_is_like_counts_nothing_without_evidence_and_half_with_half() -> None:
    like = Said(length=20, traits=Trait.PERSONAL | Trait.NAMES)
    assert ranked(PLAIN, like).scores.tolist() == [0.0]
    likeness = math.log1p(20) * SIGNALS["substance"].weight + SIGNALS["names"].weight + SIGNALS["personal"].weight
    for share in (0.5, 1.0):
        evidence = share * CONVINCING
        some = replace(like, cosine=evidence / SIGNALS["similarity"].weight)
        expected = (1 + SIGNALS["session"].weight) * (evidence + share * likeness) / FULL
        assert ranked(PLAIN, some).scores.tolist() == pytest.approx([expected])


def test_060_whether_a_text_says_when_or_names_somebody_counts_nothing_without_evidence() -> None:
    for question in ("When was it?", "Who was it?"):
        assert ranked(question, Said(traits=Trait.TIMED | Trait.NAMES)).scores.tolist() == [0.0]


@pytest.mark.parametrize("distance", range(1, REACH + 1))
@pytest.mark.parametrize("after", [False, True])
def test_060_a_meaning_nearby_counts_less_the_farther_it_is(distance: int, after: bool) -> None:
    silence = [Said(session=0, candidate=False)] * (distance - 1)
    texts = [Said(session=0), *silence, Said(standing=2.0, session=0)]
    found = values(PLAIN, *(texts if after else reversed(texts)), place=0 if after else 1)
    assert found["nearby"] == pytest.approx(2 * NEARNESS[distance])


def test_060_its_own_meaning_and_what_is_unlike_or_an_assistants_is_nothing_nearby() -> None:
    texts = Said(standing=2.0, session=0), Said(standing=-1.0, session=0), Said(standing=3.0, session=0)
    assert values(PLAIN, texts[0])["nearby"] == 0
    assert values(PLAIN, *texts[:2])["nearby"] == 0
    assert values(PLAIN, texts[0], replace(texts[2], speaker="assistant"))["nearby"] == 0


def test_060_meaning_counts_more_when_the_model_reads_words_in_their_context() -> None:
    told = pool(Said(has=("boat",), cosine=0.1, standing=0.5), Said(has=(), cosine=0.8, standing=2.0))
    question = read_question(PLAIN, ASKED_AT)
    assert Ranking(told, question).best_first() == [0, 1]
    contextual = Ranking(told, question, contextual=True)
    assert contextual.best_first() == [1, 0]
    weights = {signal.name: signal.weight for signal in contextual.reasons(0).signals}
    assert {name: weights[name] for name in CONTEXTUAL} == CONTEXTUAL
    assert weights["coverage"] == SIGNALS["coverage"].weight
    total = sum(signal.weight * signal.value for signal in contextual.reasons(1).signals)
    assert contextual.scores.tolist()[1] == pytest.approx(total / FULL_IN_CONTEXT)


def test_060_what_cannot_be_compared_in_meaning_is_not_similar() -> None:
    assert values(PLAIN, GOOD) == values(PLAIN, replace(GOOD, cosine=0.0, standing=0.0))


@pytest.mark.parametrize(
    ("question", "signal"),
    [
        ("When was it?", "timed"),
        ("Who was it?", "named"),
        ("Should I?", "standing"),
        ("What was in May 2023?", "date"),
        ("What did Alice do?", "speaker"),
    ],
)
def test_066_a_signal_is_told_only_of_a_question_that_it_is_about(question: str, signal: str) -> None:
    text = replace(GOOD, speaker="Alice")
    asked_for = {"timed", "named", "standing", "date", "speaker", "assistant"}
    assert values(question, text).keys() & asked_for == {signal}
    assert values(PLAIN, text).keys() & asked_for == set()


def test_060_what_happened_just_then_comes_before_what_happened_about_then() -> None:
    moments = [datetime(2023, *day, tzinfo=UTC) for day in ((7, 1), (5, 25), (5, 12), (5, 8))]
    texts = [replace(GOOD, at=at) for at in moments]
    assert ranked("What was painted on 7 May 2023?", *texts).best_first() == [3, 2, 1, 0]
    # A span ends before its end.
    assert values("in May 2023", replace(GOOD, at=datetime(2023, 5, 1, tzinfo=UTC)))["date"] == 0.5
    assert values("in May 2023", replace(GOOD, at=datetime(2023, 6, 8, tzinfo=UTC)))["date"] == 0.0


def test_060_no_speaker_is_preferred_when_the_question_names_two() -> None:
    texts = replace(GOOD, speaker="Alice"), replace(GOOD, speaker="Bob")
    assert "speaker" not in values("What did Alice and Bob paint?", *texts)
    assert "speaker" not in values("What did the user paint?", *texts, replace(GOOD, speaker="user"))


ANSWERED = replace(GOOD, speaker="assistant", traits=Trait.PERSONAL | Trait.QUESTION | Trait.STANDING, standing=1.0)
TOLD = replace(GOOD, speaker="Alice", cosine=0.2)


@pytest.mark.parametrize(
    ("question", "against", "covered"),
    [
        (PLAIN, 1.0, 0.0),
        ("Should I paint the boat blue?", 1.0, 0.0),
        ("What blue did you suggest for the boat?", 1 - WHEN_ASKED, COVERED_BY_ASSISTANT),
        ("Summarise the painting of the boat", 1 - WHEN_SUMMARISED, COVERED_BY_ASSISTANT),
        ("Sum up what you said of the boat", 1 - WHEN_ASKED - WHEN_SUMMARISED, COVERED_BY_ASSISTANT),
    ],
)
def test_060_what_an_assistant_said_counts_only_when_asked_for(question: str, against: float, covered: float) -> None:
    found = values(question, ANSWERED, TOLD)
    shown = {name: found[name] for name in ("assistant", "coverage", "overlap", "personal", "asking")}
    assert shown == pytest.approx(
        {"assistant": against, "coverage": covered, "overlap": covered, "personal": 0.0, "asking": 0.0}, abs=1e-6
    )
    assert found.get("standing", 0.0) == 0.0
    told = values(question, TOLD, ANSWERED)
    assert (told["assistant"], told["coverage"]) == (0.0, 1.0)


def test_060_an_assistants_words_come_after_a_persons_unless_they_are_asked_for() -> None:
    spoken = Said(has=TERMS, bm25=8.0, cosine=0.9, standing=1.0, length=20, speaker="assistant")
    person = Said(has=("boat", "paint"), bm25=4.0, cosine=0.3, standing=0.5, length=20, speaker="user")
    assert ranked(PLAIN, spoken, person).best_first() == [1, 0]
    assert ranked("What blue did you recommend for the boat?", spoken, person).best_first() == [0, 1]


@pytest.mark.parametrize("question", [PLAIN, "What blue did you suggest for the boat?"])
def test_060_what_an_assistant_said_nearby_is_not_what_a_person_meant(question: str) -> None:
    spoken = Said(has=TERMS, speaker="assistant", session=0, candidate=False)
    person = Said(has=("boat",), speaker="Alice", session=0)
    assert values(question, spoken, person)["coverage"] == pytest.approx(1 / 3)
    assert values(question, replace(spoken, speaker="Bob"), person)["coverage"] == pytest.approx((1 + 2 * 0.75) / 3)


@pytest.mark.parametrize(
    ("texts", "confirmed"),
    [
        ([Said(has=("boat",))], True),
        ([Said(cosine=MEANS_IT + 0.01)], True),
        ([Said(cosine=MEANS_IT - 0.01)], False),
        ([Said(standing=9.0, pairs=2)], False),
        ([Said(session=0), Said(has=TERMS, session=0, candidate=False)], False),
        ([Said(session=0), Said(has=TERMS, bm25=4.0, session=0, candidate=False)], False),
    ],
)
def test_066_a_candidate_is_confirmed_when_it_says_or_means_itself_what_is_asked(
    texts: list[Said], confirmed: bool
) -> None:
    assert ranked(PLAIN, *texts).reasons(0).confirmed == confirmed


def test_066_nothing_is_confirmed_by_words_when_most_of_the_questions_words_occur_nowhere() -> None:
    question = read_question(PLAIN, ASKED_AT)
    told = pool(Said(has=("boat",)), Said(has=("boat",), cosine=MEANS_IT + 0.01))
    assert Ranking(told, question).confirmed([0, 1]) == [True, True]
    unknown = replace(told, frequencies=[2, 0, 0], texts=MANY_TEXTS)
    assert Ranking(unknown, question).confirmed([0, 1]) == [False, True]
    assert Ranking(replace(unknown, texts=MANY_TEXTS - 1), question).confirmed([0, 1]) == [True, True]
    assert Ranking(replace(unknown, frequencies=[2, 1, 1]), question).confirmed([0, 1]) == [True, True]
    assert Ranking(told, question).confirmed([]) == []


def test_066_it_is_not_confirmed_when_somebody_else_than_the_one_named_said_it() -> None:
    texts = [replace(GOOD, speaker=speaker, cosine=0.9) for speaker in ("Alice", "Bob", None)]

    def confirmed(question: str) -> list[bool]:
        ranking = ranked(question, *texts)
        return [ranking.reasons(place).confirmed for place in range(3)]

    assert confirmed("What did Alice paint?") == [True, False, False]
    assert confirmed("What did Alice and Bob paint?") == [True, True, True]
    assert confirmed(PLAIN) == [True, True, True]


def test_066_a_signal_tells_what_was_measured_beside_how_it_counts() -> None:
    found = ranked(PLAIN, Said(bm25=4, cosine=0.5, standing=2, pairs=3, length=50), Said(bm25=8))
    told = {signal.name: (signal.raw, signal.value) for signal in found.reasons(0).signals}
    assert (told["words"], told["meaning"], told["similarity"]) == ((4, 0.5), (0.5, 2), (0.5, 0.5))
    assert (told["pairs"], told["substance"][0]) == ((3, 2), 50)


def test_066_the_three_strongest_reasons_are_told_in_words() -> None:
    about = {name: meaning.about for name, meaning in SIGNALS.items()}
    text = replace(GOOD, speaker="Alice", cosine=0.6, traits=Trait.TIMED, pairs=1)
    assert ranked("When did Alice paint the boat?", text).reasons(0).why == (
        f"{about['coverage']}; {about['words']}; {about['speaker']}"
    )
    other = ranked("When did Alice paint the boat?", replace(text, speaker="Bob"), replace(text, has=(), cosine=0.0))
    assert other.reasons(0).why == (f"related, not confirmed: {about['coverage']}; {about['words']}; {about['timed']}")


def test_066_what_hardly_fits_says_so() -> None:
    assert ranked(PLAIN, Said()).reasons(0).why == "related, not confirmed: hardly anything speaks for it"
    assert ranked(PLAIN, Said(cosine=0.1)).reasons(0).why == ("related, not confirmed: hardly anything speaks for it")
