"""First pass over a text with the C accelerator: can it contain a secret?

Most texts cannot, and need no closer look. A scan may report too much, but never too little.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from scrubjay.core.secret_phrases import GATES, LOGIN_NAMES, OTHER_GATES
from scrubjay.core.secrets import BEGINNINGS, OTHER_ENDINGS, PASSWORD_ENDINGS, SCHEMES, SHORT_BEGINNING, WITHIN_WORDS
from scrubjay.native.library import library


def _with_capitals(word: str) -> str:
    """Return the word with its non-ASCII letters as capitals: the scanner itself knows ASCII capitals only."""
    return "".join(letter if letter.isascii() else letter.upper() for letter in word)


# By kind, as in `secret_scanner.c`. The Kelvin sign is the only non-ASCII character whose lower case is ASCII, so it
# may be part of any name.
_BY_KIND = (
    ("r", OTHER_ENDINGS),
    ("p", PASSWORD_ENDINGS),
    ("s", SCHEMES),
    ("/", ["://"]),
    ("?", ["\u212a"]),
    ("n", [*GATES, *OTHER_GATES, *map(_with_capitals, OTHER_GATES)]),
    ("l", LOGIN_NAMES),
    ("a", WITHIN_WORDS),
    ("k", [SHORT_BEGINNING]),
    ("w", [one for one in BEGINNINGS if one not in WITHIN_WORDS and one != SHORT_BEGINNING]),
)
# Sorted, so that words with the same letters share a bucket of the scanner.
_WORDS = "".join(
    f"{kind}{word}\n"
    for word, kind in sorted(
        {(word, kind) for kind, words in _BY_KIND for word in words}, key=lambda one: one[0].lower()
    )
).encode()


@cache
def native_scanner() -> Callable[[bytes], int] | None:
    """Return a function for the kinds of secrets that a content may have, as bits such as `BY_FORM`.

    Return None without the native library.
    """
    if (native := library()) is None:
        return None
    create: Any = native.scrubjay_secret_scanner_new
    scan: Any = native.scrubjay_secret_scanner_scan
    create.restype, create.argtypes = ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_int64)
    scan.restype, scan.argtypes = ctypes.c_int32, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64)
    scanner = create(_WORDS, len(_WORDS))
    return (lambda content: scan(scanner, content, len(content))) if scanner else None
