"""Ranking of candidates by a weighted sum of signals (feature 60), with explained scores (feature 66)."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from scrubjay.features.memory.candidates import CandidatePool
from scrubjay.features.memory.ranking.question import parse_question
from scrubjay.features.memory.ranking.ranker import (
    ASKED_RELIEF,
    ASSISTANT_COVERAGE,
    CONFIRMING_COSINE,
    CONTEXTUAL_WEIGHTS,
    DISTANCE_WEIGHTS,
    FULL_SCORE,
    FULL_SCORE_CONTEXTUAL,
    FULL_TRUST_EVIDENCE,
    MIN_TEXTS_FOR_WORD_CHECK,
    REQUEST_COVERAGE,
    SATURATING_WORDS,
    SIGNALS,
    SUMMARY_RELIEF,
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
class SampleText:
    """A text with the values that the indexes of the store have for it."""

    has: tuple[str, ...] = ()
    """The TERMS that occur in the text."""
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
    """False for a text that is only a neighbour of a candidate."""


# Matches well enough that the traits of the text count fully.
GOOD = SampleText(has=TERMS, bm25=4.0)


def pool(*texts: SampleText, terms: Sequence[str] = TERMS) -> CandidatePool:
    """Return a pool of these texts in order; texts of one session are neighbours."""
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
        neighbours=around,
        text_occurrences=floats([float(term in text.has) for text in texts for term in terms]).reshape(
            len(texts), len(terms)
        ),
        text_bm25=floats([text.bm25 for text in texts]),
        text_traits=np.array([int(text.traits) for text in texts], dtype=np.int32),
        text_speakers=np.array([names.index(text.speaker) if text.speaker else -1 for text in texts], dtype=np.int32),
        pairs=floats([text.pairs for text in candidates]),
        lengths=floats([text.length for text in candidates]),
        cosines=floats([text.cosine for text in candidates]),
        z_scores=floats([text.standing for text in candidates]),
        vectors=np.full((len(places), 1), np.nan, dtype=np.float32),
        sessions=np.array([text.session for text in candidates], dtype=np.int32),
        times=moments,
        recorded_at=moments,
        importance=floats([0.5] * len(places)),
        confidence=floats([1.0] * len(places)),
        uses=np.zeros(len(places), dtype=np.int64),
        last_used=moments,
        speaker_names=names,
        terms=tuple(terms),
        text_count=len(texts),
        frequencies=[1] * len(terms),
        term_weights=floats([1.0] * len(terms)),
    )


def rank(question: str, *texts: SampleText) -> Ranking:
    return Ranking(pool(*texts), parse_question(question, ASKED_AT))


def values(question: str, *texts: SampleText, place: int = 0) -> dict[str, float]:
    """Return the value of every signal of one candidate."""
    return {signal.name: signal.value for signal in rank(question, *texts).reasons(place).signals}


@dataclass(frozen=True)
class Case:
    """Two texts that differ in one signal only; without that signal the later one comes first."""

    better: tuple[SampleText, ...]
    """The last text is the candidate; those before it are its neighbours."""
    worse: tuple[SampleText, ...]
    question: str = PLAIN


def with_neighbours(*before: SampleText, candidate: SampleText) -> tuple[SampleText, ...]:
    return (*(replace(one, session=0, candidate=False) for one in before), replace(candidate, session=0))


_SILENT_REPLY = SampleText()


def in_chat(request: SampleText, reply: SampleText = _SILENT_REPLY) -> tuple[SampleText, ...]:
    """Return a person's text in a chat with an assistant, with the reply to it."""
    first, second = replace(request, speaker="user"), replace(reply, speaker="assistant")
    return replace(first, session=0), replace(second, session=0, candidate=False)


MIDDLING = SampleText(bm25=4.0, cosine=1.0)
CASES = {
    "words": Case((SampleText(bm25=4.0),), (SampleText(bm25=2.0),)),
    "coverage": Case((SampleText(has=("boat", "blue")),), (SampleText(has=("boat",)),)),
    "meaning": Case((SampleText(standing=2.0),), (SampleText(standing=1.0),)),
    "similarity": Case((SampleText(cosine=0.8),), (SampleText(cosine=0.4),)),
    "overlap": Case(
        (SampleText(has=TERMS, cosine=0.15, standing=0.0),), (SampleText(has=TERMS, cosine=0.0, standing=1.0),)
    ),
    "nearby": Case(
        (SampleText(standing=2.0, session=0), SampleText(session=0)), (SampleText(standing=0.2, session=1),)
    ),
    "pairs": Case((SampleText(pairs=1),), (SampleText(pairs=0),)),
    "answer": Case(
        with_neighbours(SampleText(bm25=4.0, traits=Trait.ASKS), candidate=SampleText()),
        with_neighbours(SampleText(bm25=4.0), candidate=SampleText()),
    ),
    "two_before": Case(
        with_neighbours(SampleText(bm25=4.0), SampleText(), candidate=SampleText()),
        with_neighbours(SampleText(), SampleText(), candidate=SampleText()),
    ),
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
    "assistant": Case((SampleText(cosine=1.0, speaker="Alice"),), (SampleText(cosine=1.0, speaker="assistant"),)),
    "request": Case(in_chat(SampleText(bm25=4.0)), (SampleText(bm25=4.0),)),
    "request_meaning": Case(in_chat(SampleText(standing=2.0)), (SampleText(standing=2.0),)),
    "reply": Case(in_chat(SampleText(), SampleText(bm25=4.0)), in_chat(SampleText(), SampleText())),
    "statement": Case(
        (SampleText(bm25=4.0, speaker="assistant"),), (SampleText(bm25=2.0, cosine=0.6, speaker="assistant"),)
    ),
    "instruction": Case(in_chat(replace(GOOD, traits=Trait.INSTRUCTION)), in_chat(GOOD)),
    "event": Case(in_chat(replace(GOOD, traits=Trait.TIMED)), in_chat(GOOD), "In which order did I paint the boat?"),
    "replied": Case(
        with_neighbours(SampleText(bm25=3.0, speaker="user"), candidate=replace(MIDDLING, speaker="assistant")),
        with_neighbours(SampleText(bm25=1.0, speaker="user"), candidate=replace(MIDDLING, speaker="assistant")),
        "Summarise the paint of the boat.",
    ),
}


def test_060_every_signal_has_a_test_case() -> None:
    assert CASES.keys() == SIGNALS.keys()


@pytest.mark.parametrize("name", CASES)
def test_060_each_signal_changes_the_order_of_its_case(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    # Different sessions, so that the two texts are not neighbours.
    others = [replace(text, session=text.session + 10 if text.session >= 0 else -1) for text in case.worse]
    texts = [*case.better, *others]
    better, worse = sum(text.candidate for text in case.better) - 1, sum(text.candidate for text in texts) - 1

    def order() -> list[int]:
        return [place for place in rank(case.question, *texts).best_first() if place in (better, worse)]

    assert order() == [better, worse]
    monkeypatch.setitem(SIGNALS, name, replace(SIGNALS[name], weight=0.0))
    assert order() == [worse, better]


@pytest.mark.parametrize("name", CASES)
def test_066_a_contribution_has_the_sign_of_its_weight(name: str) -> None:
    case = CASES[name]
    texts = case.better if SIGNALS[name].weight > 0 else case.worse
    reasons = rank(case.question, *texts).reasons(sum(text.candidate for text in texts) - 1)
    (signal,) = [signal for signal in reasons.signals if signal.name == name]
    meaning = SIGNALS[name]
    assert signal.value > 0
    assert signal == Signal(name, signal.raw, signal.value, meaning.weight, signal.contribution, meaning.description)
    assert math.copysign(1, signal.contribution) == math.copysign(1, meaning.weight)


def random_text(dice: random.Random) -> SampleText:
    return SampleText(
        has=tuple(term for term in TERMS if dice.random() < 0.5),
        bm25=dice.choice([0.0, dice.uniform(0, 9)]),
        traits=Trait(dice.randrange(128)),
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
        "In which order did I bring up the boat?",
    ],
)
def test_066_the_score_is_the_sum_of_contributions_and_determines_the_order(question: str) -> None:
    dice = random.Random(question)
    for _ in range(30):
        ranking = rank(question, *(random_text(dice) for _ in range(dice.randrange(1, 20))))
        sums = [
            math.fsum(signal.contribution for signal in ranking.reasons(place).signals)
            for place in range(len(ranking.scores))
        ]
        assert ranking.scores.tolist() == pytest.approx([min(max(total, 0.0), 1.0) for total in sums], abs=1e-6)
        order = ranking.best_first()
        assert sorted(order) == list(range(len(sums)))
        assert [sums[place] for place in order] == pytest.approx(sorted(sums, reverse=True), abs=1e-6)


def test_066_a_candidate_reports_the_value_and_contribution_of_every_signal() -> None:
    ranking = rank(
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
        {**expected, "session": before}  # the only and best text of its session
    )
    assert [(signal.weight, signal.about) for signal in found] == [
        (SIGNALS[signal.name].weight, SIGNALS[signal.name].description) for signal in found
    ]
    assert [signal.contribution for signal in found] == pytest.approx(
        [signal.weight * signal.value / FULL_SCORE for signal in found]
    )
    assert ranking.scores.tolist()[0] == pytest.approx((1 + SIGNALS["session"].weight) * before / FULL_SCORE)


def test_060_the_later_of_two_memories_with_equal_scores_comes_first() -> None:
    assert rank(PLAIN, GOOD, GOOD, SampleText(), GOOD, SampleText()).best_first() == [3, 1, 0, 4, 2]


def test_060_candidates_with_clamped_scores_are_still_ordered() -> None:
    ranking = rank(PLAIN, *(SampleText(standing=standing) for standing in (90.0, 80.0, -1.0, -2.0)))
    assert ranking.scores.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert ranking.best_first() == [0, 1, 2, 3]


@pytest.mark.parametrize("question", [PLAIN, "When did you say that in May 2023?", "Should I ask Alice?"])
def test_060_an_empty_pool_has_an_empty_order(question: str) -> None:
    ranking = rank(question)
    assert (ranking.scores.tolist(), ranking.best_first()) == ([], [])


def test_060_without_search_terms_semantic_similarity_decides() -> None:
    question = parse_question("?", ASKED_AT)
    ranking = Ranking(pool(SampleText(cosine=0.5), SampleText(cosine=0.2), terms=()), question)
    assert ranking.best_first() == [0, 1]
    assert ranking.reasons(0).confirmed
    assert not ranking.reasons(1).confirmed


def test_060_missing_neighbours_contribute_nothing() -> None:
    # Index -1 would read the last of all texts.
    unrelated = SampleText(has=TERMS, bm25=8.0, traits=Trait.ASKS, session=1, candidate=False)
    alone, first = SampleText(length=3), SampleText(length=3, session=0)
    for texts in ([alone, unrelated], [first, unrelated]):
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
def test_060_a_word_in_a_neighbour_counts_less_with_distance(distance: int, after: bool) -> None:
    gap = [SampleText(session=0, candidate=False)] * (distance - 1)
    near_by = SampleText(has=("boat",), session=0, candidate=False)
    itself = SampleText(has=("blue",), session=0)
    texts = [itself, *gap, near_by]
    found = values(PLAIN, *(texts if after else reversed(texts)))
    assert found["coverage"] == pytest.approx((1 + DISTANCE_WEIGHTS[distance]) / 3)


def test_060_a_word_counts_once_at_its_nearest_occurrence_within_reach() -> None:
    texts = [SampleText(has=("boat",), session=0, candidate=False)] * 2
    assert values(PLAIN, *texts, SampleText(has=("boat",), session=0), *texts)["coverage"] == pytest.approx(1 / 3)
    assert values(PLAIN, *texts, SampleText(session=0), *texts)["coverage"] == pytest.approx(DISTANCE_WEIGHTS[1] / 3)
    gap = [SampleText(session=0, candidate=False)] * REACH
    assert values(PLAIN, *texts, *gap, SampleText(session=0), *gap, *texts)["coverage"] == 0


def test_060_a_rare_word_covers_more_of_the_question_than_a_common_one() -> None:
    question = parse_question(PLAIN, ASKED_AT)
    candidates = pool(SampleText(has=("boat",)), SampleText(has=("paint", "blue")))
    weighed = replace(candidates, term_weights=np.array([6.0, 1.0, 1.0], dtype=np.float32))
    assert Ranking(candidates, question).best_first() == [1, 0]
    assert Ranking(weighed, question).best_first() == [0, 1]
    assert [Ranking(weighed, question).reasons(place).confirmed for place in (0, 1)] == [True, False]


def test_060_only_the_text_right_after_a_question_is_an_answer() -> None:
    question_before = SampleText(bm25=4.0, traits=Trait.ASKS)
    assert values(PLAIN, *with_neighbours(question_before, candidate=SampleText()))["answer"] == 1
    assert (
        values(PLAIN, *with_neighbours(replace(question_before, traits=Trait(0)), candidate=SampleText()))["answer"]
        == 0
    )
    assert values(PLAIN, *with_neighbours(question_before, SampleText(), candidate=SampleText()))["answer"] == 0
    assert values(PLAIN, SampleText(session=0), replace(question_before, session=0, candidate=False))["answer"] == 0


def test_060_word_pairs_and_length_saturate() -> None:
    assert values(PLAIN, SampleText(pairs=5, length=400)) == values(PLAIN, SampleText(pairs=2, length=SATURATING_WORDS))


def test_060_traits_count_in_proportion_to_the_evidence() -> None:
    like = SampleText(length=20, traits=Trait.PERSONAL | Trait.NAMES)
    assert rank(PLAIN, like).scores.tolist() == [0.0]
    likeness = math.log1p(20) * SIGNALS["substance"].weight + SIGNALS["names"].weight + SIGNALS["personal"].weight
    for share in (0.5, 1.0):
        evidence = share * FULL_TRUST_EVIDENCE
        some = replace(like, cosine=evidence / SIGNALS["similarity"].weight)
        expected = (1 + SIGNALS["session"].weight) * (evidence + share * likeness) / FULL_SCORE
        assert rank(PLAIN, some).scores.tolist() == pytest.approx([expected])


def test_060_times_and_names_in_a_text_count_only_with_evidence() -> None:
    for question in ("When was it?", "Who was it?"):
        assert rank(question, SampleText(traits=Trait.TIMED | Trait.NAMES)).scores.tolist() == [0.0]


@pytest.mark.parametrize("distance", range(1, REACH + 1))
@pytest.mark.parametrize("after", [False, True])
def test_060_the_similarity_of_a_neighbour_counts_less_with_distance(distance: int, after: bool) -> None:
    gap = [SampleText(session=0, candidate=False)] * (distance - 1)
    texts = [SampleText(session=0), *gap, SampleText(standing=2.0, session=0)]
    found = values(PLAIN, *(texts if after else reversed(texts)), place=0 if after else 1)
    assert found["nearby"] == pytest.approx(2 * DISTANCE_WEIGHTS[distance])


def test_060_only_similar_neighbours_not_by_an_assistant_count_as_nearby() -> None:
    texts = (
        SampleText(standing=2.0, session=0),
        SampleText(standing=-1.0, session=0),
        SampleText(standing=3.0, session=0),
    )
    assert values(PLAIN, texts[0])["nearby"] == 0
    assert values(PLAIN, *texts[:2])["nearby"] == 0
    assert values(PLAIN, texts[0], replace(texts[2], speaker="assistant"))["nearby"] == 0


def test_060_a_contextual_model_gives_similarity_more_weight() -> None:
    candidates = pool(SampleText(has=("boat",), cosine=0.1, standing=0.5), SampleText(has=(), cosine=0.8, standing=2.0))
    question = parse_question(PLAIN, ASKED_AT)
    assert Ranking(candidates, question).best_first() == [0, 1]
    contextual = Ranking(candidates, question, contextual=True)
    assert contextual.best_first() == [1, 0]
    weights = {signal.name: signal.weight for signal in contextual.reasons(0).signals}
    assert {name: weights[name] for name in CONTEXTUAL_WEIGHTS} == CONTEXTUAL_WEIGHTS
    assert weights["coverage"] == SIGNALS["coverage"].weight
    total = sum(signal.weight * signal.value for signal in contextual.reasons(1).signals)
    assert contextual.scores.tolist()[1] == pytest.approx(total / FULL_SCORE_CONTEXTUAL)


def test_060_a_text_without_a_vector_has_no_similarity() -> None:
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
def test_066_a_signal_is_reported_only_for_questions_it_applies_to(question: str, signal: str) -> None:
    text = replace(GOOD, speaker="Alice")
    asked_for = {"timed", "named", "standing", "date", "speaker", "assistant"}
    assert values(question, text).keys() & asked_for == {signal}
    assert values(PLAIN, text).keys() & asked_for == set()


def test_060_texts_close_to_the_date_in_question_come_first() -> None:
    moments = [datetime(2023, *day, tzinfo=UTC) for day in ((7, 1), (5, 25), (5, 12), (5, 8))]
    texts = [replace(GOOD, at=at) for at in moments]
    assert rank("What was painted on 7 May 2023?", *texts).best_first() == [3, 2, 1, 0]
    # The end of a span is exclusive.
    assert values("in May 2023", replace(GOOD, at=datetime(2023, 5, 1, tzinfo=UTC)))["date"] == 0.5
    assert values("in May 2023", replace(GOOD, at=datetime(2023, 6, 8, tzinfo=UTC)))["date"] == 0.0


def test_060_no_speaker_is_preferred_when_the_question_names_two() -> None:
    texts = replace(GOOD, speaker="Alice"), replace(GOOD, speaker="Bob")
    assert "speaker" not in values("What did Alice and Bob paint?", *texts)
    assert "speaker" not in values("What did the user paint?", *texts, replace(GOOD, speaker="user"))


FROM_ASSISTANT = replace(
    GOOD, speaker="assistant", traits=Trait.PERSONAL | Trait.QUESTION | Trait.STANDING, standing=1.0
)
FROM_ALICE = replace(GOOD, speaker="Alice", cosine=0.2)


@pytest.mark.parametrize(
    ("question", "against", "covered"),
    [
        (PLAIN, 1.0, 0.0),
        ("Should I paint the boat blue?", 1.0, 0.0),
        ("What blue did you suggest for the boat?", 1 - ASKED_RELIEF, ASSISTANT_COVERAGE),
        ("Summarise the painting of the boat", 1 - SUMMARY_RELIEF, ASSISTANT_COVERAGE),
        ("Sum up what you said of the boat", 1 - ASKED_RELIEF - SUMMARY_RELIEF, ASSISTANT_COVERAGE),
    ],
)
def test_060_texts_by_an_assistant_count_only_if_asked_for(question: str, against: float, covered: float) -> None:
    found = values(question, FROM_ASSISTANT, FROM_ALICE)
    shown = {name: found[name] for name in ("assistant", "coverage", "overlap", "personal", "asking")}
    assert shown == pytest.approx(
        {"assistant": against, "coverage": covered, "overlap": covered, "personal": 0.0, "asking": 0.0}, abs=1e-6
    )
    assert found.get("standing", 0.0) == 0.0
    reversed_order = values(question, FROM_ALICE, FROM_ASSISTANT)
    assert (reversed_order["assistant"], reversed_order["coverage"]) == (0.0, 1.0)


def test_060_texts_by_an_assistant_come_after_those_by_a_person_unless_asked_for() -> None:
    from_assistant = SampleText(has=TERMS, bm25=8.0, cosine=0.9, standing=1.0, length=20, speaker="assistant")
    from_person = SampleText(has=("boat", "paint"), bm25=4.0, cosine=0.3, standing=0.5, length=20, speaker="user")
    assert rank(PLAIN, from_assistant, from_person).best_first() == [1, 0]
    assert rank("What blue did you recommend for the boat?", from_assistant, from_person).best_first() == [0, 1]


def test_060_in_a_chat_with_an_assistant_the_request_comes_before_the_reply_unless_the_reply_is_asked_for() -> None:
    request = replace(GOOD, bm25=6.0, length=20, cosine=0.4, speaker="user", session=0)
    reply = replace(GOOD, bm25=8.0, length=80, cosine=0.5, speaker="assistant", session=0)
    assert rank(PLAIN, request, reply).best_first() == [0, 1]
    assert rank("What blue did you suggest for the boat?", request, reply).best_first() == [1, 0]
    assert rank("Summarise how the paint of the boat developed.", request, reply).best_first() == [1, 0]


def test_060_an_instruction_to_the_assistant_comes_before_other_requests_on_its_topic() -> None:
    instruction = SampleText(
        has=("boat",), bm25=2.0, cosine=0.4, traits=Trait.INSTRUCTION, length=12, speaker="user", session=0
    )
    request = replace(instruction, traits=Trait.PERSONAL, bm25=2.2)
    elsewhere = SampleText(traits=Trait.INSTRUCTION, length=12, speaker="user", session=0)
    reply = SampleText(speaker="assistant", session=0, candidate=False)
    assert rank(PLAIN, instruction, reply, request, elsewhere).best_first() == [0, 1, 2]


@pytest.mark.parametrize("question", [PLAIN, "What blue did you suggest for the boat?"])
def test_060_a_neighbour_by_an_assistant_adds_no_words_to_a_text_by_a_person(question: str) -> None:
    from_assistant = SampleText(has=TERMS, speaker="assistant", session=0, candidate=False)
    from_person = SampleText(has=("boat",), speaker="Alice", session=0)
    assert values(question, from_assistant, from_person)["coverage"] == pytest.approx(REQUEST_COVERAGE / 3)
    assert values(question, replace(from_assistant, speaker="Bob"), from_person)["coverage"] == pytest.approx(
        (1 + 2 * 0.75) / 3
    )


@pytest.mark.parametrize(
    ("texts", "confirmed"),
    [
        ([SampleText(has=("boat",))], True),
        ([SampleText(cosine=CONFIRMING_COSINE + 0.01)], True),
        ([SampleText(cosine=CONFIRMING_COSINE - 0.01)], False),
        ([SampleText(standing=9.0, pairs=2)], False),
        ([SampleText(session=0), SampleText(has=TERMS, session=0, candidate=False)], False),
        ([SampleText(session=0), SampleText(has=TERMS, bm25=4.0, session=0, candidate=False)], False),
    ],
)
def test_066_a_candidate_is_confirmed_by_its_own_words_or_similarity(texts: list[SampleText], confirmed: bool) -> None:
    assert rank(PLAIN, *texts).reasons(0).confirmed == confirmed


def test_066_words_confirm_nothing_if_most_words_of_the_question_occur_nowhere() -> None:
    question = parse_question(PLAIN, ASKED_AT)
    candidates = pool(SampleText(has=("boat",)), SampleText(has=("boat",), cosine=CONFIRMING_COSINE + 0.01))
    assert Ranking(candidates, question).confirmed([0, 1]) == [True, True]
    unknown = replace(candidates, frequencies=[2, 0, 0], text_count=MIN_TEXTS_FOR_WORD_CHECK)
    assert Ranking(unknown, question).confirmed([0, 1]) == [False, True]
    assert Ranking(replace(unknown, text_count=MIN_TEXTS_FOR_WORD_CHECK - 1), question).confirmed([0, 1]) == [
        True,
        True,
    ]
    assert Ranking(replace(unknown, frequencies=[2, 1, 1]), question).confirmed([0, 1]) == [True, True]
    assert Ranking(candidates, question).confirmed([]) == []


def test_066_a_text_by_another_speaker_than_the_named_one_is_not_confirmed() -> None:
    texts = [replace(GOOD, speaker=speaker, cosine=0.9) for speaker in ("Alice", "Bob", None)]

    def confirmed(question: str) -> list[bool]:
        ranking = rank(question, *texts)
        return [ranking.reasons(place).confirmed for place in range(3)]

    assert confirmed("What did Alice paint?") == [True, False, False]
    assert confirmed("What did Alice and Bob paint?") == [True, True, True]
    assert confirmed(PLAIN) == [True, True, True]


def test_066_a_signal_reports_its_raw_value_and_its_normalized_value() -> None:
    found = rank(PLAIN, SampleText(bm25=4, cosine=0.5, standing=2, pairs=3, length=50), SampleText(bm25=8))
    measured = {signal.name: (signal.raw, signal.value) for signal in found.reasons(0).signals}
    assert (measured["words"], measured["meaning"], measured["similarity"]) == ((4, 0.5), (0.5, 2), (0.5, 0.5))
    assert (measured["pairs"], measured["substance"][0]) == ((3, 2), 50)


def test_066_the_three_strongest_reasons_are_described() -> None:
    about = {name: meaning.description for name, meaning in SIGNALS.items()}
    text = replace(GOOD, speaker="Alice", cosine=0.6, traits=Trait.TIMED, pairs=1)
    assert rank("When did Alice paint the boat?", text).reasons(0).why == (
        f"{about['coverage']}; {about['words']}; {about['speaker']}"
    )
    other = rank("When did Alice paint the boat?", replace(text, speaker="Bob"), replace(text, has=(), cosine=0.0))
    assert other.reasons(0).why == (f"related, not confirmed: {about['coverage']}; {about['words']}; {about['timed']}")


def test_066_weak_matches_are_described_as_related_only() -> None:
    assert rank(PLAIN, SampleText()).reasons(0).why == "related, not confirmed: no strong signal"
    assert rank(PLAIN, SampleText(cosine=0.1)).reasons(0).why == ("related, not confirmed: no strong signal")
