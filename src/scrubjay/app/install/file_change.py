"""A change of a configuration file: worked out first, shown, then written whole or not at all."""

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
    """What a file is and what it shall be; None for no file."""

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


def plan(file: Path, edit: Edit) -> Change:
    """What the edit makes of the file; `Conflict`, and nothing is touched, when it cannot be understood."""
    try:
        before = file.read_bytes().decode("utf-8") if file.exists() else None
    except (OSError, UnicodeDecodeError) as error:
        raise Conflict(f"{file} cannot be read: {error}", hint="mend the file first; it was not changed") from error
    is_toml = file.suffix == ".toml"
    text = before if before is not None and before.strip() else ("" if is_toml else "{}\n")
    try:
        read(file, text)
        after = _with_its_line_ends(text, edit)
        read(file, after)
    except (ValueError, RecursionError) as error:
        raise Conflict(
            f"{file} cannot be changed safely: {error}", hint="mend the file first; it was not changed"
        ) from error
    unchanged = after == text or (before is None and after.strip() in ("", "{}"))
    return Change(file, before, before if unchanged else after)


def _with_its_line_ends(text: str, edit: Edit) -> str:
    """The edited text, with the ends of lines that it had."""
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        return edit(text.replace("\r\n", "\n")).replace("\n", "\r\n")
    return edit(text)


def read(file: Path, text: str) -> Any:
    """What the file says; `ValueError` when it says nothing that can be understood."""
    found = tomllib.loads(text) if file.suffix == ".toml" else jsonc.parse(text)
    if not isinstance(found, dict):
        raise ValueError("it is no object")
    return found  # pyright: ignore[reportUnknownVariableType]


def carry_out(change: Change) -> Path | None:
    """Write the change; the copy of what was there before, when something was.

    A link stays a link, a mode stays as it was, and whoever reads meanwhile sees the old or the new, never half.
    """
    file = Path(os.path.realpath(change.file))
    try:
        if (file.read_bytes().decode("utf-8") if file.exists() else None) != change.before:
            raise Conflict(f"{file} was changed meanwhile", hint="try again; it was not changed by us")
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
        raise Unavailable(f"{file} cannot be written: {error}", hint="see whether you may write there") from error
    return backup


def _back_up(file: Path) -> Path:
    moment = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1000):
        backup = file.with_name(f"{file.name}.{moment}{f'-{number}' if number > 1 else ''}.scrubjay-backup")
        try:
            handle = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file.stat().st_mode & 0o777)
        except FileExistsError:
            continue
        with os.fdopen(handle, "wb") as copy:
            copy.write(file.read_bytes())
        return backup
    raise Conflict(f"there are too many copies of {file}", hint="remove old ones")
