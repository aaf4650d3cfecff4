"""Read the contents of the files of a snapshot: exactly what it recorded, or nothing and the reason."""

import hashlib
import math
import os
import select
import subprocess
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import groupby
from types import TracebackType
from typing import Self

from scrubjay.code_index.discovery.git import start_git, stop_process
from scrubjay.code_index.discovery.limits import Deadline, never
from scrubjay.code_index.discovery.rooted_reader import RootedReader
from scrubjay.code_index.discovery.skip_rules import reason_by_content
from scrubjay.code_index.models import Skipped, Snapshot, SourceFile
from scrubjay.core.errors import Conflict

# Ids sent to git and not answered yet. They must fit into the smallest pipe, or both sides block.
_AHEAD = 32
_READ_BYTES = 1 << 16
_SLICE_MILLISECONDS = 200
# Git answers at once unless the file is not a regular object.
_SILENCE_MILLISECONDS = 30_000
DAMAGED = "its git object is missing or damaged"
CHANGED = "it changed since the snapshot was taken"
# Constructors by git's names: looking one up in hashlib takes longer than hashing a small file.
_HASHES = {"sha1": hashlib.sha1, "sha256": hashlib.sha256}


def blob_id(content: bytes, algorithm: str = "sha1") -> str:
    """Return the id that git gives this content."""
    found = _HASHES[algorithm](b"blob %d\0" % len(content), usedforsecurity=False)
    found.update(content)
    return found.hexdigest()


def hash_algorithm(blob: str) -> str:
    """Return the hash algorithm that made an id."""
    return "sha1" if len(blob) == 40 else "sha256"


class ObjectReader:
    """Reads blobs through one `git cat-file` process, which is restarted when a damaged object ends it."""

    def __init__(self, folder: str, deadline: Deadline) -> None:
        self._folder = folder
        self._deadline = deadline
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def read(self, wanted: Iterable[tuple[str, int]]) -> Iterator[bytes | None]:
        """Yield the content of each blob, in order; None if it is unavailable or longer than its given size."""
        waiting: deque[tuple[str, int]] = deque()
        coming = iter(wanted)
        sent = 0
        while True:
            while len(waiting) < _AHEAD and (following := next(coming, None)) is not None:
                waiting.append(following)
            if not waiting:
                return
            if self._process is None:
                sent = 0
            self._send([blob for blob, _ in list(waiting)[sent:]])
            sent = len(waiting) - 1
            blob, most = waiting.popleft()
            content = self._read_object(most)
            yield content if content is not None and blob_id(content, hash_algorithm(blob)) == blob else None

    def _send(self, blobs: Sequence[str]) -> None:
        if self._process is None:
            self._process = start_git(self._folder, "cat-file", "--batch", stdin=subprocess.PIPE)
        # If the process has ended, reading the answer fails.
        with suppress(BrokenPipeError):
            if self._process.stdin is not None:
                self._process.stdin.write(b"".join(b"%s\n" % blob.encode() for blob in blobs))
                self._process.stdin.flush()

    def _read_object(self, most: int) -> bytes | None:
        head = self._read_line()
        if head is not None and head.endswith(b" missing"):
            return None
        parts = head.split() if head is not None else []
        if len(parts) != 3 or parts[1] != b"blob" or int(parts[2]) > most:
            self._stop()
            return None
        content = self._read_exactly(int(parts[2]) + 1)
        if content is None:
            self._stop()
            return None
        return content[:-1]

    def _read_line(self) -> bytes | None:
        while (end := self._buffer.find(b"\n")) < 0:
            if not self._fill():
                return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _read_exactly(self, length: int) -> bytes | None:
        while len(self._buffer) < length:
            if not self._fill():
                return None
        content = bytes(self._buffer[:length])
        del self._buffer[:length]
        return content

    def _fill(self) -> bool:
        if self._process is None or self._process.stdout is None:
            return False
        descriptor = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        waited = 0
        while not poll.poll(_SLICE_MILLISECONDS):
            self._deadline.check()
            waited += _SLICE_MILLISECONDS
            if waited > _SILENCE_MILLISECONDS:
                return False
        more = os.read(descriptor, _READ_BYTES)
        self._buffer += more
        return bool(more)

    def _stop(self) -> None:
        if self._process is not None:
            stop_process(self._process)
        self._process = None
        self._buffer.clear()


class _ContentReader:
    """Reads the contents of one snapshot: from files where they are unchanged, else from git objects."""

    def __init__(self, snapshot: Snapshot, deadline: Deadline, opened: ExitStack) -> None:
        self._snapshot = snapshot
        self._deadline = deadline
        self._opened = opened
        self._rooted = None if snapshot.from_objects else opened.enter_context(RootedReader(snapshot.root))
        self._readers: dict[str, ObjectReader] = {}
        # Innermost repository first.
        self._repositories = sorted(snapshot.repositories, key=lambda item: len(item[0]), reverse=True)

    def read(self, files: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, bytes | str]]:
        """Yield each file with its content, or with the reason that there is none."""
        if self._rooted is not None:
            for file in files:
                self._deadline.check()
                yield file, self._read_work_tree_file(self._rooted, file)
            return
        for repository, group in groupby(files, self._repository_of):
            own = list(group)
            contents = self._reader(repository).read([(file.blob, file.size) for file in own])
            for file, content in zip(own, contents, strict=True):
                self._deadline.check()
                yield file, DAMAGED if content is None else content

    def _read_work_tree_file(self, rooted: RootedReader, file: SourceFile) -> bytes | str:
        try:
            content = rooted.read(file.path, file.size + 1)
        except OSError:
            content = None
        if content is not None and blob_id(content, hash_algorithm(file.blob)) == file.blob:
            return content
        if file.dirty or not self._snapshot.is_git:
            return CHANGED
        # Git stores it in another form than the work tree (line endings, filters), or it has just changed: return the
        # committed content, which is what the snapshot recorded.
        reader = self._reader(self._repository_of(file))
        found = next(iter(reader.read([(file.blob, 2 * file.size + 1024)])), None)
        return DAMAGED if found is None else found

    def _repository_of(self, file: SourceFile) -> str:
        for prefix, folder in self._repositories:
            if file.path.startswith(prefix + "/"):
                return folder
        return self._snapshot.root

    def _reader(self, repository: str) -> ObjectReader:
        if (reader := self._readers.get(repository)) is None:
            reader = self._readers[repository] = self._opened.enter_context(ObjectReader(repository, self._deadline))
        return reader


@contextmanager
def _open_contents(snapshot: Snapshot, should_stop: Callable[[], bool]) -> Generator[_ContentReader]:
    with ExitStack() as opened:
        yield _ContentReader(snapshot, Deadline(math.inf, should_stop), opened)


def _ignore_skipped(_: Skipped) -> None:
    """Ignore the reason; the default callback."""


def read_contents(
    snapshot: Snapshot,
    files: Iterable[SourceFile],
    *,
    note: Callable[[Skipped], None] = _ignore_skipped,
    should_stop: Callable[[], bool] = never,
) -> Iterator[tuple[SourceFile, bytes | None]]:
    """Yield each file with its content; None for an unreadable or binary one, after calling `note` with the reason.

    Of the snapshot only the location is used, not its list of files, which may be empty.
    """
    with _open_contents(snapshot, should_stop) as contents:
        for file, content in contents.read(files):
            if isinstance(content, bytes) and (reason := reason_by_content(content)) is not None:
                content = reason
            if isinstance(content, str):
                note(Skipped(file.path, content))
            yield file, content if isinstance(content, bytes) else None


def changed_after(snapshot: Snapshot, files: Iterable[SourceFile], moment: float) -> set[str]:
    """Return the paths of files whose content differs now and which were written after `moment`, or are gone.

    Git may store a file in another form than the work tree (line endings, filters), so an older file counts as
    unchanged.
    """
    if snapshot.from_objects:
        return set()
    try:
        with RootedReader(snapshot.root) as rooted:
            return {file.path for file in files if _has_changed(rooted, file, moment)}
    except OSError:  # the folder itself is gone
        return {file.path for file in files}


def _has_changed(rooted: RootedReader, file: SourceFile, moment: float) -> bool:
    try:
        # Moving a file here, or restoring its old mtime, changes its ctime.
        status = rooted.status(file.path)
        if max(status.st_mtime, status.st_ctime) <= moment:
            return False
        content = rooted.read(file.path, status.st_size + 1)
    except OSError:
        return True
    return file.blob not in (
        blob_id(content, hash_algorithm(file.blob)),
        blob_id(content.replace(b"\r\n", b"\n"), hash_algorithm(file.blob)),
    )


def read_unchanged(snapshot: Snapshot, files: Iterable[SourceFile]) -> dict[str, bytes]:
    """Return the contents of these files by path, without those that changed since the snapshot."""
    try:
        with _open_contents(snapshot, never) as contents:
            return {file.path: content for file, content in contents.read(files) if isinstance(content, bytes)}
    except OSError:  # the folder itself is gone
        return {}


def read_content(snapshot: Snapshot, file: SourceFile) -> bytes:
    """Return the content that the file had when the snapshot was taken. Raises `Conflict` if it is unavailable."""
    with _open_contents(snapshot, never) as contents:
        _, content = next(contents.read([file]))
    if isinstance(content, bytes):
        return content
    raise Conflict(f"{file.path} cannot be read: {content}", hint="index again to take a new snapshot")
