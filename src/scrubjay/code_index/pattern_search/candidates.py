"""Select the files that may match a pattern, by the words in the index.

Imports numpy, which is slow to import: load this module late.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.tokenizer import tokenize
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.search_index.token_segments import token

Files = NDArray[np.bool_]


def may_match(alternatives: Sequence[Sequence[str]], corpus: Corpus) -> Files:
    """Return by row whether a file may match; it must have all identifiers of one alternative. Without any, all may."""
    if not alternatives:
        return corpus.alive
    found = np.zeros(len(corpus.files), dtype=np.bool_)
    for identifiers in alternatives:
        matching = np.ones(len(corpus.files), dtype=np.bool_)
        for word in dict.fromkeys(word for identifier in identifiers for word in _index_words(identifier)):
            matching &= _files_with(word, corpus)
        found |= matching
    return (found | _files_with_unknown_words(corpus)) & corpus.alive


def _index_words(identifier: str) -> Sequence[str]:
    """Return the words that every chunk with this identifier has: the joined form, or else all of its words."""
    words = tokenize(identifier)
    return words[-1:] if words and words[-1].startswith("=") else words


def _files_with(word: str, corpus: Corpus) -> Files:
    found = np.zeros(len(corpus.files), dtype=np.bool_)
    found[corpus.chunks.files[corpus.words.occurrences_of(token(word)).rows]] = True
    return found


def _files_with_unknown_words(corpus: Corpus) -> Files:
    """Return the files whose words are incomplete: without chunks, or with a chunk that was cut inside a line."""
    chunks = corpus.chunks
    found = np.bincount(chunks.files, minlength=len(corpus.files)) == 0
    found &= np.array([file.size > 0 for file in corpus.files], dtype=np.bool_)
    cut = (chunks.files[1:] == chunks.files[:-1]) & (chunks.spans[1:, 0] == chunks.spans[:-1, 1])
    found[chunks.files[1:][cut]] = True
    return found
