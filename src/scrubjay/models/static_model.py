"""The bundled embedding model: a table of word vectors, no download, no key, no graph to run."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.resources import as_file, files
from itertools import chain
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from scrubjay.core.errors import Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

MODEL = "static-v1"
DIMENSIONS = 256
_MAX_TOKENS = 512
# A text of this length takes about a millisecond; more is done off the event loop.
_INLINE_CHARACTERS = 8_000
# Up to so many texts, one by one is faster.
_FEW_TEXTS = 4
_FOLDER = files("scrubjay.models") / "static_v1"
# So many texts are pooled at once: their rows stay in the processor's cache.
_BATCH = 64
_MOST_KNOWN = 100_000
_LONGEST_PIECE = 100
_UNKNOWN = "[UNK]"
# Before a part of a word that is not its beginning.
_INSIDE = "##"
# Text in which each piece stands for itself, and the pieces: the parts of camelCase words, and single signs.
_PLAIN = re.compile(r"[\t\n\r\x20-\x7e]*")
_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]*[a-z0-9]+|[A-Z]+|[^A-Za-z0-9\s]")
_SPACES = re.compile(r"[ \t\r\n]+")


class StaticEmbedder:
    """Embeds by looking words up. Loads its table at first use, in a worker thread."""

    model = MODEL
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._table: Table | None = None
        self._loading = anyio.Lock()

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        if self._table is None:
            async with self._loading:
                if self._table is None:
                    self._table = await anyio.to_thread.run_sync(Table)
        if sum(map(len, texts)) <= _INLINE_CHARACTERS:
            return self._table.encode(texts)
        return await anyio.to_thread.run_sync(self._table.encode, texts)

    async def close(self) -> None:
        """Nothing to let go of."""


class _Known(dict[str, list[int]]):
    """The tokens of parts of texts, found when each is first seen."""

    def __init__(self, find: Callable[[str], list[int]]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, part: str) -> list[int]:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        found = self[part] = self._find(part)
        return found


class Table:
    """The loaded model: one int8 row and one scale a token, memory-mapped so that only used rows take space."""

    def __init__(self) -> None:
        import numpy as np

        with as_file(_FOLDER) as folder:
            try:
                self.rows = np.asarray(
                    np.load(folder / "rows.npy", mmap_mode="r")
                )  # taking rows of a memmap costs more
                self.scales = np.load(folder / "scales.npy").astype(np.float32)
                self.vocabulary_text = (folder / "vocabulary.txt").read_bytes()
                """The words, each with a line end behind it."""
                words = self.vocabulary_text.decode("utf-8").split("\n")[:-1]
            except (OSError, ValueError) as error:
                raise Unavailable(
                    f"the bundled embedding model cannot be read: {error}", hint="reinstall scrubjay"
                ) from error
        if self.rows.shape != (len(words), DIMENSIONS) or len(self.scales) != len(words):
            raise Unavailable("the bundled embedding model does not fit together", hint="reinstall scrubjay")
        self._vocabulary = {word: number for number, word in enumerate(words)}
        self.unknown = self._vocabulary[_UNKNOWN]
        self._ids_of_pieces = _Known(self._ids_of_piece)
        self._ids_of_parts = _Known(self._ids_of_part)

    @cached_property
    def tokenizer(self) -> "Tokenizer":
        """For text that is not plain; it takes a while to load."""
        from tokenizers import Tokenizer

        with as_file(_FOLDER) as folder:
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        return tokenizer

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of these texts: each the same, whatever others it comes with."""
        ids = [self.ids(text)[:_MAX_TOKENS] for text in texts]
        if len(ids) <= _FEW_TEXTS:
            return [self._pooled_alone(own) for own in ids]
        batches = [ids[first : first + _BATCH] for first in range(0, len(ids), _BATCH)]
        return [vector for batch in batches for vector in self._pooled(batch)]

    def ids(self, text: str) -> list[int]:
        """What the model's tokenizer makes of a text.

        It cuts text into pieces, none of which reaches over a space, and then looks at each by itself: so what became
        of a word with the signs around it can be used again.
        """
        if "[" in text:  # in brackets there may be words for its own use
            return self.tokenizer.encode(text, add_special_tokens=False).ids
        is_plain = text.isascii() and (text.isprintable() or _PLAIN.fullmatch(text))
        parts = text.split() if is_plain else _SPACES.split(text)
        return list(chain.from_iterable(map(self._ids_of_parts.__getitem__, parts)))

    def ids_of_word(self, word: str) -> list[int]:
        """The same for plain text without a space."""
        return [found for piece in _PIECE.findall(word) for found in self._ids_of_pieces[piece.lower()]]

    def pooled(
        self, texts: int, owners: "NDArray[np.int64]", ids: "NDArray[np.int64]", counts: "NDArray[np.int64]"
    ) -> "NDArray[np.float16]":
        """The vectors of so many texts, given whose each token is and how often; zeros for one that has none.

        Faster than `encode`, but the last bit of a vector may depend on the others.
        """
        import numpy as np

        used, places = np.unique(ids, return_inverse=True)
        weights = np.zeros((texts, len(used)), dtype=np.float32)
        weights[owners, places] = np.sqrt(counts, dtype=np.float32) * self.scales[ids]
        totals = weights @ self.rows[used].astype(np.float32)
        lengths = np.sqrt(np.vecdot(totals, totals))
        return (totals / np.where(lengths > 0, lengths, np.float32(1))[:, np.newaxis]).astype("<f2")

    def _ids_of_part(self, part: str) -> list[int]:
        if not _PLAIN.fullmatch(part):
            return self.tokenizer.encode(part, add_special_tokens=False).ids
        return self.ids_of_word(part)

    def _ids_of_piece(self, piece: str) -> list[int]:
        """The longest parts of a piece that the vocabulary has; a piece that cannot be made of parts is unknown."""
        unknown = [self.unknown]
        if len(piece) > _LONGEST_PIECE:
            return unknown
        ids: list[int] = []
        start = 0
        while start < len(piece):
            prefix = _INSIDE if start else ""
            for end in range(len(piece), start, -1):
                found = self._vocabulary.get(prefix + piece[start:end])
                if found is not None:
                    break
            else:
                return unknown
            ids.append(found)
            start = end
        return ids

    def _pooled_alone(self, ids: Sequence[int]) -> bytes:
        """The same as `_pooled` for one text, in the same order of sums, with less ado."""
        import numpy as np

        if not ids:
            return b""
        counted = Counter(ids)
        tokens = sorted(counted)
        weights = np.sqrt(np.array([counted[token] for token in tokens], dtype=np.float32)) * self.scales[tokens]
        total = np.add.reduce(self.rows[tokens] * weights[:, np.newaxis], axis=0)
        length = np.sqrt(np.vecdot(total, total))
        return (total / length).astype("<f2").tobytes() if length else b""

    def _pooled(self, texts: Sequence[Sequence[int]]) -> list[bytes]:
        """Square-root pooling: a token that occurs n times counts sqrt(n); the sum has length 1."""
        import numpy as np

        owners = np.repeat(np.arange(len(texts)), [len(ids) for ids in texts])
        if not len(owners):
            return [b""] * len(texts)
        tokens = np.fromiter(chain.from_iterable(texts), np.int64, len(owners))
        places = np.sort(owners * len(self.scales) + tokens)
        firsts = np.flatnonzero(np.diff(places, prepend=-1))
        counts = np.diff(firsts, append=len(places)).astype(np.float32)
        owners, tokens = np.divmod(places[firsts], len(self.scales))
        weights = np.sqrt(counts) * self.scales[tokens]
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        # To multiply bytes by these at once would take twice as long, and `reduceat` several times.
        weighted = self.rows.take(tokens, axis=0).astype(np.float32)
        weighted *= weights[:, np.newaxis]
        ends = [*starts[1:].tolist(), len(weighted)]
        totals = np.empty((len(starts), DIMENSIONS), dtype=np.float32)
        for start, end, total in zip(starts.tolist(), ends, totals, strict=True):
            np.add.reduce(weighted[start:end], axis=0, out=total)
        lengths = np.sqrt(np.vecdot(totals, totals))
        halves = (totals / np.where(lengths > 0, lengths, np.float32(1))[:, np.newaxis]).astype("<f2")
        vectors = [b""] * len(texts)
        for owner, half, length in zip(owners[starts].tolist(), halves, lengths.tolist(), strict=True):
            if length:
                vectors[owner] = half.tobytes()
        return vectors
