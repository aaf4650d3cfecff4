"""What one file's content comes to: its facts, and what is searched in it. Made once for each content.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.chunks import chunks_of
from scrubjay.code_index.facts.facts_json import symbol_columns
from scrubjay.code_index.facts.packed_facts import behind_facts, packed_facts, unpacked_facts
from scrubjay.code_index.index.gc_pause import uncollected
from scrubjay.code_index.models import FileFacts, Language, Problem, Symbol
from scrubjay.code_index.parsing.reader import lines_of, read_facts
from scrubjay.code_index.secret_masking import hidden
from scrubjay.code_index.term_counts.counter import bags
from scrubjay.code_index.term_counts.models import joined


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
    defined: NDArray[np.uint64]
    """Of each symbol, not chunk, the one word that its name is as a whole."""


@dataclass(frozen=True, slots=True)
class Digest:
    """All that is kept of one content."""

    facts: FileFacts
    searchable: Searchable

    def packed(self) -> bytes:
        """As bytes, to be kept."""
        arrays = [np.ascontiguousarray(array) for array in self.searchable]
        described = [(array.dtype.str, array.shape) for array in arrays]
        return b"".join([packed_facts(self.facts, described), *(array.tobytes() for array in arrays)])


def unpacked(content: bytes) -> Digest:
    """What was packed."""
    return Digest(unpacked_facts(content), unpacked_searchable(content))


def unpacked_searchable(content: bytes) -> Searchable:
    offset, described = behind_facts(content)
    arrays: list[NDArray[Any]] = []
    for dtype, shape in described:
        arrays.append(np.frombuffer(content, np.dtype(dtype), prod(shape), offset).reshape(shape))
        offset += arrays[-1].nbytes
    return Searchable(*arrays)


def digest(content: bytes, language: Language) -> Digest:
    """What this content comes to. It depends on nothing else."""
    with uncollected():
        content = hidden(content)
        return _digest(content, read_facts(content, language))


def digest_as_text(content: bytes, language: Language, problem: str) -> Digest:
    """What can be searched in it, and nothing of its syntax, which could not be read."""
    return _digest(hidden(content), _unread(content, language, problem))


def digest_of_nothing(content: bytes, language: Language, problem: str) -> Digest:
    """Nothing but that it could not be read."""
    return Digest(_unread(content, language, problem), _nothing())


def _nothing() -> Searchable:
    none = np.empty(0, np.int32)
    bag = joined([])
    return Searchable(
        none.reshape(-1, 4), none, bag.starts, bag.words, bag.counts, bag.vectors, np.empty(0, dtype=np.uint64)
    )


def _unread(content: bytes, language: Language, problem: str) -> FileFacts:
    return FileFacts(language, lines_of(content), problems=[Problem(0, problem)])


def _digest(content: bytes, facts: FileFacts) -> Digest:
    return Digest(facts, _searchable(content, facts.symbols))


def _searchable(content: bytes, symbols: Sequence[Symbol]) -> Searchable:
    chunks = chunks_of(content, symbols)
    names: Sequence[str] = symbol_columns(symbols)[0]
    bag, wholes = bags().counted_in(content, chunks.spans, names, chunks.owners)
    return Searchable(chunks.spans, chunks.symbols, bag.starts, bag.words, bag.counts, bag.vectors, wholes)
