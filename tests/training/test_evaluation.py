"""Question sets, and the ranking score of a table of embeddings."""

from datetime import UTC, datetime

import numpy as np
import pytest

from benchmarks.conversations import Conversation, Question, Turn
from models.evaluation import Evaluation, QuestionSet, code_questions, conversation_questions, ndcg, paired_questions
from models.held_out import CodeSet
from models.pairs import Pair
from models.vocabulary import build_tokenizer


def pair_of(summary: str, code: str, language: str = "go", name: str = "Close") -> Pair:
    return Pair("pool", language, "function", name, summary, "", code)


def test_ndcg_is_one_for_a_perfect_ranking_and_falls_with_the_rank():
    assert ndcg([3, 1, 2], frozenset({3, 1})) == pytest.approx(1.0)
    assert ndcg([9, 3], frozenset({3})) == pytest.approx(1 / np.log2(3))
    assert ndcg([9, 8], frozenset({3})) == 0


def test_summaries_without_names_are_questions_unless_more_than_three_declarations_share_one():
    pairs = [
        pair_of("Close closes every open connection.", "a"),
        pair_of("Close closes every open connection.", "a"),
        pair_of("Close closes every open connection.", "b"),
        pair_of("Another language is not asked.", "c", language="rs"),
        *(pair_of("It is said of four.", code, name="X") for code in "defg"),
    ]

    assert code_questions(pairs, CodeSet("go", "debian", ("pool",))) == QuestionSet(
        ["a", "b", "d", "e", "f", "g"], ["closes every open connection."], [frozenset({0, 1})]
    )


def test_adversarial_questions_of_a_conversation_are_left_out():
    said_at = datetime(2023, 5, 8, tzinfo=UTC)
    turns = [
        Turn("D1:1", "Ada", "Look! [shared photo: a barn]", "session_1", said_at),
        Turn("D1:2", "Bob", "Nice.", "session_1", said_at),
    ]
    questions = [
        Question("What did Bob think of it?", frozenset({"D1:2"}), "single-hop"),
        Question("What did Ada never say?", frozenset({"D1:1"}), "adversarial"),
    ]

    assert conversation_questions(Conversation(turns, questions)) == QuestionSet(
        ["Ada: Look! [shared photo: a barn]", "Bob: Nice."], ["What did Bob think of it?"], [frozenset({1})]
    )


def test_a_table_is_scored_by_the_ranks_of_the_answers():
    tokenizer = build_tokenizer(["[PAD]", "[UNK]", "cat", "kitten", "car", "engine"])
    sets = {"animals": [paired_questions([("kitten", "cat cat"), ("engine", "car")])]}
    near = np.array([[0, 0], [0, 0], [1, 0], [1, 0.1], [0, 1], [0.1, 1]], np.float32)
    swapped = near[[0, 1, 2, 5, 4, 3]]

    evaluation = Evaluation(tokenizer, sets)

    assert evaluation.ndcg(near) == {"animals": 1.0}
    assert evaluation.ndcg(swapped) == {"animals": round(1 / np.log2(3), 4)}
