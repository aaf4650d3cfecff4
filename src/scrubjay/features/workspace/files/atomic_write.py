"""Atomic writes: other processes see either the old or the new content of a file."""

import ctypes
import errno
import os
import secrets
import stat
from contextlib import suppress

from scrubjay.core.errors import Conflict
from scrubjay.features.workspace.files.root import Parts, Root, too_large, translate_os_error

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DEFAULT_MODE = 0o666
_NO_REPLACE = 1


def replace_file(root: Root, parts: Parts, data: bytes, before: os.stat_result | None) -> None:
    """Replace the content of a file atomically and durably, and keep its owner and mode.

    `before` is its status when it was read, or None for a new file. Raise `Conflict` if it has changed since then.
    """
    if len(data) > root.max_file_bytes:
        raise too_large(f"the new content of {root.text(parts)}", root.max_file_bytes)
    if not parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    *folders, name = parts
    with root.folder(tuple(folders), create=before is None) as folder:
        temporary = f".{name[:100]}.{secrets.token_hex(6)}.tmp"
        descriptor = os.open(temporary, _NEW, 0o600, dir_fd=folder)
        try:
            try:
                _write_content(descriptor, data, before)
            finally:
                os.close(descriptor)
            _refuse_changed(root, parts, folder, before)
            if before is None:
                rename_exclusive(folder, temporary, folder, name)
            else:
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        os.fsync(folder)


def rename_exclusive(from_folder: int, name: str, to_folder: int, new_name: str) -> None:
    """Rename between two open folders; raise `FileExistsError` if the new name exists."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is not None:
        if rename(from_folder, os.fsencode(name), to_folder, os.fsencode(new_name), _NO_REPLACE) == 0:
            return
        problem = ctypes.get_errno()
        if problem not in (errno.EINVAL, errno.ENOSYS):  # these mean that the file system does not support it
            raise OSError(problem, os.strerror(problem))
    with suppress(FileNotFoundError):
        os.stat(new_name, dir_fd=to_folder, follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    os.rename(name, new_name, src_dir_fd=from_folder, dst_dir_fd=to_folder)


def _write_content(descriptor: int, data: bytes, before: os.stat_result | None) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
    if before is None:
        mask = os.umask(0o077)
        os.umask(mask)
        os.fchmod(descriptor, _DEFAULT_MODE & ~mask)
    else:
        with suppress(PermissionError):  # then the server's user becomes the owner, as with most editors
            os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
    os.fsync(descriptor)


def _refuse_changed(root: Root, parts: Parts, folder: int, before: os.stat_result | None) -> None:
    if before is None:
        return
    try:
        current = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError as error:
        raise translate_os_error(root.text(parts), error) from error
    if (current.st_ino, current.st_mtime_ns, current.st_size) != (before.st_ino, before.st_mtime_ns, before.st_size):
        raise Conflict(
            f"{root.text(parts)} was changed by another process", hint="read it again, then repeat the change"
        )
