"""Ids that sort by time, cannot collide, and tell what they name."""

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base 32: no letter is mistaken for another
_TIME_BITS = 48
_RANDOM_BITS = 80
_LENGTH = 26


def new_id(prefix: str) -> str:
    """A fresh id such as `mem_01jd…`: 48 bits of milliseconds, then 80 random bits."""
    value = (time.time_ns() // 1_000_000 % (1 << _TIME_BITS)) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    letters = (_ALPHABET[value >> shift & 31] for shift in range(5 * (_LENGTH - 1), -1, -5))
    return f"{prefix}_{''.join(letters)}"
