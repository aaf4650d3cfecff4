"""The synthetic corpus on disk, with vectors and questions, readable from the environment of every system."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus import CHUNK, RARE_CATEGORY, CorpusQuestion

# Cosines that differ by less are ties: finding either row is correct.
_COSINE_TOLERANCE = 1e-6
# A row less similar than this is no answer, even when nothing is nearer: omitting it is correct.
_MIN_COSINE = 0.15


@dataclass(frozen=True, slots=True)
class Probe:
    """A question with its vector and the row that it was generated from."""

    text: str
    vector: NDArray[np.float32]
    target: int


class CorpusFiles:
    """Files of memories and vectors, one per chunk, and of questions, one per corpus size."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def has(self, chunk: int) -> bool:
        return self._vectors(chunk).exists()

    def save(self, chunk: int, memories: Sequence[dict[str, Any]], vectors: NDArray[np.float16]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(memory) + "\n" for memory in memories)
        self._memories(chunk).write_text(lines, "utf-8")
        # Written last and renamed atomically: a chunk with a vector file is complete.
        unfinished = self.folder / f"unfinished-{os.getpid()}.npy"
        np.save(unfinished, vectors)
        unfinished.replace(self._vectors(chunk))

    def memories(self, first: int, last: int) -> list[dict[str, Any]]:
        """Return the rows `first` to `last` (exclusive), which must be in one chunk."""
        start = first // CHUNK * CHUNK
        with self._memories(first // CHUNK).open(encoding="utf-8") as file:
            lines = [line for row, line in enumerate(file, start) if first <= row < last]
        return [json.loads(line) for line in lines]

    def vectors(self, first: int, last: int) -> NDArray[np.float16]:
        start = first // CHUNK * CHUNK
        return np.load(self._vectors(first // CHUNK), mmap_mode="r")[first - start : last - start]

    def save_questions(self, name: str, asked: Sequence[CorpusQuestion], vectors: NDArray[np.float32]) -> None:
        (self.folder / f"{name}.json").write_text(json.dumps([asdict(one) for one in asked]), "utf-8")
        # Vectors are in a separate file, because parsing them as JSON would count as start-up time of a new process.
        np.save(self.folder / f"{name}.npy", vectors)

    def questions(self, name: str) -> list[Probe]:
        asked = json.loads((self.folder / f"{name}.json").read_text("utf-8"))
        vectors = np.load(self.folder / f"{name}.npy")
        return [Probe(one["text"], vector, one["target"]) for one, vector in zip(asked, vectors, strict=True)]

    def exact(self, probes: Sequence[Probe], rows: int, *, rare: bool, depth: int) -> "ExactResults":
        """Compare every row with every probe, among all rows or only those of the rare category."""
        queries = np.stack([probe.vector for probe in probes])
        best = np.full((len(probes), depth), -1.0, np.float32)
        for first in range(0, rows, CHUNK):
            vectors = _normalize(self.vectors(first, min(rows, first + CHUNK)))
            if rare:
                memories = self.memories(first, min(rows, first + CHUNK))
                vectors = vectors[[memory["category"] == RARE_CATEGORY for memory in memories]]
            cosines = np.concatenate([best, queries @ vectors.T], axis=1)
            best = -np.partition(-cosines, depth - 1, axis=1)[:, :depth]
        return ExactResults(self, queries, np.maximum(best.min(axis=1), _MIN_COSINE), (best >= _MIN_COSINE).sum(axis=1))

    def _memories(self, chunk: int) -> Path:
        return self.folder / f"memories-{chunk:04}.jsonl"

    def _vectors(self, chunk: int) -> Path:
        return self.folder / f"vectors-{chunk:04}.npy"


@dataclass(frozen=True, slots=True)
class ExactResults:
    """Results of an exact search, to compute the recall of approximate ones."""

    files: CorpusFiles
    queries: NDArray[np.float32]
    needed: NDArray[np.float32]
    """Minimum cosine of a correct row, for each probe."""
    best: NDArray[np.int64]
    """Number of correct rows, for each probe; less than the limit when the remaining rows are unrelated."""

    def recall(self, found: Sequence[Sequence[int]]) -> float:
        """Return the share of correct rows found, 0 to 1, over the answered probes."""
        right = 0
        for query, needed, best, rows in zip(self.queries, self.needed, self.best, found, strict=False):
            directions = [_normalize(self.files.vectors(row, row + 1))[0] for row in dict.fromkeys(rows)]
            right += min(best, sum(bool(direction @ query >= needed - _COSINE_TOLERANCE) for direction in directions))
        return float(right / self.best[: len(found)].sum())


def _normalize(vectors: NDArray[np.float16]) -> NDArray[np.float32]:
    values = vectors.astype(np.float32)
    return values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-9)
