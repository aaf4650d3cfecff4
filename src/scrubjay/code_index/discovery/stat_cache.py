"""What was seen of a folder the last time, so that what has not changed since need not be looked at again."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from scrubjay.code_index.models import FileStamp, SourceFile

# A file that is written again this soon may keep its time of change: some file systems count in steps of two seconds.
SETTLED_NS = 2_000_000_000


class Entry(NamedTuple):
    """A file as git's index has it."""

    path: str
    name: bytes
    """The last part of the path, as the file system has it."""
    blob: str
    committed: str | None
    """The id that it has in the commit; None when there is no commit."""
    is_merged: bool
    """Whether it is as one side or both want it, and no conflict."""
    flags: int
    modified_ns: int
    changed_ns: int
    size: int
    inode: int


class Staged(NamedTuple):
    """What git's index holds, compared with a commit."""

    folders: Mapping[str, Sequence[Entry]]
    """The files, by the folder that they are in; folders come as in a walk, so that each is entered once."""
    submodules: Sequence[Entry]
    ignore_files: Sequence[str]
    """The paths of those that may name files that do not count, which git does not know."""
    before: Mapping[str, str]
    """The ids that the commit has where the index has others."""
    gone: Sequence[str]
    """What only the commit has."""


class IndexStamp(NamedTuple):
    """Which index, in which state, compared with which commit."""

    file: str
    stamp: FileStamp
    commit: str | None


@dataclass(slots=True)
class Remembered:
    """All of it, for one folder and one way of looking at it. Each look puts other tables here and changes none."""

    files: Mapping[str, SourceFile] = field(default_factory=dict[str, SourceFile])
    """Those that were taken; what is decided of a file depends on its path and content alone."""
    stamps: Mapping[str, FileStamp] = field(default_factory=dict[str, FileStamp])
    """Of the files whose content was read for their ids."""
    staged: Mapping[IndexStamp, Staged] = field(default_factory=dict[IndexStamp, Staged])
    unwanted: Mapping[str, str] = field(default_factory=dict[str, str])
    """By path why a file of this name is not read, whatever is in it."""


def index_stamp(index: str, commit: str | None) -> IndexStamp | None:
    """By what a git index is known again; None when it is so new that it might be written again unnoticed."""
    try:
        status = Path(index).stat()
    except OSError:
        return None
    if status.st_mtime_ns > time.time_ns() - SETTLED_NS:
        return None
    stamp = FileStamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, "")
    return IndexStamp(index, stamp, commit)
