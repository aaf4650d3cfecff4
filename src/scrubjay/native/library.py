"""Finds the compiled part, if it was made of the sources that are here."""

import ctypes
import hashlib
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
COMPILED = "compiled.native"  # no name that Python takes for a module


_switched_off = False


def use_library(wanted: bool) -> None:
    """Whether this process uses the compiled part where there is one."""
    global _switched_off
    _switched_off = not wanted


def is_wanted() -> bool:
    return not _switched_off


def library() -> ctypes.CDLL | None:
    """The compiled part; None when there is none, when a source was changed since, or when nobody wants it."""
    return None if _switched_off else _loaded_once()


@cache
def _loaded_once() -> ctypes.CDLL | None:
    return loaded(FOLDER)


def loaded(folder: Path) -> ctypes.CDLL | None:
    """The same of another folder."""
    try:
        found = ctypes.CDLL(str(folder / COMPILED))
        found.scrubjay_sources.restype = ctypes.c_char_p
        return found if found.scrubjay_sources() == fingerprint(folder).encode() else None
    except (OSError, AttributeError):
        return None


def sources(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.c"))


def headers(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.h"))


def fingerprint(folder: Path) -> str:
    """What tells these sources from others; it is compiled into what is made of them."""
    return hashlib.sha256(
        b"\0".join(source.read_bytes() for source in (*sources(folder), *headers(folder)))
    ).hexdigest()
