"""The bundled model embeds without a download."""

import hashlib
import json
import re
import subprocess
import sys
from importlib.resources import files

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.models.static_model import DIMENSIONS, EmbeddingTable, StaticEmbedder


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


async def similarity(embedder: StaticEmbedder, one: str, other: str) -> float:
    first, second = (np.frombuffer(vector, "<f2").astype("f4") for vector in await embedder.embed([one, other]))
    return float(first @ second)


async def test_a_paraphrase_is_more_similar_than_an_unrelated_text(embedder: StaticEmbedder) -> None:
    question = "which database do we use"
    near = await similarity(embedder, question, "We chose PostgreSQL to store our data")
    far = await similarity(embedder, question, "The cat slept on the warm windowsill")
    assert near > far + 0.2


async def test_every_vector_has_length_one(embedder: StaticEmbedder) -> None:
    for vector in await embedder.embed(["one", "two words", "def parse(json): return json", "x" * 20_000]):
        numbers = np.frombuffer(vector, "<f2").astype("f4")
        assert numbers.shape == (DIMENSIONS,)
        assert np.linalg.norm(numbers) == pytest.approx(1, abs=2e-3)


async def test_a_text_without_words_has_no_vector(embedder: StaticEmbedder) -> None:
    assert await embedder.embed(["", "   \n"]) == [b"", b""]


async def test_a_batch_gives_the_same_vectors_as_single_texts(embedder: StaticEmbedder) -> None:
    texts = [f"the {number}th thing about caching and parseJSON" for number in range(20)] + ["long " * 3_000]
    together = await embedder.embed(texts)
    assert together == [(await embedder.embed([text]))[0] for text in texts]


async def test_a_word_that_occurs_four_times_weighs_twice(embedder: StaticEmbedder) -> None:
    """Square-root pooling as in the model card, computed here with numpy from the shipped table."""
    from tokenizers import Tokenizer

    folder = files("scrubjay.models") / "static_v1"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    rows, scales = np.load(str(folder / "rows.npy")), np.load(str(folder / "scales.npy")).astype("f4")

    def row(word: str) -> np.ndarray:
        (token,) = tokenizer.encode(word, add_special_tokens=False).ids
        return rows[token].astype("f4") * scales[token]

    expected = 2 * row("cache") + row("server")
    expected /= np.linalg.norm(expected)
    (vector,) = await embedder.embed(["cache cache server cache cache"])
    np.testing.assert_allclose(np.frombuffer(vector, "<f2").astype("f4"), expected, atol=2e-3)


def test_the_shipped_files_match_the_checksums_of_the_notice() -> None:
    folder = files("scrubjay.models") / "static_v1"
    listed = dict(re.findall(r"\| ([0-9a-f]{64}) \| (\S+) \|", (folder / "NOTICE.md").read_text("utf-8")))
    assert {hashlib.sha256((folder / name).read_bytes()).hexdigest(): name for name in listed.values()} == listed


def test_importing_the_package_loads_no_heavy_dependency() -> None:
    script = (
        "import sys, scrubjay.models.static_model\n"
        "assert not {'numpy', 'tokenizers'} & set(sys.modules), 'heavy imports'"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.fixture(scope="module")
def table() -> EmbeddingTable:
    return EmbeddingTable()


@given(text=st.one_of(st.text(st.characters(max_codepoint=127)), st.text("aBC1d_'.-[PAD] \n"), st.text()))
def test_text_split_into_known_pieces_has_the_tokens_of_the_whole(table: EmbeddingTable, text: str) -> None:
    assert table.ids(text) == table.tokenizer.encode(text, add_special_tokens=False).ids
    assert table.ids(text) == table.ids(text)


@pytest.mark.parametrize(
    "text", ["HTTPServerX2Go", "[PAD] and [UNK]", "ABC12dEf", "aBcD", "x" * 150, "a\x0bb", "naïve"]
)
def test_word_pieces_match_the_tokenizer(table: EmbeddingTable, text: str) -> None:
    assert table.ids(text) == table.tokenizer.encode(text, add_special_tokens=False).ids


async def test_a_text_has_the_same_vector_alone_and_in_a_batch(embedder: StaticEmbedder) -> None:
    texts = [f"the {word} went {word} to town {word} times" for word in "abcdefghijklmnopqrstuvwxyz"] + ["", "ünïcode"]
    alone = [vector for text in texts for vector in await embedder.embed([text])]
    assert await embedder.embed(texts) == alone
    assert await embedder.embed(texts * 5) == alone * 5


def test_the_vocabulary_matches_the_tokenizer() -> None:
    folder = files("scrubjay.models") / "static_v1"
    numbered = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    words = (folder / "vocabulary.txt").read_text("utf-8").split("\n")
    assert {word: number for number, word in enumerate(words[:-1])} == numbered
    assert words[-1] == ""


async def test_plain_text_is_embedded_without_loading_the_tokenizer() -> None:
    script = (
        "import anyio, sys\n"
        "from scrubjay.models.static_model import StaticEmbedder\n"
        "assert anyio.run(StaticEmbedder().embed, ['Plain text, parseJSON(42)!'])[0]\n"
        "assert 'tokenizers' not in sys.modules"
    )
    await anyio.run_process([sys.executable, "-c", script])
