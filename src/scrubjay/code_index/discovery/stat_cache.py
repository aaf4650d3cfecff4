"""Cache of the last scan of a folder, so that unchanged files are not read again."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from scrubjay.code_index.models import FileStamp, SourceFile

# A file that is rewritten this soon may keep its mtime: some file systems have a resolution of two seconds.
RACY_NS = 2_000_000_000


class GitIndexEntry(NamedTuple):
    """A file in git's index."""

    path: str
    name: bytes
    """Last component of the path, as bytes."""
    blob: str
    committed: str | None
    """Its id in the commit; None without a commit."""
    is_merged: bool
    """True if it has no merge conflict."""
    flags: int
    modified_ns: int
    changed_ns: int
    size: int
    inode: int


class GitIndex(NamedTuple):
    """The content of git's index, compared with a commit."""

    folders: Mapping[str, Sequence[GitIndexEntry]]
    """Files by folder, in the order of a walk, so that each folder is opened once."""
    submodules: Sequence[GitIndexEntry]
    ignore_files: Sequence[str]
    """Paths of `.ignore` files, which git does not know."""
    committed: Mapping[str, str]
    """Ids in the commit where the index has others."""
    removed: Sequence[str]
    """Paths that only the commit has."""


class IndexStamp(NamedTuple):
    """Identifies a state of an index file, compared with a commit."""

    file: str
    stamp: FileStamp
    commit: str | None


@dataclass(slots=True)
class StatCache:
    """Results of the last scan of one folder and set of options. A scan replaces the tables, never mutates them."""

    files: Mapping[str, SourceFile] = field(default_factory=dict[str, SourceFile])
    """Files that were read; the decision about a file depends only on its path and content."""
    stamps: Mapping[str, FileStamp] = field(default_factory=dict[str, FileStamp])
    """Stamps of files whose content was read to compute the id."""
    indexes: Mapping[IndexStamp, GitIndex] = field(default_factory=dict[IndexStamp, GitIndex])
    skip_reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    """Reasons by path for files that are skipped whatever their content."""


def index_stamp(index: str, commit: str | None) -> IndexStamp | None:
    """Return the stamp of a git index; None when it is so new that a rewrite could go unnoticed."""
    try:
        status = Path(index).stat()
    except OSError:
        return None
    if status.st_mtime_ns > time.time_ns() - RACY_NS:
        return None
    stamp = FileStamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, "")
    return IndexStamp(index, stamp, commit)
