"""Generate the corpus once and embed it with the bundled model."""

import json
from collections.abc import Sequence
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus import CHUNK, Corpus
from benchmarks.corpus_files import CorpusFiles
from scrubjay.models.static_model import MODEL, StaticEmbedder

# Increase when the corpus changes, so that stores of the old corpus are not reused.
VERSION = 1


def questions_name(rows: int) -> str:
    return f"questions-{rows}"


def reworded_name(rows: int) -> str:
    return f"reworded-{rows}"


def prepare(work: Path, sizes: Sequence[int], spare: int, questions: int) -> CorpusFiles:
    """Write the files for all sizes and `spare` extra rows, and return them. Existing files are reused."""
    return anyio.run(partial(_prepare, work / f"corpus-{MODEL}-{VERSION}", sizes, spare, questions))


async def _prepare(folder: Path, sizes: Sequence[int], spare: int, questions: int) -> CorpusFiles:
    corpus, files = Corpus(_vocabulary()), CorpusFiles(folder)
    embedder = StaticEmbedder()

    async def embed(texts: Sequence[str]) -> NDArray[np.float16]:
        nowhere = bytes(2 * embedder.dimensions)
        vectors = b"".join(vector or nowhere for vector in await embedder.embed(texts))
        return np.frombuffer(vectors, "<f2").reshape(len(texts), -1)

    for chunk in range(-(-(max(sizes) + spare) // CHUNK)):
        if not files.has(chunk):
            memories = corpus.memories(chunk)
            files.save(chunk, memories, await embed([memory["content"] for memory in memories]))
    withheld = (await embed(corpus.withheld)).astype(np.float32)
    known = dict(zip(words := corpus.words, (await embed(words)).astype(np.float32), strict=True))
    unknown = np.zeros(embedder.dimensions, np.float32)

    @cache
    def other_word(word: str) -> str:
        return corpus.withheld[int((withheld @ known.get(word.lower(), unknown)).argmax())]

    def memory_at(row: int) -> dict[str, Any]:
        return files.memories(row, row + 1)[0]

    for rows in sizes:
        for name, asked in (
            (questions_name(rows), corpus.questions(rows, questions, memory_at)),
            (reworded_name(rows), corpus.reworded_questions(rows, questions, memory_at, other_word)),
        ):
            files.save_questions(name, asked, (await embed([one.text for one in asked])).astype(np.float32))
    return files


def _vocabulary() -> list[str]:
    """Return the vocabulary of the bundled model, which is roughly ordered by frequency."""
    tokenizer = (resources.files("scrubjay.models") / "static_v1" / "tokenizer.json").read_text("utf-8")
    return list(json.loads(tokenizer)["model"]["vocab"])
