"""Texts become weighted bags of tokens, and bags become vectors."""

import numpy as np

from models.bags import bags, vectors
from models.vocabulary import build_tokenizer


def test_a_token_that_occurs_n_times_weighs_the_square_root_of_n():
    tokenizer = build_tokenizer(["[PAD]", "[UNK]", "cat", "car"])

    assert bags(tokenizer, ["cat cat car cat cat", ""]).toarray().tolist() == [[0, 0, 2, 1], [0, 0, 0, 0]]
    assert bags(tokenizer, ["cat cat car"], max_tokens=1).toarray().tolist() == [[0, 0, 1, 0]]


def test_a_vector_has_length_one_and_that_of_an_empty_text_is_zero():
    tokenizer = build_tokenizer(["[PAD]", "[UNK]", "cat", "car"])
    table = np.array([[9, 9], [9, 9], [3, 0], [0, 4]], np.float32)

    assert np.allclose(vectors(bags(tokenizer, ["cat car", ""]), table), [[0.6, 0.8], [0, 0]])
