"""Stores run in child processes within a CPU budget, and their results are compared with exact search."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.corpus import RARE_CATEGORY, CorpusQuestion
from benchmarks.corpus_files import CorpusFiles
from benchmarks.store_process import OURS, OverBudget, StoreProcess

SIZE = 8


def memory(row: int) -> dict[str, Any]:
    category = RARE_CATEGORY if row % 2 else "fact"
    return {"content": f"the lighthouse number{row} shines", "category": category, "metadata": {"row": row}}


@pytest.fixture
def corpus(tmp_path: Path) -> CorpusFiles:
    """Rows with increasing angles to the first; the last two are unrelated to it."""
    files = CorpusFiles(tmp_path / "corpus")
    angles = np.array([0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 1.6])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    files.save(0, [memory(row) for row in range(SIZE)], vectors.astype(np.float16))
    files.save_questions("asked", [CorpusQuestion("where is number5?", 5)], np.array([[1, 0]], np.float32))
    return files


def test_recall_is_the_share_of_the_nearest_rows_found(corpus: CorpusFiles) -> None:
    exact = corpus.exact(corpus.questions("asked"), SIZE, rare=False, depth=4)
    assert exact.recall([[0, 1, 2, 3]]) == 1
    assert exact.recall([[3, 3, 4, 5]]) == 0.25
    assert exact.recall([[]]) == 0


def test_recall_under_a_filter_expects_only_related_rows_that_pass(corpus: CorpusFiles) -> None:
    exact = corpus.exact(corpus.questions("asked"), SIZE, rare=True, depth=4)
    assert exact.recall([[1, 3, 5]]) == 1
    assert exact.recall([[1, 3]]) == pytest.approx(2 / 3)


def test_our_store_answers_from_a_child_process(corpus: CorpusFiles, tmp_path: Path) -> None:
    process = StoreProcess(OURS, Path(sys.executable), tmp_path / "store", corpus.folder)
    try:
        assert len(process.ask("add", 60, first=0, last=SIZE)["cpu"]) == 1
        request = {"questions": "asked", "first": 0, "last": 1}
        (rows,) = process.ask("search", 60, mode="search", **request)["found"]
        assert rows[0] == 5
        assert {row % 2 for row in rows} == {0, 1}
        (rare,) = process.ask("search", 60, mode="search", rare=True, **request)["found"]
        assert rare[0] == 5
        assert {row % 2 for row in rare} == {1}
        assert 5 in process.ask("search", 60, mode="nearest", **request)["found"][0]
        assert process.ask("search", 60, mode="text", **request)["found"] == [None]
        assert process.ask("usage", 60)["resident"] > 10
    finally:
        process.close()


def test_a_store_that_exceeds_its_budget_is_killed(corpus: CorpusFiles, tmp_path: Path) -> None:
    process = StoreProcess(OURS, Path(sys.executable), tmp_path / "store", corpus.folder)
    with pytest.raises(OverBudget):
        process.ask("finish", -1)
    with pytest.raises(BrokenPipeError):
        process.ask("finish", 60)
    process.close()
