"""Changes of configuration files: planned first, shown as a diff, then written atomically."""

import difflib
import os
import tempfile
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrubjay.app.install import jsonc
from scrubjay.core.errors import Conflict, Unavailable

Edit = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Change:
    """The content of a file before and after a change; None for no file."""

    file: Path
    before: str | None
    after: str | None

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    @property
    def diff(self) -> str:
        before, after = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        lines = difflib.unified_diff(before, after, str(self.file), str(self.file))
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def plan_change(file: Path, edit: Edit) -> Change:
    """Return the change that an edit makes to a file. Raise `Conflict` if the file cannot be parsed or edited."""
    try:
        before = file.read_bytes().decode("utf-8") if file.exists() else None
    except (OSError, UnicodeDecodeError) as error:
        raise Conflict(f"cannot read {file}: {error}", hint="fix the file first; it was not changed") from error
    is_toml = file.suffix == ".toml"
    text = before if before is not None and before.strip() else ("" if is_toml else "{}\n")
    try:
        read(file, text)
        after = _edit_keeping_line_ends(text, edit)
        read(file, after)
    except (ValueError, RecursionError) as error:
        raise Conflict(
            f"cannot change {file} safely: {error}", hint="fix the file first; it was not changed"
        ) from error
    unchanged = after == text or (before is None and after.strip() in ("", "{}"))
    return Change(file, before, before if unchanged else after)


def _edit_keeping_line_ends(text: str, edit: Edit) -> str:
    """Return the edited text with its original line ends."""
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        return edit(text.replace("\r\n", "\n")).replace("\n", "\r\n")
    return edit(text)


def read(file: Path, text: str) -> Any:
    """Parse the text as TOML or JSON with comments, by the file's suffix. Raise `ValueError` unless it is an object."""
    found = tomllib.loads(text) if file.suffix == ".toml" else jsonc.parse(text)
    if not isinstance(found, dict):
        raise ValueError("the top level is not an object")
    return found  # pyright: ignore[reportUnknownVariableType]


def apply_change(change: Change) -> Path | None:
    """Write the change atomically and return the backup of the previous file, if there was one.

    Symbolic links and the file's mode are preserved.
    """
    file = Path(os.path.realpath(change.file))
    try:
        if (file.read_bytes().decode("utf-8") if file.exists() else None) != change.before:
            raise Conflict(f"{file} was changed by another program in between", hint="try again; nothing was written")
        backup = _back_up(file) if change.before is not None else None
        if change.after is None:
            file.unlink(missing_ok=True)
            return backup
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = file.stat().st_mode & 0o7777 if change.before is not None else 0o600
        handle, unfinished = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "wb") as written:
                written.write(change.after.encode())
                written.flush()
                os.fsync(written.fileno())
            Path(unfinished).chmod(mode)
            Path(unfinished).replace(file)
        except BaseException:
            Path(unfinished).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise Unavailable(f"cannot write {file}: {error}", hint="check the permissions of the folder") from error
    return backup


def _back_up(file: Path) -> Path:
    timestamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1000):
        backup = file.with_name(f"{file.name}.{timestamp}{f'-{number}' if number > 1 else ''}.scrubjay-backup")
        try:
            handle = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file.stat().st_mode & 0o777)
        except FileExistsError:
            continue
        with os.fdopen(handle, "wb") as copy:
            copy.write(file.read_bytes())
        return backup
    raise Conflict(f"too many backups of {file}", hint="delete old ones")
