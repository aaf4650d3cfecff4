"""The digest of one file content: its facts, and the arrays that are searched. Made once per content.

Imports numpy, which is slow to import: load this module late.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.chunk_arrays import cut_chunk_arrays
from scrubjay.code_index.facts.facts_json import symbol_columns
from scrubjay.code_index.facts.packed_facts import locate_arrays, pack_facts, unpack_facts
from scrubjay.code_index.index.gc_pause import gc_paused
from scrubjay.code_index.models import FileFacts, Language, Problem, Symbol
from scrubjay.code_index.parsing.reader import count_lines, read_facts
from scrubjay.code_index.secret_masking import mask_secrets
from scrubjay.code_index.term_counts.counter import term_counter
from scrubjay.code_index.term_counts.models import concatenate


class SearchArrays(NamedTuple):
    """The arrays that are searched, one row per chunk."""

    spans: NDArray[np.int32]
    """Start byte, end byte (exclusive), first line, last line."""
    symbols: NDArray[np.int32]
    """Index of the symbol that the chunk is mostly about; -1 for none."""
    starts: NDArray[np.int32]
    """Offset of each chunk's words in `words`; one entry more than there are chunks."""
    words: NDArray[np.uint64]
    """Word ids; each at most once per chunk."""
    counts: NDArray[np.uint8]
    """Number of occurrences of each word in its chunk."""
    vectors: NDArray[np.float16]
    """Embedding of each chunk; zeros if there is none."""
    defined: NDArray[np.uint64]
    """For each symbol (not chunk), the word id of its whole name."""


@dataclass(frozen=True, slots=True)
class Digest:
    """Everything that is stored about one content."""

    facts: FileFacts
    arrays: SearchArrays

    def pack(self) -> bytes:
        """Serialize to bytes for storage."""
        arrays = [np.ascontiguousarray(array) for array in self.arrays]
        described = [(array.dtype.str, array.shape) for array in arrays]
        return b"".join([pack_facts(self.facts, described), *(array.tobytes() for array in arrays)])


def unpack_digest(content: bytes) -> Digest:
    """Deserialize a packed digest."""
    return Digest(unpack_facts(content), unpack_search_arrays(content))


def unpack_search_arrays(content: bytes) -> SearchArrays:
    offset, described = locate_arrays(content)
    arrays: list[NDArray[Any]] = []
    for dtype, shape in described:
        arrays.append(np.frombuffer(content, np.dtype(dtype), prod(shape), offset).reshape(shape))
        offset += arrays[-1].nbytes
    return SearchArrays(*arrays)


def digest(content: bytes, language: Language) -> Digest:
    """Return the digest of a content. It depends only on the arguments."""
    with gc_paused():
        content = mask_secrets(content)
        return _digest(content, read_facts(content, language))


def digest_as_text(content: bytes, language: Language, problem: str) -> Digest:
    """Return a digest without syntax, for a content that could not be parsed: only its text is searchable."""
    return _digest(mask_secrets(content), _unparsed_facts(content, language, problem))


def digest_of_nothing(content: bytes, language: Language, problem: str) -> Digest:
    """Return a digest that holds only the problem."""
    return Digest(_unparsed_facts(content, language, problem), _empty_arrays())


def _empty_arrays() -> SearchArrays:
    none = np.empty(0, np.int32)
    bag = concatenate([])
    return SearchArrays(
        none.reshape(-1, 4), none, bag.starts, bag.words, bag.counts, bag.vectors, np.empty(0, dtype=np.uint64)
    )


def _unparsed_facts(content: bytes, language: Language, problem: str) -> FileFacts:
    return FileFacts(language, count_lines(content), problems=[Problem(0, problem)])


def _digest(content: bytes, facts: FileFacts) -> Digest:
    return Digest(facts, _make_search_arrays(content, facts.symbols))


def _make_search_arrays(content: bytes, symbols: Sequence[Symbol]) -> SearchArrays:
    chunks = cut_chunk_arrays(content, symbols)
    names: Sequence[str] = symbol_columns(symbols)[0]
    bag, wholes = term_counter().count_spans(content, chunks.spans, names, chunks.owners)
    return SearchArrays(chunks.spans, chunks.symbols, bag.starts, bag.words, bag.counts, bag.vectors, wholes)
