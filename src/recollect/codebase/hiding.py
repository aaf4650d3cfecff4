"""Source code without the secrets in it, every byte of the rest where it was."""

import ctypes
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from recollect.domain.secrets import BEGINNINGS, Secret, find_secrets
from recollect.native.library import library

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NO_LINE_END = re.compile(rb"[^\r\n]")
# What is hidden may show that what was next to it is a secret as well.
_MOST_TIMES = 3
# So much is looked at in one piece: it takes a dozen times as much memory.
_AT_ONCE = 1_000_000


def hidden(content: bytes) -> bytes:
    """The content with each secret overwritten by as many letters, so that syntax, places and lines stay as they are.

    The whole file is looked at: of a part alone it cannot be told that it is from the middle of a key.
    """
    for _ in range(_MOST_TIMES):
        text = content.decode("utf-8", "surrogateescape")
        found = find_secrets(text, has_beginning=_has_beginning(content))
        if not found:
            break
        parts: list[bytes] = []
        end = 0
        for secret in found:
            parts += [_bytes(text[end : secret.start]), _NO_LINE_END.sub(b"x", _bytes(text[secret.start : secret.end]))]
            end = secret.end
        content = b"".join([*parts, _bytes(text[end:])])
    return content


def secrets_in(content: bytes) -> list[Secret]:
    """The secrets in a part of a file, placed by the letters of it as text; what is no text is kept by surrogates."""
    finder = _finder()
    # Beginnings are plain letters, which are the same in bytes.
    has_beginning = finder(content) if finder else None
    return find_secrets(content.decode("utf-8", "surrogateescape"), has_beginning=has_beginning)


_BEGINNINGS = tuple(beginning.encode() for beginning in BEGINNINGS)
_ALL_BEGINNINGS = b"".join(beginning + b"\n" for beginning in _BEGINNINGS)


def _has_beginning(content: bytes) -> bool:
    """Whether it has one of them: all are looked for at once."""
    finder = _finder()
    return finder(content) if finder else has_in_arrays(content)


@cache
def _finder() -> Callable[[bytes], bool] | None:
    """What looks for them, where something was compiled."""
    if (native := library()) is None:
        return None
    made, found = native.recollect_finder_made, native.recollect_finder_found
    made.restype, made.argtypes = ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_int64)
    found.restype, found.argtypes = ctypes.c_int32, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64)
    finder = made(_ALL_BEGINNINGS, len(_ALL_BEGINNINGS))
    return (lambda content: bool(found(finder, content, len(content)))) if finder else None


def has_in_arrays(content: bytes) -> bool:
    """The same where nothing was compiled: by their first three letters."""
    import numpy as np

    first_letters = _first_letters()
    for start in range(0, len(content) - 2, _AT_ONCE):
        letters = np.frombuffer(content[start : start + _AT_ONCE + 2], np.uint8).astype(np.uint32)
        places = np.flatnonzero(first_letters[letters[:-2] << 16 | letters[1:-1] << 8 | letters[2:]])
        if any(content.startswith(_BEGINNINGS, start + place) for place in places.tolist()):
            return True
    return False


@cache
def _first_letters() -> "NDArray[np.bool_]":
    import numpy as np

    known = np.zeros(1 << 24, dtype=np.bool_)
    known[[int.from_bytes(beginning[:3]) for beginning in _BEGINNINGS]] = True
    return known


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
