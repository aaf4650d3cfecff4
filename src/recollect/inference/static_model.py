"""The bundled embedding model: a table of word vectors, no download, no key, no graph to run."""

import math
from collections import Counter
from collections.abc import Sequence
from importlib.resources import as_file, files

import anyio
import anyio.to_thread

from recollect.domain.errors import Unavailable

MODEL = "static-v1"
DIMENSIONS = 256
_MAX_TOKENS = 512
# A text of this length takes about a millisecond; more is done off the event loop.
_INLINE_CHARACTERS = 8_000
# Below this the tokenizer's own threads cost more than they save.
_FEW_TEXTS = 8


class StaticEmbedder:
    """Embeds by looking words up. Loads its table at first use, in a worker thread."""

    model = MODEL
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._table: _Table | None = None
        self._loading = anyio.Lock()

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        if self._table is None:
            async with self._loading:
                if self._table is None:
                    self._table = await anyio.to_thread.run_sync(_Table)
        if sum(map(len, texts)) <= _INLINE_CHARACTERS:
            return self._table.encode(texts)
        return await anyio.to_thread.run_sync(self._table.encode, texts)

    async def close(self) -> None:
        """Nothing to let go of."""


class _Table:
    """The loaded model: one int8 row and one scale a token, memory-mapped so that only used rows take space."""

    def __init__(self) -> None:
        import numpy as np
        from tokenizers import Tokenizer

        with as_file(files("recollect.inference") / "static_v1") as folder:
            try:
                self._rows = np.asarray(
                    np.load(folder / "rows.npy", mmap_mode="r")
                )  # taking rows of a memmap costs more
                self._scales = np.load(folder / "scales.npy").astype(np.float32)
                self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            except (OSError, ValueError) as error:
                raise Unavailable(
                    f"the bundled embedding model cannot be read: {error}", hint="reinstall recollect"
                ) from error
        if self._rows.shape != (len(self._scales), DIMENSIONS) or self._tokenizer.get_vocab_size() != len(self._scales):
            raise Unavailable("the bundled embedding model does not fit together", hint="reinstall recollect")
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        if len(texts) <= _FEW_TEXTS:
            encodings = [self._tokenizer.encode(text, add_special_tokens=False) for text in texts]
        else:
            encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [self._pool(encoding.ids) for encoding in encodings]

    def _pool(self, ids: list[int]) -> bytes:
        """Square-root pooling: a token that occurs n times counts sqrt(n); the sum has length 1."""
        import numpy as np

        if not ids:
            return b""
        counted = Counter(ids[:_MAX_TOKENS])
        tokens = list(counted)
        weights = np.sqrt(np.array(list(counted.values()), dtype=np.float32)) * self._scales[tokens]
        total = weights @ self._rows[tokens].astype(np.float32)
        length = math.sqrt(total @ total)
        return (total / length).astype("<f2").tobytes() if length else b""
