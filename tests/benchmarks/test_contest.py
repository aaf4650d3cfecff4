"""Contestants run in processes of their own, within what they are given, and are compared with the truth."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.contest import OURS, Contender, OverBudget
from benchmarks.corpus import RARE_CATEGORY, Asked
from benchmarks.corpus_files import CorpusFiles

SIZE = 8


def memory(row: int) -> dict[str, Any]:
    category = RARE_CATEGORY if row % 2 else "fact"
    return {"content": f"the lighthouse number{row} shines", "category": category, "metadata": {"row": row}}


@pytest.fixture
def corpus(tmp_path: Path) -> CorpusFiles:
    """Rows whose vectors turn away from the first, step by step; the last two are unrelated to it."""
    files = CorpusFiles(tmp_path / "corpus")
    angles = np.array([0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 1.6])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    files.keep(0, [memory(row) for row in range(SIZE)], vectors.astype(np.float16))
    files.keep_questions("asked", [Asked("where is number5?", 5)], np.array([[1, 0]], np.float32))
    return files


def test_recall_is_the_share_of_the_nearest_rows_that_were_found(corpus: CorpusFiles) -> None:
    exact = corpus.exact(corpus.questions("asked"), SIZE, rare=False, depth=4)
    assert exact.recall([[0, 1, 2, 3]]) == 1
    assert exact.recall([[3, 3, 4, 5]]) == 0.25
    assert exact.recall([[]]) == 0


def test_recall_under_a_filter_asks_only_for_what_passes_and_not_for_the_unrelated(corpus: CorpusFiles) -> None:
    exact = corpus.exact(corpus.questions("asked"), SIZE, rare=True, depth=4)
    assert exact.recall([[1, 3, 5]]) == 1
    assert exact.recall([[1, 3]]) == pytest.approx(2 / 3)


def test_our_store_answers_from_a_process_of_its_own(corpus: CorpusFiles, tmp_path: Path) -> None:
    contender = Contender(OURS, Path(sys.executable), tmp_path / "store", corpus.folder)
    try:
        assert len(contender.ask("add", 60, first=0, last=SIZE)["cpu"]) == 1
        order = {"questions": "asked", "first": 0, "last": 1}
        (found,) = contender.ask("search", 60, way="search", **order)["found"]
        assert found[0] == 5
        assert {row % 2 for row in found} == {0, 1}
        (rare,) = contender.ask("search", 60, way="search", rare=True, **order)["found"]
        assert rare[0] == 5
        assert {row % 2 for row in rare} == {1}
        assert 5 in contender.ask("search", 60, way="nearest", **order)["found"][0]
        assert contender.ask("search", 60, way="text", **order)["found"] == [None]
        assert contender.ask("self_portrait", 60)["resident"] > 10
    finally:
        contender.close()


def test_who_spends_more_than_was_given_is_ended(corpus: CorpusFiles, tmp_path: Path) -> None:
    contender = Contender(OURS, Path(sys.executable), tmp_path / "store", corpus.folder)
    with pytest.raises(OverBudget):
        contender.ask("finish", -1)
    with pytest.raises(BrokenPipeError):
        contender.ask("finish", 60)
    contender.close()
