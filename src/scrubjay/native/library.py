"""Find and load the compiled C library, if it was built from the expected sources."""

import ctypes
import hashlib
from functools import cache
from pathlib import Path

# A folder of its own, without `__init__.py`: Python would take `native/libscrubjay.so` for an extension module.
LIBRARY_FOLDER = Path(__file__).parent / "lib"
LIBRARY_NAME = "libscrubjay.so"  # also on macOS: auditwheel and delocate look for this suffix
FINGERPRINT_NAME = "fingerprint.txt"

_is_disabled = False


def use_library(wanted: bool) -> None:
    """Enable or disable the compiled library for this process."""
    global _is_disabled
    _is_disabled = not wanted


def is_wanted() -> bool:
    """Return whether this process may use the compiled library."""
    return not _is_disabled


def library() -> ctypes.CDLL | None:
    """Return the compiled library, or None when it is missing, out of date or disabled."""
    return None if _is_disabled else _load_once()


@cache
def _load_once() -> ctypes.CDLL | None:
    return load(LIBRARY_FOLDER, checkout_sources())


def load(folder: Path, sources: Path | None) -> ctypes.CDLL | None:
    """Load the library in a folder, or return None when it is missing or does not match its fingerprint.

    The library carries the digest of the sources that it was compiled from. It must equal the fingerprint that the
    build wrote beside it and, in a checkout, the digest of the sources as they are now.
    """
    try:
        expected = (folder / FINGERPRINT_NAME).read_text(encoding="ascii").strip()
        if sources is not None and fingerprint(sources) != expected:
            return None
        found = ctypes.CDLL(str(folder / LIBRARY_NAME))
        found.scrubjay_fingerprint.restype = ctypes.c_char_p
        return found if found.scrubjay_fingerprint() == expected.encode() else None
    except (OSError, AttributeError, UnicodeError):
        return None


def checkout_sources() -> Path | None:
    """Return the folder of the C sources when this package runs from a checkout; a wheel has none."""
    package_root = Path(__file__).parents[2]
    folder = package_root.parent / "native"
    return folder if package_root.name == "src" and (folder / "api.h").is_file() else None


def c_sources(folder: Path) -> list[Path]:
    """List the C files that are compiled."""
    return sorted(folder.glob("*.c"))


def c_headers(folder: Path) -> list[Path]:
    """List the C headers, which are part of the fingerprint."""
    return sorted(folder.glob("*.h"))


def fingerprint(folder: Path) -> str:
    """Return the SHA-256 of all C sources and headers in a folder."""
    return hashlib.sha256(
        b"\0".join(source.read_bytes() for source in (*c_sources(folder), *c_headers(folder)))
    ).hexdigest()
