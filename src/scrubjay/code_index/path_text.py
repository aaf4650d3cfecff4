"""Encode paths as JSON-safe text: each byte of the name becomes the Latin-1 character of the same number."""

import os


def path_text(path: str) -> str:
    return os.fsencode(path).decode("latin-1")


def path_from(text: str) -> str:
    """Return the path that `path_text` encoded."""
    return os.fsdecode(text.encode("latin-1"))


def printable(path: str) -> str:
    """Return the path for display, with invalid bytes escaped."""
    return path.encode("utf-8", "backslashreplace").decode()
