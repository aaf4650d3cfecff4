"""Comparison of the C extension with its Python fallback."""

from collections.abc import Generator
from contextlib import contextmanager

from scrubjay.native.library import library, use_library


@contextmanager
def without_compiled() -> Generator[None]:
    """Disable the C extension inside the context. It must be loaded before, or there would be nothing to compare."""
    assert library() is not None, "install Scrubjay where there is a C compiler"
    use_library(False)
    try:
        yield
    finally:
        use_library(True)
