"""Ids that sort by time, cannot collide, and tell what they name."""

import os
import time
from functools import lru_cache

# Crockford's base 32: no letter is mistaken for another.
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
# For each number of ten bits, as two letters.
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
_TIME_BITS, _TIME_PAIRS = 48, 5
_RANDOM_BITS, _RANDOM_PAIRS = 80, 8


def new_id(prefix: str) -> str:
    """A fresh id such as `mem_01jd…`: 48 bits of milliseconds, then 80 random bits."""
    moment = _letters_of_moment(time.time_ns() // 1_000_000 % (1 << _TIME_BITS))
    return f"{prefix}_{moment}{_letters(int.from_bytes(os.urandom(_RANDOM_BITS // 8)), _RANDOM_PAIRS)}"


def settled_id(prefix: str, milliseconds: int, text: str) -> str:
    """Such an id that is the same whenever it is made of the same moment and text."""
    from hashlib import sha256  # whose library takes longer to load than hooks have

    random = int.from_bytes(sha256(text.encode()).digest()[: _RANDOM_BITS // 8])
    return f"{prefix}_{_letters(milliseconds % (1 << _TIME_BITS), _TIME_PAIRS)}{_letters(random, _RANDOM_PAIRS)}"


def last_id(prefix: str, milliseconds: int) -> str:
    """What no such id of this moment or an earlier one comes after."""
    return f"{prefix}_{_letters(milliseconds % (1 << _TIME_BITS), _TIME_PAIRS)}{_LETTERS[-1] * 2 * _RANDOM_PAIRS}"


@lru_cache(maxsize=1)
def _letters_of_moment(milliseconds: int) -> str:
    return _letters(milliseconds, _TIME_PAIRS)


def _letters(value: int, pairs: int) -> str:
    return "".join([_PAIRS[value >> 10 * place & 1023] for place in range(pairs - 1, -1, -1)])
