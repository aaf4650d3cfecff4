"""A sentence-transformers ONNX folder yields the vectors of its model; an invalid folder is refused with a hint."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scrubjay.core.errors import Misconfigured, Unavailable
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.embedding import Embedder
from scrubjay.models.embedding_cache import VectorCache
from scrubjay.models.onnx_folder import read_folder
from scrubjay.models.providers import embedder_for, known_dimensions, name_of
from tests.models.onnx_models import HIDDEN, make_folder, reference

TEXTS = ("the cat sleeps on the mat", "dog barks", "cat", "an unknown dog")


@pytest.fixture(autouse=True)
def fresh_folders() -> None:
    read_folder.cache_clear()


def embedder(folder: Path) -> Embedder:
    return embedder_for(EmbeddingChoice(provider="onnx", model=str(folder)), environment={}, cache=VectorCache(0))


async def vectors_of(folder: Path, *texts: str) -> Any:
    return np.stack([np.frombuffer(vector, "<f2").astype(np.float32) for vector in await embedder(folder).embed(texts)])


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("nested", [False, True])
async def test_vectors_match_the_reference_implementation(tmp_path: Path, pooling: str, nested: bool) -> None:
    """Includes a text that is longer than the model's limit and is truncated."""
    folder = make_folder(tmp_path / "m", pooling=pooling, nested=nested)
    expected = np.stack([reference(text, pooling=pooling) for text in TEXTS])
    np.testing.assert_allclose(await vectors_of(folder, *TEXTS), expected, atol=1e-3)


async def test_mean_pooling_is_the_default_without_modules_and_token_types(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "m", pooling=None, kinds=False)
    expected = np.stack([reference(text, kinds=False) for text in TEXTS])
    np.testing.assert_allclose(await vectors_of(folder, *TEXTS), expected, atol=1e-3)


async def test_the_pooled_output_of_a_graph_is_used_unchanged(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "m", pooled=True)
    np.testing.assert_allclose(await vectors_of(folder, "dog barks"), [reference("dog barks")], atol=1e-3)


async def test_the_pooling_of_newer_exports_is_read(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "m")
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"pooling_mode": "cls", "embedding_dimension": HIDDEN})
    )
    np.testing.assert_allclose(await vectors_of(folder, "cat"), [reference("cat", pooling="cls")], atol=1e-3)


async def test_a_text_without_words_has_no_vector(tmp_path: Path) -> None:
    onnx = embedder(make_folder(tmp_path / "m"))
    assert await onnx.embed(["", " \n", "cat"]) == [b"", b"", *await onnx.embed(["cat"])]
    assert await onnx.embed([]) == []


def test_vectors_are_stored_under_the_folder_name_and_a_fingerprint_of_its_files(tmp_path: Path) -> None:
    first, second = make_folder(tmp_path / "a" / "mini"), make_folder(tmp_path / "b" / "mini", pooling="cls")
    copied = shutil.copytree(first, tmp_path / "c" / "mini")
    names = [name_of(EmbeddingChoice(provider="onnx", model=str(folder))) for folder in (first, second, copied)]
    assert all(name.startswith("onnx/mini-") for name in names)
    assert names[0] == names[2] != names[1]
    assert (embedder(first).model, embedder(first).dimensions) == (names[0], HIDDEN)
    assert known_dimensions(EmbeddingChoice(provider="onnx", model=str(first))) == HIDDEN


def _without(*names: str) -> Callable[[Path], object]:
    return lambda folder: [(folder / name).unlink() for name in names]


def _with(name: str, content: object) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_without("model.onnx"), "m has no model.onnx or onnx/model.onnx"),
        (_without("tokenizer.json"), "m has no tokenizer.json"),
        (_without("config.json"), "m has no config.json"),
        (_without("1_Pooling/config.json"), "1_Pooling has no config.json"),
        (_with("config.json", "{"), "config.json of m is not JSON"),
        (_with("config.json", []), "config.json of m is not a JSON object"),
        (_with("modules.json", {}), "modules.json of m is not a list of modules"),
        (_with("modules.json", [{"type": "sentence_transformers.models.Dense"}]), "m has a module 'Dense'"),
        (_with("1_Pooling/config.json", {"pooling_mode_max_tokens": True}), "m pools by max_tokens"),
        (_with("1_Pooling/config.json", {}), "m pools by nothing"),
    ],
)
def test_an_unusable_folder_is_refused_with_a_hint(
    tmp_path: Path, spoil: Callable[[Path], object], message: str
) -> None:
    folder = make_folder(tmp_path / "m")
    spoil(folder)
    with pytest.raises(Misconfigured) as caught:
        embedder(folder)
    assert caught.value.message.startswith(message)
    assert caught.value.hint
    choice = EmbeddingChoice(provider="onnx", model=str(folder))
    assert (name_of(choice), known_dimensions(choice)) == ("onnx/m", None)


def test_configured_dimensions_that_differ_from_the_model_are_refused(tmp_path: Path) -> None:
    choice = EmbeddingChoice(provider="onnx", model=str(make_folder(tmp_path / "m")), dimensions=HIDDEN + 1)
    with pytest.raises(Misconfigured, match=f"always has {HIDDEN} dimensions"):
        embedder_for(choice, environment={}, cache=VectorCache(0))


async def failure_of(folder: Path) -> Unavailable:
    with pytest.raises(Unavailable) as caught:
        await embedder(folder).embed(["cat"])
    return caught.value


async def test_the_error_about_a_missing_runtime_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    failure = await failure_of(make_folder(tmp_path / "m"))
    assert failure.message == "ONNX models need onnxruntime, which is not installed"
    assert (failure.hint, failure.details) == (
        "install it with: pip install 'scrubjay[onnx]'",
        {"reason": "not_installed"},
    )


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
async def test_a_damaged_file_makes_the_model_unavailable(tmp_path: Path, name: str) -> None:
    folder = make_folder(tmp_path / "m")
    (folder / name).write_bytes((folder / name).read_bytes()[:40])
    failure = await failure_of(folder)
    assert "cannot be loaded" in failure.message
    assert failure.details == {"reason": "damaged"}


async def test_vectors_of_another_length_than_configured_are_refused(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "m", pooling=None)
    (folder / "config.json").write_text(json.dumps({"hidden_size": 5}))
    failure = await failure_of(folder)
    assert failure.details == {"reason": "wrong_dimensions", "found": HIDDEN}


def test_importing_the_module_loads_no_heavy_dependency() -> None:
    script = """
import sys
import scrubjay.models.onnx_model
assert not {"numpy", "tokenizers", "onnx", "onnxruntime"} & set(sys.modules), "heavy imports"
"""
    subprocess.run([sys.executable, "-c", script], check=True)
