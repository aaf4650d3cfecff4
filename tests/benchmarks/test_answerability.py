"""The score of the answers benchmark, and the format of its stores."""

from pathlib import Path

from benchmarks.answerability import (
    DEVELOPMENT_STORES,
    OWN_STORES,
    Outcome,
    QuestionSet,
    area_under_curve,
    read_sets,
    score,
)

NOTHING: frozenset[int] = frozenset()


def outcome(*, confirmed: frozenset[int] = NOTHING, cited: frozenset[int] = NOTHING, best: float = 0.0) -> Outcome:
    return Outcome(confirmed, cited, bool(cited), best)


def test_kept_needs_the_right_memory_and_presented_counts_any() -> None:
    questions = QuestionSet("x", ["a", "b"], [("?", frozenset({0})), ("??", frozenset({0, 1}))], ["???", "????"])
    outcomes = [
        outcome(confirmed=frozenset({1}), cited=frozenset({0}), best=0.9),
        outcome(confirmed=frozenset({1}), best=0.2),
        outcome(cited=frozenset({1}), best=0.5),
        outcome(best=0.1),
    ]
    assert score(questions, outcomes) == {
        "recall kept": 0.5,
        "recall presented": 0.0,
        "ask kept": 0.5,
        "ask presented": 0.5,
        "AUC": 0.75,
    }


def test_the_area_under_the_curve_counts_ties_half() -> None:
    assert area_under_curve([1.0, 0.5], [0.5, 0.0]) == 0.875


def test_each_own_store_has_its_questions_and_valid_places() -> None:
    checked, developed = read_sets(OWN_STORES), read_sets(DEVELOPMENT_STORES)
    assert [(len(one.memories), len(one.answerable), len(one.unanswerable)) for one in checked] == [(50, 40, 40)] * 3
    assert [(len(one.memories), len(one.answerable), len(one.unanswerable)) for one in developed] == [(30, 30, 30)] * 18
    for one in (*checked, *developed):
        assert all(gold and max(gold) < len(one.memories) for _, gold in one.answerable)


def test_a_file_may_hold_one_store_or_several(tmp_path: Path) -> None:
    store = '{"name": "n", "memories": ["m"], "answerable": [{"q": "q", "gold": [0]}], "unanswerable": ["u"]}'
    (tmp_path / "a.json").write_text(store)
    (tmp_path / "b.json").write_text(f'{{"stores": [{store}, {store}]}}')
    assert read_sets(tmp_path) == [QuestionSet("n", ["m"], [("q", frozenset({0}))], ["u"])] * 3
