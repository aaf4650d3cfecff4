"""Makes the corpus once, and embeds it with the bundled model."""

import json
from collections.abc import Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus import CHUNK, Corpus
from benchmarks.corpus_files import CorpusFiles
from scrubjay.models.static_model import MODEL, StaticEmbedder

# Another corpus needs another number, or stores of the old one are taken for stores of the new one.
VERSION = 1


def questions_name(rows: int) -> str:
    return f"questions-{rows}"


def reworded_name(rows: int) -> str:
    return f"reworded-{rows}"


def prepare(work: Path, sizes: Sequence[int], spare: int, questions: int) -> CorpusFiles:
    """The files for all sizes, and `spare` rows more to write later; what there is already is kept."""
    return anyio.run(partial(_prepare, work / f"corpus-{MODEL}-{VERSION}", sizes, spare, questions))


async def _prepare(folder: Path, sizes: Sequence[int], spare: int, questions: int) -> CorpusFiles:
    corpus, kept = Corpus(_vocabulary()), CorpusFiles(folder)
    embedder = StaticEmbedder()

    async def embed(texts: Sequence[str]) -> NDArray[np.float16]:
        nowhere = bytes(2 * embedder.dimensions)
        vectors = b"".join(vector or nowhere for vector in await embedder.embed(texts))
        return np.frombuffer(vectors, "<f2").reshape(len(texts), -1)

    for chunk in range(-(-(max(sizes) + spare) // CHUNK)):
        if not kept.has(chunk):
            memories = corpus.memories(chunk)
            kept.keep(chunk, memories, await embed([memory["content"] for memory in memories]))
    held_back = (await embed(corpus.held_back)).astype(np.float32)
    known = dict(zip(words := corpus.words, (await embed(words)).astype(np.float32), strict=True))
    unknown = np.zeros(embedder.dimensions, np.float32)

    @cache
    def other_word(word: str) -> str:
        return corpus.held_back[int((held_back @ known.get(word.lower(), unknown)).argmax())]

    def memory_at(row: int) -> dict[str, Any]:
        return kept.memories(row, row + 1)[0]

    for rows in sizes:
        for name, asked in (
            (questions_name(rows), corpus.questions(rows, questions, memory_at)),
            (reworded_name(rows), corpus.reworded_questions(rows, questions, memory_at, other_word)),
        ):
            kept.keep_questions(name, asked, (await embed([one.text for one in asked])).astype(np.float32))
    return kept


def _vocabulary() -> list[str]:
    """The words that the bundled model knows, which its makers put in the order of their frequency."""
    tokenizer = (files("scrubjay.models") / "static_v1" / "tokenizer.json").read_text("utf-8")
    return list(json.loads(tokenizer)["model"]["vocab"])
