"""Files under one folder, never reached through a symbolic link, whatever others do to the tree meanwhile."""

import os
import stat
from types import TracebackType
from typing import Self

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# What is no plain file could make us wait for ever.
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
# Each level is an open folder while we are below it.
MAX_DEPTH = 200


def raw(path: str) -> bytes:
    """A path as the file system has it."""
    return path.encode("utf-8", "surrogateescape")


def text(path: bytes) -> str:
    """A path as we have it."""
    return path.decode("utf-8", "surrogateescape")


class TooDeep(OSError):
    """The path has more folders than we enter."""


class Beneath:
    """Looks at files by their paths from the folder; neighbours in a row cost little."""

    def __init__(self, root: str) -> None:
        self._names: list[str] = []
        self._opened = [os.open(root, _FOLDER)]
        self._folder = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for descriptor in self._opened:
            os.close(descriptor)

    def folder(self, path: str) -> int:
        """The open folder; it stays open until another is asked for. Empty means the root."""
        if path == self._folder:
            return self._opened[-1]
        parts = path.split("/") if path else []
        if len(parts) > MAX_DEPTH:
            raise TooDeep(f"more than {MAX_DEPTH} folders deep")
        same = 0
        for have, want in zip(self._names, parts, strict=False):
            if have != want:
                break
            same += 1
        while len(self._names) > same:
            self._names.pop()
            os.close(self._opened.pop())
        self._folder = "/".join(self._names)
        for part in parts[same:]:
            if part in ("", ".", ".."):
                raise FileNotFoundError(path)
            self._opened.append(os.open(raw(part), _FOLDER, dir_fd=self._opened[-1]))
            self._names.append(part)
            # At each step: the next may fail, and then this is where we are.
            self._folder = f"{self._folder}/{part}" if self._folder else part
        return self._opened[-1]

    def status(self, path: str) -> os.stat_result:
        """What the file system knows of the file itself, were it a link or not."""
        folder, _, name = path.rpartition("/")
        return os.stat(raw(name), dir_fd=self.folder(folder), follow_symlinks=False)

    def read(self, path: str, most: int) -> bytes:
        """At most so many bytes of a plain file."""
        folder, _, name = path.rpartition("/")
        descriptor = os.open(raw(name), _FILE, dir_fd=self.folder(folder))
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileNotFoundError(path)
            content = os.read(descriptor, most)
            while len(content) < most and (more := os.read(descriptor, most - len(content))):
                content += more
            return content
        finally:
            os.close(descriptor)
