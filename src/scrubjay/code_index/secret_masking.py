"""Mask secrets in source code without moving any other byte."""

import re
from enum import IntFlag
from functools import cache
from typing import TYPE_CHECKING

from scrubjay.core.lazy import lazy_module
from scrubjay.core.secret_scanner import native_scanner
from scrubjay.core.secrets import BEGINNINGS, BY_FORM, BY_NAME, BY_OTHER_FORM, Secret, find_secrets

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
        found = find_secrets(text, kinds=int(may))
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
    may = scan(content) if (scan := native_scanner()) else None
    if may == 0:
        return []
    return find_secrets(content.decode("utf-8", "surrogateescape"), kinds=may)


class SecretKinds(IntFlag):
    """Kinds of secrets that a content may contain; a kind that is not set is certainly absent."""

    BY_FORM = BY_FORM
    """Secrets recognizable by their form."""
    BY_NAME = BY_NAME
    """Secrets recognizable by the name next to them."""
    BY_OTHER_FORM = BY_OTHER_FORM
    """Secrets recognizable by a form that does not start a word."""


def possible_secrets(content: bytes) -> SecretKinds:
    """Return the kinds of secrets to search for in a content."""
    if (scan := native_scanner()) is not None:
        return SecretKinds(scan(content))
    by_form = SecretKinds.BY_FORM | SecretKinds.BY_OTHER_FORM
    return SecretKinds.BY_NAME | by_form if has_secret_prefix(content) else SecretKinds.BY_NAME


_PREFIXES = tuple(beginning.encode() for beginning in BEGINNINGS)


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
