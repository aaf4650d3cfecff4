"""Contrastive training of the table: a text's own partner must be nearer than all others of its batch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from models.bags import Floats, sparse

Integers = npt.NDArray[np.int64]

_BATCH = 1_024
# So many neighbours of one package stand together in a batch: they are each other's hard negatives.
_NEIGHBOURS = 64
_TEMPERATURE = 0.05
_WARM_UP_STEPS = 30
_MOMENTUM, _SPREAD = 0.9, 0.98
# About the gradient of a word that is in one text of a batch. Without it such words, and that is most of what people
# talk about, would be moved as far by chance as frequent ones are by what they mean.
_SMALLEST_SPREAD = 5e-5


@dataclass(frozen=True, slots=True)
class Kind:
    """How often one kind of pair is drawn, and which share of the tokens of each side survives dropout."""

    weight: float
    question_kept: float = 0.9
    answer_kept: float = 0.7


KINDS: Mapping[str, Kind] = {
    "code": Kind(5),
    "documentation": Kind(2),
    "halves": Kind(1),
    "headings": Kind(0.5),
    "lemmas": Kind(0.5, 1, 0.9),
    "glosses": Kind(0.4),
    "books": Kind(0.4),
    "talk": Kind(0.1, 0.95, 0.95),
    "sentences": Kind(1, 0.4, 0.8),
    "speakers": Kind(1, 0.95, 0.85),
}


@dataclass(frozen=True, slots=True)
class Run:
    rate: float
    steps: int
    seed: int


# The table is the mean of these. A higher rate or more steps gain on code and lose on conversations: the words of both
# leave the places that the teacher gave them.
RUNS = tuple(Run(0.01, 1_400, seed) for seed in range(4))


@dataclass(frozen=True, slots=True)
class Paired:
    """Pairs of one kind as bags of tokens, with the number of each pair's group."""

    questions: Any
    answers: Any
    groups: Integers


def train(start: Floats, pairs: Mapping[str, Paired], run: Run, kinds: Mapping[str, Kind] = KINDS) -> Floats:
    """The table after one run: at each step a batch of one kind, at a rate that falls to nearly nothing."""
    random = np.random.default_rng(run.seed)
    drawn = {name: _batches(paired.groups, random) for name, paired in pairs.items()}
    names = list(pairs)
    weights = np.array([kinds[name].weight for name in names])
    table, optimiser = start.copy(), LazyAdam(start.shape)
    for step in range(1, run.steps + 1):
        name = names[random.choice(len(names), p=weights / weights.sum())]
        numbers = next(drawn[name])
        questions = _dropped(pairs[name].questions[numbers], kinds[name].question_kept, random)
        answers = _dropped(pairs[name].answers[numbers], kinds[name].answer_kept, random)
        tokens, gradient = gradients(table, questions, answers)
        rate = run.rate * min(1, step / _WARM_UP_STEPS) * max(0.02, 1 - (step - 1) / run.steps)
        table[tokens] -= optimiser.change(tokens, gradient, rate)
    return table


def gradients(table: Floats, questions: Any, answers: Any) -> tuple[Integers, Floats]:
    """The tokens that a batch touches and the gradient of the symmetric InfoNCE loss at their rows."""
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
    # Only the part across the vector counts: its length is scaled away.
    across = (wanted - unit * (unit * wanted).sum(axis=1, keepdims=True)) / lengths
    return tokens, both.T.tocsr() @ across


class LazyAdam:
    """Adam that keeps and moves only the rows that a batch touches."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._mean = np.zeros(shape, np.float32)
        self._square = np.zeros(shape, np.float32)
        self._step = 0

    def change(self, tokens: Integers, gradient: Floats, rate: float) -> Floats:
        self._step += 1
        mean = self._mean[tokens] * _MOMENTUM + gradient * (1 - _MOMENTUM)
        square = self._square[tokens] * _SPREAD + gradient * gradient * (1 - _SPREAD)
        self._mean[tokens], self._square[tokens] = mean, square
        root: Floats = np.sqrt(square / (1 - _SPREAD**self._step))
        return (rate / (1 - _MOMENTUM**self._step) * mean / (root + _SMALLEST_SPREAD)).astype(np.float32, copy=False)


def _batches(groups: Integers, random: np.random.Generator) -> Iterator[Integers]:
    """Batches of neighbours: the pairs of a group are cut into runs, and runs are drawn in random order."""
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


def _dropped(matrix: Any, kept: float, random: np.random.Generator) -> Any:
    if kept < 1:
        matrix.data = matrix.data * (random.random(len(matrix.data)) < kept)
    return matrix


def mean_table(tables: Sequence[Floats]) -> Floats:
    """The mean of several runs, which is better than each of them."""
    return np.asarray(np.mean(tables, axis=0), np.float32)
