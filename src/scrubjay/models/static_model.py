"""The bundled embedding model: a table of token vectors that needs no download, key or inference runtime."""

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
from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np
    import tokenizers
    from numpy.typing import NDArray
else:
    np = lazy_module("numpy")
    tokenizers = lazy_module("tokenizers")

MODEL = "static-v1"
DIMENSIONS = 256
_MAX_TOKENS = 512
# This many characters take about a millisecond; more are embedded in a worker thread.
_INLINE_CHARACTERS = 8_000
# Up to this many texts, embedding one by one is faster than a batch.
_MAX_SINGLE = 4
_FOLDER = files("scrubjay.models") / "static_v1"
# Texts pooled at a time, so that their rows stay in the CPU cache.
_BATCH = 64
_MAX_CACHED = 100_000
_MAX_PIECE = 100
_UNKNOWN = "[UNK]"
# WordPiece prefix of tokens inside a word.
_INSIDE = "##"
# Text that is tokenized here without the tokenizer library, and its pieces: parts of camelCase words, punctuation.
_PLAIN = re.compile(r"[\t\n\r\x20-\x7e]*")
_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]*[a-z0-9]+|[A-Z]+|[^A-Za-z0-9\s]")
_SPACES = re.compile(r"[ \t\r\n]+")


class StaticEmbedder:
    """Embeds texts by table lookup. The table is loaded in a worker thread on first use."""

    model = MODEL
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._table: EmbeddingTable | None = None
        self._loading = anyio.Lock()

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        if self._table is None:
            async with self._loading:
                if self._table is None:
                    self._table = await anyio.to_thread.run_sync(EmbeddingTable)
        if sum(map(len, texts)) <= _INLINE_CHARACTERS:
            return self._table.encode(texts)
        return await anyio.to_thread.run_sync(self._table.encode, texts)

    async def close(self) -> None:
        """Do nothing: there is no connection."""


class _TokenIdCache(dict[str, list[int]]):
    """Caches the tokens of parts of texts."""

    def __init__(self, find: Callable[[str], list[int]]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, part: str) -> list[int]:
        if len(self) >= _MAX_CACHED:
            self.clear()
        found = self[part] = self._find(part)
        return found


class EmbeddingTable:
    """The loaded model: an int8 row and a scale per token; rows are memory-mapped, so only used ones take memory."""

    def __init__(self) -> None:
        with as_file(_FOLDER) as folder:
            try:
                self.rows = np.asarray(np.load(folder / "rows.npy", mmap_mode="r"))  # indexing a memmap is slower
                self.scales = np.load(folder / "scales.npy").astype(np.float32)
                self.vocabulary_text = (folder / "vocabulary.txt").read_bytes()
                """The tokens, each followed by a newline."""
                words = self.vocabulary_text.decode("utf-8").split("\n")[:-1]
            except (OSError, ValueError) as error:
                raise Unavailable(
                    f"the bundled embedding model cannot be read: {error}", hint="reinstall scrubjay"
                ) from error
        if self.rows.shape != (len(words), DIMENSIONS) or len(self.scales) != len(words):
            raise Unavailable("the files of the bundled embedding model do not match", hint="reinstall scrubjay")
        self._vocabulary = {word: number for number, word in enumerate(words)}
        self.unknown = self._vocabulary[_UNKNOWN]
        self._ids_of_pieces = _TokenIdCache(self._ids_of_piece)
        self._ids_of_parts = _TokenIdCache(self._ids_of_part)

    @cached_property
    def tokenizer(self) -> "tokenizers.Tokenizer":
        """The full tokenizer, for text that is not plain ASCII; slow to load."""
        with as_file(_FOLDER) as folder:
            tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        return tokenizer

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of these texts; each vector is independent of the other texts."""
        ids = [self.ids(text)[:_MAX_TOKENS] for text in texts]
        if len(ids) <= _MAX_SINGLE:
            return [self._pooled_alone(own) for own in ids]
        batches = [ids[first : first + _BATCH] for first in range(0, len(ids), _BATCH)]
        return [vector for batch in batches for vector in self._pooled(batch)]

    def ids(self, text: str) -> list[int]:
        """Return the same token ids as the model's tokenizer.

        The tokenizer never joins text across whitespace, so the ids of each word can be cached.
        """
        if "[" in text:  # may contain special tokens
            return self.tokenizer.encode(text, add_special_tokens=False).ids
        is_plain = text.isascii() and (text.isprintable() or _PLAIN.fullmatch(text))
        parts = text.split() if is_plain else _SPACES.split(text)
        return list(chain.from_iterable(map(self._ids_of_parts.__getitem__, parts)))

    def ids_of_word(self, word: str) -> list[int]:
        """Return the token ids of plain text without whitespace."""
        return [found for piece in _PIECE.findall(word) for found in self._ids_of_pieces[piece.lower()]]

    def pooled(
        self, texts: int, owners: "NDArray[np.int64]", ids: "NDArray[np.int64]", counts: "NDArray[np.int64]"
    ) -> "NDArray[np.float16]":
        """Return the vectors of `texts` texts from rows of text, token id and count; zeros for a text without tokens.

        Faster than `encode`, but the last bit of a vector may depend on the other texts.
        """
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
        """Split a piece greedily into the longest tokens (WordPiece); unknown if that fails."""
        unknown = [self.unknown]
        if len(piece) > _MAX_PIECE:
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
        """Like `_pooled` for one text, with the same order of sums and less overhead."""
        if not ids:
            return b""
        counted = Counter(ids)
        tokens = sorted(counted)
        weights = np.sqrt(np.array([counted[token] for token in tokens], dtype=np.float32)) * self.scales[tokens]
        total = np.add.reduce(self.rows[tokens] * weights[:, np.newaxis], axis=0)
        length = np.sqrt(np.vecdot(total, total))
        return (total / length).astype("<f2").tobytes() if length else b""

    def _pooled(self, texts: Sequence[Sequence[int]]) -> list[bytes]:
        """Pool tokens: a token that occurs n times counts sqrt(n), and the sum is normalized."""
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
        # Multiplying int8 by float32 directly takes twice as long, and `reduceat` several times as long.
        weighted = self.rows.take(tokens, axis=0).astype(np.float32)
        weighted *= weights[:, np.newaxis]
        ends = [*starts[1:].tolist(), len(weighted)]
        totals = np.empty((len(starts), DIMENSIONS), dtype=np.float32)
        reduce = np.add.reduce
        for start, end, total in zip(starts.tolist(), ends, totals, strict=True):
            reduce(weighted[start:end], axis=0, out=total)
        lengths = np.sqrt(np.vecdot(totals, totals))
        halves = (totals / np.where(lengths > 0, lengths, np.float32(1))[:, np.newaxis]).astype("<f2")
        vectors = [b""] * len(texts)
        for owner, half, length in zip(owners[starts].tolist(), halves, lengths.tolist(), strict=True):
            if length:
                vectors[owner] = half.tobytes()
        return vectors
