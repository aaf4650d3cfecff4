"""A file gets its name only when it is whole, and never takes the place of another."""

import os
from pathlib import Path

from scrubjay.core.errors import Conflict


def temporary_beside(target: Path) -> Path:
    """A name that nobody else uses, in the same folder."""
    return target.with_name(f"{target.name}.{os.getpid()}.{os.urandom(4).hex()}")


def publish(whole: Path, target: Path) -> None:
    """Give the file its name, durably, unless somebody else took it meanwhile."""
    _sync(whole)
    try:
        os.link(whole, target)
    except FileExistsError:
        raise taken(target) from None
    except OSError:  # a file system without links, such as that of a memory stick
        if target.exists():
            raise taken(target) from None
        whole.rename(target)
    _sync(target.parent)


def taken(target: Path) -> Conflict:
    return Conflict(f"{target} exists already", hint="choose another name")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
