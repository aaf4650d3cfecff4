"""Folders that import and export may use."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from scrubjay.core.atomic_files import already_exists
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound, Unavailable

# File systems allow 255; a temporary file has a longer name while it is written.
MAX_NAME_BYTES = 200


class TransferFolders:
    """The backup folder, and further folders that the settings allow."""

    def __init__(self, own: Path, others: Sequence[Path] = ()) -> None:
        self._own = own
        self._others = tuple(others)

    def new_file(self, given: str) -> Path:
        """Return the absolute path of a new file; its folder exists and the file does not."""
        self._ensure_own()
        path = self._resolved(given)
        if not path.parent.is_dir():
            raise InvalidRequest(f"the folder {path.parent} does not exist", hint="create it first")
        if os.path.lexists(path):
            raise already_exists(path)
        return path

    def open(self, given: str) -> tuple[BinaryIO, Path]:
        """Open a file for reader; return it with its absolute path."""
        path = self._resolved(given)
        try:
            # O_NONBLOCK: opening a named pipe would wait forever.
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        except (FileNotFoundError, NotADirectoryError):
            hint = f"put the file into {self._own}, or use the name of a file there"
            raise NotFound(f"Backup file not found at {path}", hint=hint) from None
        except OSError as error:
            raise Unavailable(f"cannot read {path} ({error.strerror})", hint="check its permissions") from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise InvalidRequest(f"{path} is not a regular file", hint="choose an exported file")
        return os.fdopen(descriptor, "rb"), path

    def _ensure_own(self) -> None:
        try:
            self._own.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable(f"cannot create {self._own} ({error.strerror})", hint="check SCRUBJAY_HOME") from error

    def _resolved(self, given: str) -> Path:
        """Resolve links and dots; relative paths are relative to the backup folder."""
        if any(len(os.fsencode(part)) > MAX_NAME_BYTES for part in Path(given).parts):
            raise InvalidRequest(f"a name in the path has more than {MAX_NAME_BYTES} bytes", hint="use a shorter name")
        path = Path(os.path.realpath(self._own / given))
        allowed = [Path(os.path.realpath(folder)) for folder in (self._own, *self._others)]
        if not any(folder in path.parents for folder in allowed):
            raise Forbidden(
                "imports and exports are limited to the allowed folders",
                hint=f"use a file in {self._own}; SCRUBJAY_TRANSFER_FOLDERS allows more folders",
                details={"folders": [str(folder) for folder in allowed]},
            )
        return path
