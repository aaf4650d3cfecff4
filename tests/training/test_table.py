"""The table of embeddings: its start values, its token frequencies and its file."""

from pathlib import Path

import numpy as np

from models.bags import sparse
from models.table import DIMENSIONS, load, save, start_table, token_frequencies


def test_a_saved_table_differs_by_at_most_half_a_quantization_step(tmp_path: Path):
    table = np.random.default_rng(0).normal(size=(50, DIMENSIONS)).astype(np.float32)
    table[3] = 0

    save(table, tmp_path)

    step = np.abs(table).max(axis=1, keepdims=True) / 127
    assert np.all(np.abs(load(tmp_path) - table) <= 0.52 * step + 1e-7)


def test_code_and_prose_are_weighted_equally_in_frequencies():
    code = sparse.csr_matrix(np.array([[2, 0, 0], [2, 0, 0]], np.float32))
    prose = sparse.csr_matrix(np.array([[0, 1, 1]], np.float32))

    assert np.allclose(
        token_frequencies(code, [prose]), [(9 / 11 + 1 / 5) / 2, (1 / 11 + 2 / 5) / 2, (1 / 11 + 2 / 5) / 2]
    )


def test_the_start_table_preserves_neighbours_and_weighs_frequent_words_down():
    random = np.random.default_rng(0)
    words = random.normal(size=(400, 384)).astype(np.float32)
    # The differences between these words lie in the first dimensions; the rest is noise.
    words[:, 100:] *= 0.01
    words[1] = words[0]
    words[1, 100:] = -words[0, 100:]
    rare = np.full(400, 1e-5, np.float32)
    rare[0] = 0.05

    table = start_table(words, rare)
    lengths = np.linalg.norm(table, axis=1)

    assert table.shape == (400, DIMENSIONS)
    assert lengths[0] < 0.02 * lengths[1]
    assert float(table[0] @ table[1] / lengths[0] / lengths[1]) > 0.99
