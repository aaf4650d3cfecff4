from datetime import UTC, datetime

import numpy as np
import pytest

from benchmarks.locomo import Conversation, Question, Turn
from models.described import Pair
from models.evaluation import Evaluation, Questions, code_questions, conversation_questions, ndcg, paired_questions
from models.held_out import CodeSet
from models.vocabulary import tokenizer_of


def pair_of(summary: str, code: str, language: str = "go", name: str = "Close") -> Pair:
    return Pair("pool", language, "function", name, summary, "", code)


def test_ndcg_is_one_for_a_perfect_order_and_falls_with_the_rank():
    assert ndcg([3, 1, 2], frozenset({3, 1})) == pytest.approx(1.0)
    assert ndcg([9, 3], frozenset({3})) == pytest.approx(1 / np.log2(3))
    assert ndcg([9, 8], frozenset({3})) == 0


def test_summaries_ask_for_their_code_without_the_name_and_common_ones_do_not_ask():
    pairs = [
        pair_of("Close closes every open connection.", "a"),
        pair_of("Close closes every open connection.", "a"),
        pair_of("Close closes every open connection.", "b"),
        pair_of("Another language is not asked.", "c", language="rs"),
        *(pair_of("It is said of four.", code, name="X") for code in "defg"),
    ]

    assert code_questions(pairs, CodeSet("go", "debian", ("pool",))) == Questions(
        ["a", "b", "d", "e", "f", "g"], ["closes every open connection."], [frozenset({0, 1})]
    )


def test_a_conversation_is_asked_only_what_was_said():
    said_at = datetime(2023, 5, 8, tzinfo=UTC)
    turns = [
        Turn("D1:1", "Ada", "Look! [shared photo: a barn]", "session_1", said_at),
        Turn("D1:2", "Bob", "Nice.", "session_1", said_at),
    ]
    asked = [
        Question("What did Bob think of it?", frozenset({"D1:2"}), "single-hop"),
        Question("What did Ada never say?", frozenset({"D1:1"}), "adversarial"),
    ]

    assert conversation_questions(Conversation(turns, asked)) == Questions(
        ["Ada: Look! [shared photo: a barn]", "Bob: Nice."], ["What did Bob think of it?"], [frozenset({1})]
    )


def test_a_table_is_measured_by_the_texts_that_its_vectors_find():
    tokenizer = tokenizer_of(["[PAD]", "[UNK]", "cat", "kitten", "car", "engine"])
    sets = {"animals": [paired_questions([("kitten", "cat cat"), ("engine", "car")])]}
    near = np.array([[0, 0], [0, 0], [1, 0], [1, 0.1], [0, 1], [0.1, 1]], np.float32)
    swapped = near[[0, 1, 2, 5, 4, 3]]

    evaluation = Evaluation(tokenizer, sets)

    assert evaluation.ndcg(near) == {"animals": 1.0}
    assert evaluation.ndcg(swapped) == {"animals": round(1 / np.log2(3), 4)}
