"""Unique ids that sort by creation time and carry the type of the object as a prefix."""

import os
import time
from functools import lru_cache
from typing import TYPE_CHECKING

from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    import hashlib
else:
    hashlib = lazy_module("hashlib")  # loads OpenSSL, which takes longer than a hook may

# Crockford's base 32: no ambiguous letters.
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
# Two letters for each ten-bit number.
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
_TIME_BITS, _TIME_PAIRS = 48, 5
_RANDOM_BITS, _RANDOM_PAIRS = 80, 8


def new_id(prefix: str) -> str:
    """Return a new id such as `mem_01jd…`: 48 bits of milliseconds, then 80 random bits."""
    moment = _letters_of_moment(time.time_ns() // 1_000_000 % (1 << _TIME_BITS))
    return f"{prefix}_{moment}{_letters(int.from_bytes(os.urandom(_RANDOM_BITS // 8)), _RANDOM_PAIRS)}"


def deterministic_id(prefix: str, milliseconds: int, text: str) -> str:
    """Return an id that is a function of the time and the text only."""
    random = int.from_bytes(hashlib.sha256(text.encode()).digest()[: _RANDOM_BITS // 8])
    return f"{prefix}_{_letters(milliseconds % (1 << _TIME_BITS), _TIME_PAIRS)}{_letters(random, _RANDOM_PAIRS)}"


def last_id(prefix: str, milliseconds: int) -> str:
    """Return an upper bound for the ids of this millisecond and all earlier ones."""
    return f"{prefix}_{_letters(milliseconds % (1 << _TIME_BITS), _TIME_PAIRS)}{_LETTERS[-1] * 2 * _RANDOM_PAIRS}"


@lru_cache(maxsize=1)
def _letters_of_moment(milliseconds: int) -> str:
    return _letters(milliseconds, _TIME_PAIRS)


def _letters(value: int, pairs: int) -> str:
    return "".join([_PAIRS[value >> 10 * place & 1023] for place in range(pairs - 1, -1, -1)])
