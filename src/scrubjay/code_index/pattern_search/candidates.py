"""Which files may have a match, as far as the words of the index tell.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.words import words_of
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.search_index.token_segments import token

Files = NDArray[np.bool_]


def may_match(ways: Sequence[Sequence[str]], corpus: Corpus) -> Files:
    """By row whether a file may match in one of these ways, of each the identifiers that it needs; all without ways."""
    if not ways:
        return corpus.alive
    found = np.zeros(len(corpus.files), dtype=np.bool_)
    for identifiers in ways:
        having = np.ones(len(corpus.files), dtype=np.bool_)
        for word in dict.fromkeys(word for identifier in identifiers for word in _telling(identifier)):
            having &= _having(word, corpus)
        found |= having
    return (found | _untold(corpus)) & corpus.alive


def _telling(identifier: str) -> Sequence[str]:
    """The words by which an identifier is known: of several parts that are joined, only the whole."""
    words = words_of(identifier)
    return words[-1:] if words and words[-1].startswith("=") else words


def _having(word: str, corpus: Corpus) -> Files:
    found = np.zeros(len(corpus.files), dtype=np.bool_)
    found[corpus.chunks.files[corpus.words.having(token(word)).rows]] = True
    return found


def _untold(corpus: Corpus) -> Files:
    """The files of which words do not tell all: those without parts, and those that were cut where no line ends."""
    chunks = corpus.chunks
    found = np.bincount(chunks.files, minlength=len(corpus.files)) == 0
    found &= np.array([file.size > 0 for file in corpus.files], dtype=np.bool_)
    cut = (chunks.files[1:] == chunks.files[:-1]) & (chunks.spans[1:, 0] == chunks.spans[:-1, 1])
    found[chunks.files[1:][cut]] = True
    return found
