import numpy as np

from models.bags import bags, vectors
from models.vocabulary import tokenizer_of


def test_a_token_that_occurs_n_times_weighs_the_root_of_n():
    tokenizer = tokenizer_of(["[PAD]", "[UNK]", "cat", "car"])

    assert bags(tokenizer, ["cat cat car cat cat", ""]).toarray().tolist() == [[0, 0, 2, 1], [0, 0, 0, 0]]
    assert bags(tokenizer, ["cat cat car"], most_tokens=1).toarray().tolist() == [[0, 0, 1, 0]]


def test_a_vector_has_length_one_and_an_empty_text_has_none():
    tokenizer = tokenizer_of(["[PAD]", "[UNK]", "cat", "car"])
    table = np.array([[9, 9], [9, 9], [3, 0], [0, 4]], np.float32)

    assert np.allclose(vectors(bags(tokenizer, ["cat car", ""]), table), [[0.6, 0.8], [0, 0]])
