"""The words of the parts of a file, and what each part means.

This module imports numpy, which takes a while: import it where it is needed.
"""

import re
import string
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.models.static_model import DIMENSIONS

# What a name that is defined in a part counts there, beside where it stands.
WORTH_OF_NAMES = 5
# A repository of random names must not fill the memory.
MOST_KNOWN = 200_000
SIGNS = [chr(code) for code in range(128) if chr(code).isprintable() and not chr(code).isalnum() and code not in b"_ ["]
"""What means something by itself. Code is full of opening brackets, and they mean nothing beside the closing ones."""
# What is not plain, with the letters and digits behind it; to look for those before it as well would take far longer.
_ODD = re.compile(r"[^\x00-\x7f][A-Za-z0-9_\x80-\U0010ffff]*+")
_LETTERS = frozenset(string.ascii_letters + string.digits + "_")


class Bag(NamedTuple):
    """The words of parts, one row a part, and what each means."""

    starts: NDArray[np.int32]
    """Where the words of each begin among all words; one entry more than there are parts."""
    words: NDArray[np.uint64]
    """The words of each part, each once."""
    counts: NDArray[np.uint8]
    """How often each occurs."""
    vectors: NDArray[np.float16]
    """The meaning of each; a row of zeros where there is none."""


def parted(text: str) -> tuple[str, Sequence[str]]:
    """What is plain in a text, and what is not, with the letters and digits around it: that is read by itself."""
    if text.isascii():
        return text, ()
    plain: list[str] = []
    odd: list[str] = []
    end = 0
    for found in _ODD.finditer(text):
        start = found.start()
        while start > end and text[start - 1] in _LETTERS:
            start -= 1
        plain.append(text[end:start])
        end = found.end()
        odd.append(text[start:end])
    return " ".join([*plain, text[end:]]), odd


def joined(bags: Sequence[Bag]) -> Bag:
    """The parts of all of them."""
    if not bags:
        return Bag(
            np.zeros(1, dtype=np.int32),
            np.empty(0, dtype=np.uint64),
            np.empty(0, dtype=np.uint8),
            np.empty((0, DIMENSIONS), dtype="<f2"),
        )
    if len(bags) == 1:
        return bags[0]
    return Bag(
        _starts(np.concatenate([np.diff(bag.starts) for bag in bags])),
        np.concatenate([bag.words for bag in bags]),
        np.concatenate([bag.counts for bag in bags]),
        np.concatenate([bag.vectors for bag in bags]),
    )


def _starts(sizes: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
