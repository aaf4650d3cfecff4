"""How hooks find a server of this store: a file that says where it listens, locked for as long as it lives."""

import fcntl
import json
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

FILE = "server.json"


@contextmanager
def announced(home: Path, url: str) -> Generator[None]:
    """Tell where this server listens, unless another one of the same store does; a killed one's word is worth nothing.

    The lock is the truth and the kernel keeps it: a port may be another program's by the time somebody reads of it.
    """
    try:
        file = os.open(home / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:  # hooks look into the store themselves
        yield
        return
    try:
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(file, 0)
            os.pwrite(file, json.dumps({"url": url, "pid": os.getpid()}).encode(), 0)
        yield
    finally:
        os.close(file)


def listening(home: Path) -> str | None:
    """The address of a server of this store that lives now."""
    try:
        file = os.open(home / FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        try:
            return str(json.loads(os.read(file, 4096))["url"])
        except (ValueError, LookupError, TypeError):  # it is being written, or another's
            return None
    finally:
        os.close(file)
    return None
