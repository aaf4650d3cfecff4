"""Paths as text that JSON can hold: names of files are bytes, of which each stands as the character of its number."""

import os


def path_text(path: str) -> str:
    return os.fsencode(path).decode("latin-1")


def path_from(text: str) -> str:
    """The path that became this text."""
    return os.fsdecode(text.encode("latin-1"))


def printable(path: str) -> str:
    """The path as people read it, whatever bytes it has."""
    return path.encode("utf-8", "backslashreplace").decode()
