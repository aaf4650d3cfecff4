"""Writing a file so that others see either what it was or what it becomes, and nothing between."""

import ctypes
import errno
import os
import secrets
import stat
from contextlib import suppress

from scrubjay.core.errors import Conflict
from scrubjay.features.workspace.files.root import Parts, Root, problem_with, too_large

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_USUAL_MODE = 0o666
_NO_REPLACE = 1


def replace(root: Root, parts: Parts, data: bytes, before: os.stat_result | None) -> None:
    """Let a file have this content; `before` is what it was when it was read, or None when it was not there.

    Somebody who changed it meanwhile is not overwritten: that is a `Conflict`.
    """
    if len(data) > root.max_file_bytes:
        raise too_large(f"what {root.text(parts)} would become", root.max_file_bytes)
    if not parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    *folders, name = parts
    with root.folder(tuple(folders), make=before is None) as folder:
        beside = f".{name[:100]}.{secrets.token_hex(6)}.tmp"
        written = os.open(beside, _NEW, 0o600, dir_fd=folder)
        try:
            try:
                _fill(written, data, before)
            finally:
                os.close(written)
            _refuse_changed(root, parts, folder, before)
            if before is None:
                move_beside(folder, beside, folder, name)
            else:
                os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside, dir_fd=folder)
            raise
        os.fsync(folder)


def move_beside(from_folder: int, name: str, to_folder: int, new_name: str) -> None:
    """Rename what is in one open folder to be in another; `FileExistsError` when something is there already."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is not None:
        if rename(from_folder, os.fsencode(name), to_folder, os.fsencode(new_name), _NO_REPLACE) == 0:
            return
        problem = ctypes.get_errno()
        if problem not in (errno.EINVAL, errno.ENOSYS):  # which say that this file system cannot do it
            raise OSError(problem, os.strerror(problem))
    with suppress(FileNotFoundError):
        os.stat(new_name, dir_fd=to_folder, follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    os.rename(name, new_name, src_dir_fd=from_folder, dst_dir_fd=to_folder)


def _fill(written: int, data: bytes, before: os.stat_result | None) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(written, left) :]
    if before is None:
        mask = os.umask(0o077)
        os.umask(mask)
        os.fchmod(written, _USUAL_MODE & ~mask)
    else:
        with suppress(PermissionError):  # it becomes ours, as with any editor
            os.fchown(written, before.st_uid, before.st_gid)
        os.fchmod(written, stat.S_IMODE(before.st_mode))
    os.fsync(written)


def _refuse_changed(root: Root, parts: Parts, folder: int, before: os.stat_result | None) -> None:
    if before is None:
        return
    try:
        now = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError as error:
        raise problem_with(root.text(parts), error) from error
    if (now.st_ino, now.st_mtime_ns, now.st_size) != (before.st_ino, before.st_mtime_ns, before.st_size):
        raise Conflict(
            f"{root.text(parts)} was changed by somebody else meanwhile", hint="read it again, and try again"
        )
