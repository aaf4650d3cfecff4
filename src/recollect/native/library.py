"""Finds the compiled part, if it was made of the sources that are here."""

import ctypes
import hashlib
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
COMPILED = "compiled.native"  # no name that Python takes for a module


@cache
def library() -> ctypes.CDLL | None:
    """The compiled part; None when there is none, or when a source was changed since."""
    return loaded(FOLDER)


def loaded(folder: Path) -> ctypes.CDLL | None:
    """The same of another folder."""
    try:
        found = ctypes.CDLL(str(folder / COMPILED))
        found.recollect_sources.restype = ctypes.c_char_p
        return found if found.recollect_sources() == fingerprint(folder).encode() else None
    except (OSError, AttributeError):
        return None


def sources(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.c"))


def fingerprint(folder: Path) -> str:
    """What tells these sources from others; it is compiled into what is made of them."""
    return hashlib.sha256(b"\0".join(source.read_bytes() for source in sources(folder))).hexdigest()
