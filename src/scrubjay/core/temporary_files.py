"""Temporary files named after their process, and the removal of those whose process was killed.

A name ends in the process id and eight random hexadecimal digits: `memories.bin.4711.3b419b49`.
"""

import os
import re
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_NAME = re.compile(r"\.(\d{1,10})\.[0-9a-f]{8}(?:-wal|-shm|-journal)?$", re.ASCII)
# A process in another container may share the folder, and its id means another process here: what it wrote in the last
# minute stays. A process id that is in use again keeps a file only for a day.
_MIN_AGE_SECONDS, _MAX_AGE_SECONDS = 60.0, 86_400.0
# The time of a folder does not change with the files in its subfolders.
_MIN_FOLDER_AGE_SECONDS = 3600.0


def temporary_beside(target: Path) -> Path:
    """Return an unused path in the same folder; `remove_abandoned` removes the file if this process is killed."""
    return target.with_name(f"{target.name}.{os.getpid()}.{os.urandom(4).hex()}")


def remove_abandoned(folders: Iterable[Path]) -> list[Path]:
    """Remove temporary files and folders in these folders whose process has ended; return what was removed."""
    removed: list[Path] = []
    for folder in folders:
        with suppress(OSError):  # missing, or not ours: nothing depends on the removal
            removed += [path for path in _abandoned(folder) if _remove(path)]
    return removed


def _abandoned(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        found = [(entry, name) for entry in entries if (name := _NAME.search(entry.name))]
        return [Path(entry.path) for entry, name in found if _is_abandoned(entry, int(name[1]))]


def _is_abandoned(entry: "os.DirEntry[str]", process: int) -> bool:
    age = time.time() - entry.stat(follow_symlinks=False).st_mtime
    min_age = _MIN_FOLDER_AGE_SECONDS if entry.is_dir(follow_symlinks=False) else _MIN_AGE_SECONDS
    return age > (_MAX_AGE_SECONDS if _is_running(process) else min_age)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        return True
    return True


def _remove(path: Path) -> bool:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError:
        return False
    return True
