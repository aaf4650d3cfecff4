"""The only places that files of memories come from and go to."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from scrubjay.core.atomic_files import taken
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound, Unavailable

# No file system takes more than 255; while a file is written it has a longer name.
LONGEST_NAME_BYTES = 200


class TransferFolders:
    """The folder for backups, and others that whoever runs the server allows."""

    def __init__(self, own: Path, others: Sequence[Path] = ()) -> None:
        self._own = own
        self._others = tuple(others)

    def new_file(self, given: str) -> Path:
        """The whole path of a file that is to be written; its folder exists, and it does not."""
        self._ensure_own()
        path = self._resolved(given)
        if not path.parent.is_dir():
            raise InvalidRequest(f"the folder {path.parent} does not exist", hint="make it first")
        if os.path.lexists(path):
            raise taken(path)
        return path

    def open(self, given: str) -> tuple[BinaryIO, Path]:
        """A file to read, and its whole path."""
        path = self._resolved(given)
        try:
            # What is no plain file could make us wait for ever.
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        except (FileNotFoundError, NotADirectoryError):
            hint = f"put the file into {self._own}, or give its name there"
            raise NotFound(f"Backup file not found at {path}", hint=hint) from None
        except OSError as error:
            raise Unavailable(f"{path} cannot be read ({error.strerror})", hint="look at its permissions") from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise InvalidRequest(f"{path} is not a plain file", hint="give a file of memories")
        return os.fdopen(descriptor, "rb"), path

    def _ensure_own(self) -> None:
        try:
            self._own.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable(f"{self._own} cannot be made ({error.strerror})", hint="look at SCRUBJAY_HOME") from error

    def _resolved(self, given: str) -> Path:
        """The path without links or dots. A relative one is meant in the folder for backups."""
        if any(len(os.fsencode(part)) > LONGEST_NAME_BYTES for part in Path(given).parts):
            raise InvalidRequest(
                f"a name in the path has more than {LONGEST_NAME_BYTES} bytes", hint="give a shorter one"
            )
        path = Path(os.path.realpath(self._own / given))
        allowed = [Path(os.path.realpath(folder)) for folder in (self._own, *self._others)]
        if not any(folder in path.parents for folder in allowed):
            raise Forbidden(
                "files of memories are only read and written in the folders for them",
                hint=f"use a file in {self._own}; SCRUBJAY_TRANSFER_FOLDERS allows more folders",
                details={"folders": [str(folder) for folder in allowed]},
            )
        return path
