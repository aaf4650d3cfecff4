"""Related words are computed from the embeddings of words."""

import numpy as np
import pytest

from models.related_words import BUNDLED_MODEL, MAX_RELATED, OUTPUT_FOLDER, WordVectors, format_lines
from models.table import load
from scrubjay.code_index.search.related_words import FILE, related_words


def test_two_stems_have_the_similarity_of_their_most_similar_forms() -> None:
    vocabulary = ["gunzip", "zip", "zips", "roof", "##zip", "the", "up"]
    rows = np.array([[1, 0, 0], [0, 1, 0], [4, 3, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0]], dtype=np.float32)
    assert format_lines(WordVectors(vocabulary, rows)) == ["gunzip zip 80", "zip gunzip 80"]


def test_only_the_most_similar_words_are_returned_best_first() -> None:
    vocabulary = ["alpha", *(f"bet{letter}" for letter in "cfghijklmnop")]
    angles = np.linspace(0, 0.5, len(vocabulary), dtype=np.float32)
    near = dict(WordVectors(vocabulary, np.stack([np.cos(angles), np.sin(angles)], axis=1)).related())["alpha"]
    assert [word for word, _ in near] == vocabulary[1 : 1 + MAX_RELATED]


def test_the_bundled_related_words_match_the_bundled_model() -> None:
    # Only words with the same first letter: all words would take half a minute.
    vocabulary = (BUNDLED_MODEL / "vocabulary.txt").read_text("utf-8").split("\n")[:-1]
    chosen = [index for index, word in enumerate(vocabulary) if word.startswith("s")]
    table = load(BUNDLED_MODEL)[chosen]
    computed = {
        word: dict(near) for word, near in WordVectors([vocabulary[index] for index in chosen], table).related()
    }
    stems = {word.partition(" ")[0] for word in (OUTPUT_FOLDER / FILE).read_text("utf-8").splitlines()}
    compared = [word for word in stems if word.startswith("s") and len(related_words(word)) < MAX_RELATED]
    assert len(compared) > 500
    for word in compared:
        bundled = {other: similarity for other, similarity in related_words(word) if other.startswith("s")}
        assert bundled == pytest.approx(computed.get(word, {}), abs=0.0051)
