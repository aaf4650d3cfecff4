"""Read files under one folder, never through a symbolic link, even while others change the tree."""

import errno
import os
import stat
from collections.abc import Collection
from types import TracebackType
from typing import Self

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Opening a FIFO or device could block forever.
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
# Each level costs one file descriptor.
MAX_DEPTH = 200


def encode_path(path: str) -> bytes:
    """Encode a path for the file system."""
    return path.encode("utf-8", "surrogateescape")


def decode_path(path: bytes) -> str:
    """Decode a path from the file system."""
    return path.decode("utf-8", "surrogateescape")


class TooDeep(OSError):
    """The path has more than `MAX_DEPTH` folders."""


class RootedReader:
    """Reads files by their paths relative to a folder; consecutive files in one folder are cheap."""

    def __init__(self, root: str, refused: Collection[tuple[int, int]] = ()) -> None:
        """`refused` are devices and inodes of folders that are not opened, by whatever path they are reached."""
        self._refused = refused
        self._names: list[str] = []
        self._opened: list[int] = []
        self._open(os.fsencode(root))
        self._folder = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for descriptor in self._opened:
            os.close(descriptor)

    def open_folder(self, path: str) -> int:
        """Return a file descriptor of the folder, valid until another folder is opened. Empty means the root."""
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
            self._open(encode_path(part))
            self._names.append(part)
            # Updated at each step, because the next one may fail.
            self._folder = f"{self._folder}/{part}" if self._folder else part
        return self._opened[-1]

    def _open(self, name: bytes) -> None:
        descriptor = os.open(name, _FOLDER, dir_fd=self._opened[-1] if self._opened else None)
        if self._refused:
            found = os.fstat(descriptor)
            if (found.st_dev, found.st_ino) in self._refused:
                os.close(descriptor)
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        self._opened.append(descriptor)

    def status(self, path: str) -> os.stat_result:
        """Return the status of the file itself, without following a link."""
        folder, _, name = path.rpartition("/")
        return os.stat(encode_path(name), dir_fd=self.open_folder(folder), follow_symlinks=False)

    def read(self, path: str, max_bytes: int) -> bytes:
        """Return at most `max_bytes` bytes of a regular file."""
        folder, _, name = path.rpartition("/")
        descriptor = os.open(encode_path(name), _FILE, dir_fd=self.open_folder(folder))
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileNotFoundError(path)
            content = os.read(descriptor, max_bytes)
            while len(content) < max_bytes and (more := os.read(descriptor, max_bytes - len(content))):
                content += more
            return content
        finally:
            os.close(descriptor)
