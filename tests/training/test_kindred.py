import numpy as np
import pytest

from models.kindred import BUNDLED, KEPT, MOST_KINDRED, Words, lines
from models.table import load
from scrubjay.code_index.search.related_words import FILE, kindred


def test_stems_are_as_near_as_the_nearest_two_of_their_forms() -> None:
    vocabulary = ["gunzip", "zip", "zips", "roof", "##zip", "the", "up"]
    rows = np.array([[1, 0, 0], [0, 1, 0], [4, 3, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0]], dtype=np.float32)
    assert lines(Words(vocabulary, rows)) == ["gunzip zip 80", "zip gunzip 80"]


def test_only_the_nearest_are_kept_nearest_first() -> None:
    vocabulary = ["alpha", *(f"bet{letter}" for letter in "cfghijklmnop")]
    turns = np.linspace(0, 0.5, len(vocabulary), dtype=np.float32)
    near = dict(Words(vocabulary, np.stack([np.cos(turns), np.sin(turns)], axis=1)).near())["alpha"]
    assert [word for word, _ in near] == vocabulary[1 : 1 + MOST_KINDRED]


def test_the_words_in_the_package_are_those_of_its_table() -> None:
    # Those with one first letter, among each other: all of them take half a minute.
    vocabulary = (BUNDLED / "vocabulary.txt").read_text("utf-8").split("\n")[:-1]
    chosen = [place for place, word in enumerate(vocabulary) if word.startswith("s")]
    table = load(BUNDLED)[chosen]
    made = {word: dict(near) for word, near in Words([vocabulary[place] for place in chosen], table).near()}
    stems = {word.partition(" ")[0] for word in (KEPT / FILE).read_text("utf-8").splitlines()}
    compared = [word for word in stems if word.startswith("s") and len(kindred(word)) < MOST_KINDRED]
    assert len(compared) > 500
    for word in compared:
        kept = {other: likeness for other, likeness in kindred(word) if other.startswith("s")}
        assert kept == pytest.approx(made.get(word, {}), abs=0.0051)
