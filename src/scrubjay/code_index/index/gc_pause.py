"""Work that makes many small objects and next to no garbage goes on without the search for it."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None]:
    """Meanwhile no garbage is searched for, which would take up to a third of the time, in vain."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
