"""semble as an engine: its index, its cache on disk, and a model from a local folder, so that nothing is downloaded.

Unless SEMBLE_MODEL_NAME names a folder with semble's own model, it uses the word vectors bundled with Scrubjay.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.code_engine import RESULT_LIMIT, Hit, own_cpu
from benchmarks.report import PROJECT

TABLE = PROJECT / "src" / "scrubjay" / "models" / "static_v1"
# A search returns chunks; more are requested so that they cover ten files.
PARTS = 3 * RESULT_LIMIT


class Semble:
    """Implements `CodeEngine`."""

    def __init__(self, root: Path, home: Path, installed: Path) -> None:
        self._root = str(root)
        self._home = home

    async def open(self) -> None:
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ["SEMBLE_CACHE_LOCATION"] = str(self._home / "cache")
        # The default of its command line.
        os.environ.setdefault("SEMBLE_INDEX_WORKERS", "4")
        self._model = os.environ.get("SEMBLE_MODEL_NAME") or str(self._model_folder())
        self._package: Any = import_module("semble")
        self._cache: Any = import_module("semble.cache")
        self._code: Any = (self._package.ContentType.CODE,)

    async def index(self) -> None:
        self._index: Any = self._package.SembleIndex.from_path(self._root, model_path=self._model)
        self._cache.save_index_to_cache(self._index, self._root)

    async def check_unchanged(self) -> None:
        if not self._is_current():
            raise RuntimeError("nothing changed, but its cached index is not valid")

    async def refresh(self) -> None:
        if not self._is_current():
            await self.index()

    async def search(self, query: str) -> list[Hit]:
        best: dict[str, Hit] = {}
        for found in self._index.search(query, top_k=PARTS):
            part = found.chunk
            best.setdefault(part.file_path, Hit(part.file_path, part.start_line, part.end_line))
        return [*best.values()][:RESULT_LIMIT]

    async def symbol(self, name: str) -> list[Hit]:
        return await self.search(name)

    def cpu(self) -> float:
        return own_cpu()

    async def close(self) -> None:
        pass

    def _is_current(self) -> bool:
        return self._cache.get_validated_cache(self._root, self._model, self._code) is not None

    def _model_folder(self) -> Path:
        """Save the bundled table as a model2vec model and return its folder."""
        folder = self._home / "model"
        vectors = np.load(TABLE / "rows.npy") * np.load(TABLE / "scales.npy").astype(np.float32)[:, None]
        tokenizer = import_module("tokenizers").Tokenizer.from_file(str(TABLE / "tokenizer.json"))
        model = import_module("model2vec").StaticModel(vectors.astype(np.float32), tokenizer, normalize=True)
        model.save_pretrained(str(folder))
        return folder
