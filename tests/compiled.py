"""Comparing what the compiled part does with what is done without it."""

from collections.abc import Generator
from contextlib import contextmanager

from scrubjay.native.library import library, use_library


@contextmanager
def without_compiled() -> Generator[None]:
    """Nothing compiled is used inside; before, there has to be something, or nothing would be compared."""
    assert library() is not None, "install Scrubjay where there is a C compiler"
    use_library(False)
    try:
        yield
    finally:
        use_library(True)
