"""Publish complete files under their final name without overwriting an existing file."""

import os
from pathlib import Path

from scrubjay.core.errors import Conflict


def publish(whole: Path, target: Path) -> None:
    """Rename the file durably; raise `Conflict` when the target already exists."""
    sync(whole)
    try:
        os.link(whole, target)
    except FileExistsError:
        raise already_exists(target) from None
    except OSError:  # a file system without links, such as FAT
        if target.exists():
            raise already_exists(target) from None
        whole.rename(target)
    sync(target.parent)


def already_exists(target: Path) -> Conflict:
    """Return the error for a target that already exists."""
    return Conflict(f"{target} already exists", hint="choose another name")


def sync(path: Path) -> None:
    """Write a file, or the entries of a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
