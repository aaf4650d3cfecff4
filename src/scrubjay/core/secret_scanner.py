"""First pass over a text with the C accelerator: can it contain a secret? Most texts can not, and need no closer look."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from scrubjay.core.secret_phrases import GATES, LOGIN_NAMES, OTHER_GATES
from scrubjay.core.secrets import BEGINNINGS, OTHER_ENDINGS, PASSWORD_ENDINGS, SCHEMES, SHORT_BEGINNING, WITHIN_WORDS
from scrubjay.native.library import library

# The Kelvin sign is the only non-ASCII character whose lower case is ASCII, so it may be part of any name.
_WORDS = "".join(
    f"{kind}{word}\n"
    for kind, words in (
        ("r", OTHER_ENDINGS),
        ("p", PASSWORD_ENDINGS),
        ("s", SCHEMES),
        ("/", ["://"]),
        ("?", ["\u212a"]),
        ("n", dict.fromkeys(gate for word in (*GATES, *OTHER_GATES) for gate in (word, word.upper()))),
        ("l", LOGIN_NAMES),
        ("a", sorted(WITHIN_WORDS)),
        ("k", [SHORT_BEGINNING]),
        ("w", [one for one in BEGINNINGS if one not in WITHIN_WORDS and one != SHORT_BEGINNING]),
    )
    for word in words
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
