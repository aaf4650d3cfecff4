"""Contrastive training of the table: a text must be more similar to its own partner than to all others of its batch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from models.bags import Floats, sparse

Integers = npt.NDArray[np.int64]

_BATCH = 1_024
# Pairs of one package that are placed together in a batch: they are each other's hard negatives.
_NEIGHBOURS = 64
_TEMPERATURE = 0.05
_WARM_UP_STEPS = 30
_MOMENTUM, _VARIANCE_DECAY = 0.9, 0.98
# Adam's epsilon, about the gradient of a word that is in one text of a batch. With a much smaller value, Adam moves
# such rare words (most words of conversations) by chance as far as it moves frequent words by evidence.
_EPSILON = 5e-5


@dataclass(frozen=True, slots=True)
class PairKind:
    """Sampling weight of one kind of pair, and the share of each side's tokens that survives dropout, 0 to 1."""

    weight: float
    question_keep: float = 0.9
    answer_keep: float = 0.7


PAIR_KINDS: Mapping[str, PairKind] = {
    "code": PairKind(5),
    "documentation": PairKind(2),
    "halves": PairKind(1),
    "headings": PairKind(0.5),
    "lemmas": PairKind(0.5, 1, 0.9),
    "glosses": PairKind(0.4),
    "books": PairKind(0.4),
    "talk": PairKind(0.1, 0.95, 0.95),
    "sentences": PairKind(1, 0.4, 0.8),
    "speakers": PairKind(1, 0.95, 0.85),
}


@dataclass(frozen=True, slots=True)
class TrainingRun:
    rate: float
    steps: int
    seed: int


# The table is the mean of these runs. A higher rate or more steps gain on code and lose on conversations, because words
# move further from the teacher's vectors.
RUNS = tuple(TrainingRun(0.01, 1_400, seed) for seed in range(4))


@dataclass(frozen=True, slots=True)
class TrainingPairs:
    """Pairs of one kind as bags of tokens, with the group number of each pair."""

    questions: Any
    answers: Any
    groups: Integers


def train(
    start: Floats, pairs: Mapping[str, TrainingPairs], run: TrainingRun, kinds: Mapping[str, PairKind] = PAIR_KINDS
) -> Floats:
    """Return the table after one run: each step trains a batch of one kind; after warm-up the rate falls linearly."""
    random = np.random.default_rng(run.seed)
    drawn = {name: _batches(paired.groups, random) for name, paired in pairs.items()}
    names = list(pairs)
    weights = np.array([kinds[name].weight for name in names])
    table, optimiser = start.copy(), LazyAdam(start.shape)
    for step in range(1, run.steps + 1):
        name = names[random.choice(len(names), p=weights / weights.sum())]
        numbers = next(drawn[name])
        questions = _drop_tokens(pairs[name].questions[numbers], kinds[name].question_keep, random)
        answers = _drop_tokens(pairs[name].answers[numbers], kinds[name].answer_keep, random)
        tokens, gradient = gradients(table, questions, answers)
        rate = run.rate * min(1, step / _WARM_UP_STEPS) * max(0.02, 1 - (step - 1) / run.steps)
        table[tokens] -= optimiser.step(tokens, gradient, rate)
    return table


def gradients(table: Floats, questions: Any, answers: Any) -> tuple[Integers, Floats]:
    """Return the tokens of a batch and the gradient of the symmetric InfoNCE loss for their rows."""
    both = sparse.vstack([questions, answers], format="csr")
    tokens, columns = np.unique(both.indices, return_inverse=True)
    both = sparse.csr_matrix((both.data, columns.astype(np.int32), both.indptr), shape=(both.shape[0], len(tokens)))
    summed: Floats = both @ table[tokens]
    lengths = np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-6)
    unit = summed / lengths
    count = questions.shape[0]
    asked, answered = unit[:count], unit[count:]
    similarity = asked @ answered.T / _TEMPERATURE
    similarity = np.exp(similarity - similarity.max())
    of_answers = similarity / np.maximum(similarity.sum(axis=1, keepdims=True), 1e-30)
    of_questions = similarity / np.maximum(similarity.sum(axis=0, keepdims=True), 1e-30)
    error = (of_answers + of_questions) / 2
    error[np.arange(count), np.arange(count)] -= 1
    error /= count * _TEMPERATURE
    wanted = np.concatenate([error @ answered, error.T @ asked])
    # Only the component orthogonal to the vector counts, because vectors are scaled to length 1.
    across = (wanted - unit * (unit * wanted).sum(axis=1, keepdims=True)) / lengths
    return tokens, both.T.tocsr() @ across


class LazyAdam:
    """Adam that updates moments and values only of the rows in a batch."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._mean = np.zeros(shape, np.float32)
        self._square = np.zeros(shape, np.float32)
        self._step = 0

    def step(self, tokens: Integers, gradient: Floats, rate: float) -> Floats:
        self._step += 1
        mean = self._mean[tokens] * _MOMENTUM + gradient * (1 - _MOMENTUM)
        square = self._square[tokens] * _VARIANCE_DECAY + gradient * gradient * (1 - _VARIANCE_DECAY)
        self._mean[tokens], self._square[tokens] = mean, square
        root: Floats = np.sqrt(square / (1 - _VARIANCE_DECAY**self._step))
        return (rate / (1 - _MOMENTUM**self._step) * mean / (root + _EPSILON)).astype(np.float32, copy=False)


def _batches(groups: Integers, random: np.random.Generator) -> Iterator[Integers]:
    """Yield batches of pair numbers. Pairs of a group are cut into runs of neighbours, drawn in random order."""
    runs_in_batch = _BATCH // _NEIGHBOURS
    while True:
        shuffled = random.permutation(len(groups))
        by_group = shuffled[np.argsort(groups[shuffled], kind="stable")]
        by_group = np.roll(by_group, random.integers(_NEIGHBOURS))
        runs: list[Integers] = [by_group[start : start + _NEIGHBOURS] for start in range(0, len(by_group), _NEIGHBOURS)]
        order = random.permutation(len(runs))
        for start in range(0, max(1, len(order) - runs_in_batch + 1), runs_in_batch):
            together: list[int] = order[start : start + runs_in_batch].tolist()
            yield np.concatenate([runs[number] for number in together])


def _drop_tokens(matrix: Any, keep: float, random: np.random.Generator) -> Any:
    if keep < 1:
        matrix.data = matrix.data * (random.random(len(matrix.data)) < keep)
    return matrix


def mean_table(tables: Sequence[Floats]) -> Floats:
    """Return the mean of several runs, which scores better than each of them."""
    return np.asarray(np.mean(tables, axis=0), np.float32)
