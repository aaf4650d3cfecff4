"""What is in the files of a snapshot: exactly what it promised, or nothing and the reason."""

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

from scrubjay.code_index.discovery.git import ended, started
from scrubjay.code_index.discovery.limits import Bounds, never
from scrubjay.code_index.discovery.rooted_reader import Beneath
from scrubjay.code_index.discovery.skip_rules import reason_by_content
from scrubjay.code_index.models import Skipped, Snapshot, SourceFile
from scrubjay.core.errors import Conflict

# Ids that git was sent and has not answered yet. They must fit into a pipe of the least size, or both sides wait.
_AHEAD = 32
_READ_BYTES = 1 << 16
_SLICE_MILLISECONDS = 200
# Git answers at once; what keeps it waiting is no plain object.
_SILENCE_MILLISECONDS = 30_000
DAMAGED = "its git object is missing or damaged"
CHANGED = "it changed since the snapshot was taken"
# By the names that git has for them; to look one up by its name takes longer than to hash a small file.
_HASHES = {"sha1": hashlib.sha1, "sha256": hashlib.sha256}


def blob_id(content: bytes, algorithm: str = "sha1") -> str:
    """The id that git gives this content."""
    found = _HASHES[algorithm](b"blob %d\0" % len(content), usedforsecurity=False)
    found.update(content)
    return found.hexdigest()


def algorithm_of(blob: str) -> str:
    """By which hash an id was made."""
    return "sha1" if len(blob) == 40 else "sha256"


class ObjectReader:
    """The contents of blobs, from one `git cat-file` that stays; it is started anew when a damaged object ends it."""

    def __init__(self, folder: str, bounds: Bounds) -> None:
        self._folder = folder
        self._bounds = bounds
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def read(self, wanted: Iterable[tuple[str, int]]) -> Iterator[bytes | None]:
        """What each blob holds, in order, if it is not longer than was said; None for one that cannot be had."""
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
            content = self._answer(most)
            yield content if content is not None and blob_id(content, algorithm_of(blob)) == blob else None

    def _send(self, blobs: Sequence[str]) -> None:
        if self._process is None:
            self._process = started(self._folder, "cat-file", "--batch", stdin=subprocess.PIPE)
        # If it has ended, the answer will tell.
        with suppress(BrokenPipeError):
            if self._process.stdin is not None:
                self._process.stdin.write(b"".join(b"%s\n" % blob.encode() for blob in blobs))
                self._process.stdin.flush()

    def _answer(self, most: int) -> bytes | None:
        head = self._until_line_end()
        if head is not None and head.endswith(b" missing"):
            return None
        parts = head.split() if head is not None else []
        if len(parts) != 3 or parts[1] != b"blob" or int(parts[2]) > most:
            self._end()
            return None
        content = self._exactly(int(parts[2]) + 1)
        if content is None:
            self._end()
            return None
        return content[:-1]

    def _until_line_end(self) -> bytes | None:
        while (end := self._buffer.find(b"\n")) < 0:
            if not self._fill():
                return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _exactly(self, length: int) -> bytes | None:
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
            self._bounds.check()
            waited += _SLICE_MILLISECONDS
            if waited > _SILENCE_MILLISECONDS:
                return False
        more = os.read(descriptor, _READ_BYTES)
        self._buffer += more
        return bool(more)

    def _end(self) -> None:
        if self._process is not None:
            ended(self._process)
        self._process = None
        self._buffer.clear()


class _Contents:
    """Reads for one snapshot: files where the content is theirs, objects where it is not."""

    def __init__(self, snapshot: Snapshot, bounds: Bounds, opened: ExitStack) -> None:
        self._snapshot = snapshot
        self._bounds = bounds
        self._opened = opened
        self._beneath = None if snapshot.from_objects else opened.enter_context(Beneath(snapshot.root))
        self._readers: dict[str, ObjectReader] = {}
        # The innermost repository first.
        self._repositories = sorted(snapshot.repositories, key=lambda item: len(item[0]), reverse=True)

    def of(self, files: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, bytes | str]]:
        """Each with its content, or the reason that there is none."""
        if self._beneath is not None:
            for file in files:
                self._bounds.check()
                yield file, self._of_work_tree(self._beneath, file)
            return
        for repository, group in groupby(files, self._repository_of):
            own = list(group)
            contents = self._reader(repository).read([(file.blob, file.size) for file in own])
            for file, content in zip(own, contents, strict=True):
                self._bounds.check()
                yield file, DAMAGED if content is None else content

    def _of_work_tree(self, beneath: Beneath, file: SourceFile) -> bytes | str:
        try:
            content = beneath.read(file.path, file.size + 1)
        except OSError:
            content = None
        if content is not None and blob_id(content, algorithm_of(file.blob)) == file.blob:
            return content
        if file.dirty or not self._snapshot.is_git:
            return CHANGED
        # Git keeps it in another form than the work tree (line ends, filters), or it has just changed: the commit's
        # content is what was promised.
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
            reader = self._readers[repository] = self._opened.enter_context(ObjectReader(repository, self._bounds))
        return reader


@contextmanager
def _contents(snapshot: Snapshot, should_stop: Callable[[], bool]) -> Generator[_Contents]:
    with ExitStack() as opened:
        yield _Contents(snapshot, Bounds(math.inf, should_stop), opened)


def _unnoted(_: Skipped) -> None:
    """Nobody asks for the reason."""


def read_contents(
    snapshot: Snapshot,
    files: Iterable[SourceFile],
    *,
    note: Callable[[Skipped], None] = _unnoted,
    should_stop: Callable[[], bool] = never,
) -> Iterator[tuple[SourceFile, bytes | None]]:
    """Each file with its content; None, and a note of the reason, for one that cannot be read or is a binary.

    Of the snapshot only the place matters, not its list of files: one without files will do.
    """
    with _contents(snapshot, should_stop) as contents:
        for file, content in contents.of(files):
            if isinstance(content, bytes) and (reason := reason_by_content(content)) is not None:
                content = reason
            if isinstance(content, str):
                note(Skipped(file.path, content))
            yield file, content if isinstance(content, bytes) else None


def changed_after(snapshot: Snapshot, files: Iterable[SourceFile], moment: float) -> set[str]:
    """The paths of those whose file is another now, and was written after this moment or is gone.

    Git may keep a file in another form than the work tree (line ends, filters): one that is older is not taken for
    changed.
    """
    if snapshot.from_objects:
        return set()
    try:
        with Beneath(snapshot.root) as beneath:
            return {file.path for file in files if _is_another(beneath, file, moment)}
    except OSError:  # the folder itself is gone
        return {file.path for file in files}


def _is_another(beneath: Beneath, file: SourceFile, moment: float) -> bool:
    try:
        # Moving a file here, or giving it back its old time, writes its entry.
        status = beneath.status(file.path)
        if max(status.st_mtime, status.st_ctime) <= moment:
            return False
        content = beneath.read(file.path, status.st_size + 1)
    except OSError:
        return True
    return file.blob not in (
        blob_id(content, algorithm_of(file.blob)),
        blob_id(content.replace(b"\r\n", b"\n"), algorithm_of(file.blob)),
    )


def still_held(snapshot: Snapshot, files: Iterable[SourceFile]) -> dict[str, bytes]:
    """What these files held when the snapshot was taken, by path; without those that do not any more."""
    try:
        with _contents(snapshot, never) as contents:
            return {file.path: content for file, content in contents.of(files) if isinstance(content, bytes)}
    except OSError:  # the folder itself is gone
        return {}


def read_content(snapshot: Snapshot, file: SourceFile) -> bytes:
    """What the file held when the snapshot was taken."""
    with _contents(snapshot, never) as contents:
        _, content = next(contents.of([file]))
    if isinstance(content, bytes):
        return content
    raise Conflict(f"{file.path} cannot be read: {content}", hint="index again, which takes a new snapshot")
