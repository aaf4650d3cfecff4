"""The file by which hooks find a running server of their store; the server holds a lock on it while it runs."""

import fcntl
import json
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

FILE = "server.json"


@contextmanager
def announce_server(home: Path, url: str) -> Generator[None]:
    """Publish the URL of this server while the context is open, unless another server of the store has done so.

    Only a locked file is valid. The kernel releases the lock when the server dies, so a stale file cannot direct hooks
    to a port that belongs to another program by then.
    """
    try:
        file = os.open(home / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:  # hooks then read the store themselves
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


def server_url(home: Path) -> str | None:
    """Return the URL of a running server of this store, or None."""
    try:
        file = os.open(home / FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        try:
            return str(json.loads(os.read(file, 4096))["url"])
        except (ValueError, LookupError, TypeError):  # half written, or not our file
            return None
    finally:
        os.close(file)
    return None
