"""Evaluate a table: NDCG@10 of vector search alone over held-out questions."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from tokenizers import Tokenizer

from benchmarks.conversations import Conversation
from benchmarks.locomo import CATEGORIES
from models.bags import Floats, bags, vectors
from models.held_out import CodeSet
from models.pairs import Pair, without_name

_DEPTH = 10
_ADVERSARIAL = CATEGORIES[5]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Texts to search, questions, and for each question the indices of the texts that answer it."""

    texts: Sequence[str]
    questions: Sequence[str]
    answers: Sequence[frozenset[int]]


def code_questions(pairs: Sequence[Pair], code_set: CodeSet) -> QuestionSet:
    """Return summaries as questions over all code of the set. A summary shared by more than three is no question."""
    asked = [pair for pair in pairs if pair.language == code_set.language and pair.kind in code_set.kinds]
    unique = list({pair.code: pair for pair in reversed(asked)}.values())[::-1]
    answers: dict[str, set[int]] = defaultdict(set)
    for number, pair in enumerate(unique):
        answers[without_name(pair)].add(number)
    by_package: dict[str, list[str]] = defaultdict(list)
    for question, numbers in answers.items():
        if len(numbers) <= 3:
            by_package[unique[min(numbers)].package].append(question)
    chosen: list[str] = []
    order = random.Random(0)
    for package in sorted(by_package):
        questions = sorted(by_package[package])
        order.shuffle(questions)
        chosen += questions[: code_set.questions_per_package]
    return QuestionSet([pair.code for pair in unique], chosen, [frozenset(answers[question]) for question in chosen])


def paired_questions(pairs: Sequence[tuple[str, str]]) -> QuestionSet:
    """Return the first part of each pair as a question whose answer is the second part."""
    return QuestionSet(
        [answer for _, answer in pairs],
        [question for question, _ in pairs],
        [frozenset({n}) for n in range(len(pairs))],
    )


def conversation_questions(conversation: Conversation) -> QuestionSet:
    """Return the turns of a conversation as texts, with its answerable questions. Never used for training."""
    asked = [question for question in conversation.questions if question.category != _ADVERSARIAL]
    numbers = {turn.id: number for number, turn in enumerate(conversation.turns)}
    return QuestionSet(
        [f"{turn.speaker}: {turn.text}" for turn in conversation.turns],
        [question.text for question in asked],
        [frozenset(map(numbers.__getitem__, question.evidence)) for question in asked],
    )


class Evaluation:
    """Question sets, tokenized once, to evaluate any table with the same vocabulary."""

    def __init__(self, tokenizer: Tokenizer, sets: Mapping[str, Sequence[QuestionSet]]) -> None:
        self._sets = {
            name: [(bags(tokenizer, store.texts), bags(tokenizer, store.questions), store.answers) for store in stores]
            for name, stores in sets.items()
        }

    def ndcg(self, table: Floats) -> dict[str, float]:
        """Return the mean NDCG@10 of every set."""
        figures: dict[str, float] = {}
        for name, stores in self._sets.items():
            scores = [
                score
                for texts, questions, answers in stores
                for score in _scores(vectors(questions, table) @ vectors(texts, table).T, answers)
            ]
            figures[name] = round(float(np.mean(scores)), 4)
        return figures


def _scores(similarities: Floats, answers: Sequence[frozenset[int]]) -> list[float]:
    ranked = np.argsort(-similarities, axis=1, kind="stable")[:, :_DEPTH]
    return [ndcg(row.tolist(), relevant) for row, relevant in zip(ranked, answers, strict=True)]


def ndcg(ranked: Sequence[int], relevant: frozenset[int]) -> float:
    gained = sum(1 / np.log2(rank + 2) for rank, number in enumerate(ranked[:_DEPTH]) if number in relevant)
    return float(gained / sum(1 / np.log2(rank + 2) for rank in range(min(_DEPTH, len(relevant)))))
