"""What one file's content comes to: its facts, and what is searched in it. Made once for each content.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json, to_json

from recollect.codebase.chunking import Chunk, chunks_of
from recollect.codebase.parsing.reading import read_facts
from recollect.codebase.words import words_of
from recollect.domain.code import FileFacts, Import, Language, Problem, Span, Symbol, SymbolKind, Use, UseKind
from recollect.domain.secrets import masked
from recollect.storage.derived.token_segments import MOST_COUNTED, token

# Raised when the same content would come to something else than before.
VERSION = 1
# What a name that is defined in a chunk counts there, beside where it stands.
WORTH_OF_NAMES = 5


class Searchable(NamedTuple):
    """What is searched in a file; one row a chunk."""

    spans: NDArray[np.int32]
    """First byte, byte behind the last, first line, last line."""
    symbols: NDArray[np.int32]
    """The place of the symbol that the chunk is about; -1 when it is about none."""
    starts: NDArray[np.int32]
    """Where the words of each begin among all words; one entry more than there are chunks."""
    words: NDArray[np.uint64]
    """The words of each chunk, each once."""
    counts: NDArray[np.uint8]
    """How often each occurs."""
    vectors: NDArray[np.float16]
    """The meaning of each; a row of zeros where there is none."""


@dataclass(frozen=True, slots=True)
class Digest:
    """All that is kept of one content."""

    facts: FileFacts
    searchable: Searchable

    def packed(self) -> bytes:
        """As bytes, to be kept."""
        import zlib

        facts = zlib.compress(_facts_as_json(self.facts), 1)
        arrays = [np.ascontiguousarray(array) for array in self.searchable]
        head = to_json([len(facts), [[array.dtype.str, array.shape] for array in arrays]])
        return b"".join([len(head).to_bytes(4, "little"), head, facts, *(array.tobytes() for array in arrays)])


def unpacked(content: bytes) -> Digest:
    """What was packed."""
    return Digest(unpacked_facts(content), unpacked_searchable(content))


def unpacked_facts(content: bytes) -> FileFacts:
    import zlib

    start, length, _ = _layout(content)
    return _facts_from(from_json(zlib.decompress(content[start : start + length])))


def unpacked_searchable(content: bytes) -> Searchable:
    start, length, described = _layout(content)
    offset = start + length
    arrays: list[NDArray[Any]] = []
    for dtype, shape in described:
        count = int(np.prod(shape))
        arrays.append(np.frombuffer(content, np.dtype(dtype), count, offset).reshape(shape))
        offset += arrays[-1].nbytes
    return Searchable(*arrays)


def _layout(content: bytes) -> tuple[int, int, list[tuple[str, list[int]]]]:
    length = int.from_bytes(content[:4], "little")
    of_facts, described = from_json(content[4 : 4 + length])
    return 4 + length, of_facts, described


def digest(content: bytes, language: Language) -> Digest:
    """What this content comes to. It depends on nothing else."""
    facts = _without_secrets(read_facts(content, language))
    chunks = chunks_of(content, facts)
    texts = [masked(content[chunk.span.start : chunk.span.end].decode("utf-8", "replace")) for chunk in chunks]
    return Digest(facts, _searchable(chunks, texts))


def _without_secrets(facts: FileFacts) -> FileFacts:
    symbols = [
        symbol._replace(signature=signature, doc=doc)
        for symbol in facts.symbols
        for signature, doc in [(masked(symbol.signature), masked(symbol.doc))]
    ]
    return replace(facts, symbols=symbols, doc=masked(facts.doc))


def _searchable(chunks: Sequence[Chunk], texts: Sequence[str]) -> Searchable:
    counted = [_counted(text, chunk.names) for text, chunk in zip(texts, chunks, strict=True)]
    starts = np.zeros(len(chunks) + 1, dtype=np.int32)
    np.cumsum([len(words) for words in counted], out=starts[1:])
    return Searchable(
        np.array([chunk.span for chunk in chunks], dtype=np.int32).reshape(-1, 4),
        np.array([chunk.symbol for chunk in chunks], dtype=np.int32),
        starts,
        np.array([word for words in counted for word in words], dtype=np.uint64),
        np.array([min(count, MOST_COUNTED) for words in counted for count in words.values()], dtype=np.uint8),
        vectors_of(texts),
    )


def _counted(text: str, names: Sequence[str]) -> Counter[int]:
    counted = Counter(map(token, words_of(text)))
    for name in names:
        for word in words_of(name):
            counted[token(word)] += WORTH_OF_NAMES
    return counted


def vectors_of(texts: Sequence[str]) -> NDArray[np.float16]:
    """The meaning of each text; zeros for one that has none."""
    from recollect.inference.static_model import DIMENSIONS

    # What the model makes of text without brackets it remembers; code is full of them, and they mean nothing.
    found = _table().encode([text.replace("[", " ") for text in texts])
    nothing = bytes(2 * DIMENSIONS)
    return np.frombuffer(b"".join([vector or nothing for vector in found]), dtype="<f2").reshape(-1, DIMENSIONS)


@lru_cache(maxsize=1)
def _table() -> Any:
    from recollect.inference.static_model import Table

    return Table()


# -- facts as JSON ---------------------------------------------------------------------------------


def _facts_as_json(facts: FileFacts) -> bytes:
    values = {field.name: getattr(facts, field.name) for field in fields(facts)}
    return to_json(values | {"flow": facts.flow.decode("latin-1")}, inf_nan_mode="constants")


def _facts_from(data: dict[str, Any]) -> FileFacts:
    kinds = {kind.value: kind for kind in SymbolKind}
    uses = {kind.value: kind for kind in UseKind}
    return FileFacts(
        language=Language(data["language"]),
        lines=data["lines"],
        doc=data["doc"],
        symbols=[_symbol_from(kinds[kind], name, *rest) for name, kind, *rest in data["symbols"]],
        imports=[Import(*one) for one in data["imports"]],
        uses=[Use(uses[one[0]], *one[1:]) for one in data["uses"]],
        exports=[(name, own) for name, own in data["exports"]],
        problems=[Problem(*one) for one in data["problems"]],
        flow=data["flow"].encode("latin-1"),
    )


def _symbol_from(
    kind: SymbolKind,
    name: str,
    span: list[int],
    line: int,
    container: int,
    signature: str,
    doc: str,
    exported: bool,
    bases: list[str],
    decorators: list[str],
    owner: str,
) -> Symbol:
    around = tuple(bases), tuple(decorators), owner
    return Symbol(name, kind, Span(*span), line, container, signature, doc, exported, *around)
