"""Ids that sort by time, cannot collide, and tell what they name."""

import base64
import secrets
import time

# Crockford's base 32, in which no letter is mistaken for another, for the letters of the usual one.
_LETTERS = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789abcdefghjkmnpqrstvwxyz")
_TIME_BITS = 48
_RANDOM_BITS = 80
_LENGTH = 26
# 26 letters say 130 bits; what follows them in whole groups of eight letters is cut off.
_BYTES, _BEHIND = 20, 30


def new_id(prefix: str) -> str:
    """A fresh id such as `mem_01jd…`: 48 bits of milliseconds, then 80 random bits."""
    value = (time.time_ns() // 1_000_000 % (1 << _TIME_BITS)) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    letters = base64.b32encode((value << _BEHIND).to_bytes(_BYTES))[:_LENGTH].translate(_LETTERS)
    return f"{prefix}_{letters.decode()}"
