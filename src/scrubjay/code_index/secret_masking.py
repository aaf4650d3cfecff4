"""Source code without the secrets in it, every byte of the rest where it was."""

import ctypes
import re
from collections.abc import Callable
from enum import IntFlag
from functools import cache
from typing import TYPE_CHECKING, Any

from scrubjay.core.secrets import (
    BEGINNINGS,
    OTHER_ENDINGS,
    PASSWORD_ENDINGS,
    SCHEMES,
    WITHIN_WORDS,
    Secret,
    find_secrets,
)
from scrubjay.native.library import library

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
        if not (may := what_may_be_in(content)):
            break
        text = content.decode("utf-8", "surrogateescape")
        found = find_secrets(text, has_beginning=May.HAVE_FORM in may)
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
    may = looking(content) if (looking := _looking()) else None
    if may is not None and not may:
        return []
    has_beginning = None if may is None else May.HAVE_FORM in may
    return find_secrets(content.decode("utf-8", "surrogateescape"), has_beginning=has_beginning)


class May(IntFlag):
    """What a content may have, as far as a first look tells: what it may not have is not in it."""

    HAVE_FORM = 1
    """A secret that is told by its form."""
    HAVE_NAME = 2
    """One that is told by what stands next to it."""


def what_may_be_in(content: bytes) -> May:
    """What has to be looked for in it."""
    if (looking := _looking()) is not None:
        return looking(content)
    return May.HAVE_NAME | May.HAVE_FORM if has_in_arrays(content) else May.HAVE_NAME


_BEGINNINGS = tuple(beginning.encode() for beginning in BEGINNINGS)
# The one letter beyond ASCII whose small letter is in it, the sign of Kelvin, is odd: it may be part of any name.
_LOOKED_FOR = "".join(
    f"{kind}{word}\n"
    for kind, words in (
        ("r", OTHER_ENDINGS),
        ("p", PASSWORD_ENDINGS),
        ("s", SCHEMES),
        ("/", ["://"]),
        ("?", ["\u212a"]),
        ("a", WITHIN_WORDS),
        ("w", [beginning for beginning in BEGINNINGS if beginning not in WITHIN_WORDS]),
    )
    for word in words
).encode()


@cache
def _looking() -> Callable[[bytes], May] | None:
    """What takes the first look, where something was compiled."""
    if (native := library()) is None:
        return None
    made: Any = native.scrubjay_secret_scanner_new
    told: Any = native.scrubjay_secret_scanner_scan
    made.restype, made.argtypes = ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_int64)
    told.restype, told.argtypes = ctypes.c_int32, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64)
    looking = made(_LOOKED_FOR, len(_LOOKED_FOR))
    every = [May(0), May.HAVE_FORM, May.HAVE_NAME, May.HAVE_FORM | May.HAVE_NAME]
    return (lambda content: every[int(told(looking, content, len(content)))]) if looking else None


def has_in_arrays(content: bytes) -> bool:
    """Whether it has a beginning of a secret, where nothing was compiled: by their first three letters."""
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
