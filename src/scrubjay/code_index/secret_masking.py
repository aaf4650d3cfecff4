"""Mask secrets in source code without moving any other byte."""

import ctypes
import re
from collections.abc import Callable
from enum import IntFlag
from functools import cache
from typing import TYPE_CHECKING, Any

from scrubjay.core.lazy import lazy_module
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
else:
    np = lazy_module("numpy")

_NO_LINE_END = re.compile(rb"[^\r\n]")
# Masking one secret can reveal that its neighbour is a secret too.
_MAX_PASSES = 3
# Bytes scanned at a time: the scan takes a dozen times as much memory.
_BLOCK_BYTES = 1_000_000


def mask_secrets(content: bytes) -> bytes:
    """Overwrite each secret with the same number of letters, so that syntax, offsets and lines stay the same.

    Pass the whole file: a part from the middle of a private key is not recognizable.
    """
    for _ in range(_MAX_PASSES):
        if not (may := possible_secrets(content)):
            break
        text = content.decode("utf-8", "surrogateescape")
        found = find_secrets(text, has_beginning=SecretKinds.BY_FORM in may)
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
    """Return the secrets in a part of a file, with offsets in its text decoded with `surrogateescape`."""
    may = scan(content) if (scan := _native_scanner()) else None
    if may is not None and not may:
        return []
    has_beginning = None if may is None else SecretKinds.BY_FORM in may
    return find_secrets(content.decode("utf-8", "surrogateescape"), has_beginning=has_beginning)


class SecretKinds(IntFlag):
    """Kinds of secrets that a content may contain; a kind that is not set is certainly absent."""

    BY_FORM = 1
    """Secrets recognizable by their form."""
    BY_NAME = 2
    """Secrets recognizable by the name next to them."""


def possible_secrets(content: bytes) -> SecretKinds:
    """Return the kinds of secrets to search for in a content."""
    if (scan := _native_scanner()) is not None:
        return scan(content)
    return SecretKinds.BY_NAME | SecretKinds.BY_FORM if has_secret_prefix(content) else SecretKinds.BY_NAME


_PREFIXES = tuple(beginning.encode() for beginning in BEGINNINGS)
# The Kelvin sign is the only non-ASCII character whose lower case is ASCII, so it may be part of any name.
_SCANNER_WORDS = "".join(
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
def _native_scanner() -> Callable[[bytes], SecretKinds] | None:
    """Return the scanner of the native library; None if that is not available."""
    if (native := library()) is None:
        return None
    create: Any = native.scrubjay_secret_scanner_new
    scan: Any = native.scrubjay_secret_scanner_scan
    create.restype, create.argtypes = ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_int64)
    scan.restype, scan.argtypes = ctypes.c_int32, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64)
    scanner = create(_SCANNER_WORDS, len(_SCANNER_WORDS))
    every = [SecretKinds(0), SecretKinds.BY_FORM, SecretKinds.BY_NAME, SecretKinds.BY_FORM | SecretKinds.BY_NAME]
    return (lambda content: every[int(scan(scanner, content, len(content)))]) if scanner else None


def has_secret_prefix(content: bytes) -> bool:
    """Return whether a content has a known secret prefix, without the native library: matches 3-byte prefixes first."""
    first_letters = _prefix_table()
    for start in range(0, len(content) - 2, _BLOCK_BYTES):
        letters = np.frombuffer(content[start : start + _BLOCK_BYTES + 2], np.uint8).astype(np.uint32)
        places = np.flatnonzero(first_letters[letters[:-2] << 16 | letters[1:-1] << 8 | letters[2:]])
        if any(content.startswith(_PREFIXES, start + place) for place in places.tolist()):
            return True
    return False


@cache
def _prefix_table() -> "NDArray[np.bool_]":
    known = np.zeros(1 << 24, dtype=np.bool_)
    known[[int.from_bytes(beginning[:3]) for beginning in _PREFIXES]] = True
    return known


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
