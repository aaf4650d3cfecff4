"""How well a table finds the right text: NDCG@10 of vectors alone, over held-out questions."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from tokenizers import Tokenizer

from benchmarks.locomo import CATEGORIES, Conversation
from models.bags import Floats, bags, vectors
from models.described import Pair, without_name
from models.held_out import CodeSet

_DEPTH = 10
_NEVER_SAID = CATEGORIES[5]


@dataclass(frozen=True, slots=True)
class Questions:
    """One store to search: texts, questions, and for each question the texts that answer it."""

    texts: Sequence[str]
    questions: Sequence[str]
    answers: Sequence[frozenset[int]]


def code_questions(pairs: Sequence[Pair], code_set: CodeSet) -> Questions:
    """Summaries as questions over all code of the set's packages; a summary of more than three is no question."""
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
    return Questions([pair.code for pair in unique], chosen, [frozenset(answers[question]) for question in chosen])


def paired_questions(pairs: Sequence[tuple[str, str]]) -> Questions:
    """First parts as questions for second parts."""
    return Questions(
        [answer for _, answer in pairs],
        [question for question, _ in pairs],
        [frozenset({n}) for n in range(len(pairs))],
    )


def conversation_questions(conversation: Conversation) -> Questions:
    """Every turn of a conversation a text, with the questions that it answers. For evaluation only."""
    asked = [question for question in conversation.questions if question.category != _NEVER_SAID]
    numbers = {turn.id: number for number, turn in enumerate(conversation.turns)}
    return Questions(
        [f"{turn.speaker}: {turn.text}" for turn in conversation.turns],
        [question.text for question in asked],
        [frozenset(map(numbers.__getitem__, question.evidence)) for question in asked],
    )


class Evaluation:
    """Sets of questions, tokenised once, on which any table of the same vocabulary is measured."""

    def __init__(self, tokenizer: Tokenizer, sets: Mapping[str, Sequence[Questions]]) -> None:
        self._sets = {
            name: [(bags(tokenizer, store.texts), bags(tokenizer, store.questions), store.answers) for store in stores]
            for name, stores in sets.items()
        }

    def ndcg(self, table: Floats) -> dict[str, float]:
        """The mean NDCG@10 of every set."""
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
