"""Find the folders that git reads a folder's objects from, where the folder's own files could point it elsewhere.

A file `.git`, the file `commondir`, `objects/info/alternates` and links make git read the objects of another
repository. A folder that someone unpacked or prepared can contain them, and any revision can then be read.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# As git limits it.
_MAX_ALTERNATES_DEPTH = 5
_MAX_FILE_BYTES = 100_000
_WORK_TREE = re.compile(r"^\s*worktree\s*=\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)


def foreign_object_folders(folder: str) -> list[str]:
    """Return the resolved folders of other repositories whose objects git would read in this resolved folder.

    The repository around the folder is its own, and so is one that names the folder as its work tree: that of a linked
    work tree or of a submodule. Runs no git, and returns nothing for a folder outside of git.
    """
    for top in (Path(folder), *Path(folder).parents):
        entry = top / ".git"
        if os.path.lexists(entry):
            git_folder = _git_folder(entry)
            common = _common_folder(git_folder)
            if entry.is_dir():
                own = common == git_folder and not entry.is_symlink()
            else:
                own = git_folder.is_relative_to(common) and _names_work_tree(git_folder, top)
            foreign = [] if own else [str(common)]
            foreign += [one for one in _object_folders(common / "objects", 0) if not _is_within(one, common)]
            if foreign or (git_folder / "HEAD").exists():
                return list(dict.fromkeys(foreign))
        elif (top / "HEAD").is_file() and (top / "objects").exists() and (top / "refs").exists():  # a bare repository
            common = _common_folder(top)
            foreign = [] if common == top else [str(common)]
            return [*foreign, *(one for one in _object_folders(common / "objects", 0) if not _is_within(one, common))]
    return []


def _git_folder(entry: Path) -> Path:
    """Return the folder that `.git` is or names."""
    if entry.is_dir():
        return _resolved(entry)
    named = _text(entry).removeprefix("gitdir:").strip()
    return _resolved(entry.parent / named)


def _common_folder(git_folder: Path) -> Path:
    named = _text(git_folder / "commondir").strip()
    return _resolved(git_folder / named) if named else git_folder


def _names_work_tree(git_folder: Path, top: Path) -> bool:
    """Return True if the repository itself has this work tree: as a linked one, or as that of a submodule."""
    linked = _text(git_folder / "gitdir").strip()
    if linked and _resolved(git_folder / linked) == top / ".git":
        return True
    return any(_resolved(git_folder / found) == top for found in _WORK_TREE.findall(_text(git_folder / "config")))


def _object_folders(objects: Path, depth: int) -> Iterator[str]:
    """Yield the folders and linked files that objects are read from, with alternates."""
    yield str(_resolved(objects))
    if depth > _MAX_ALTERNATES_DEPTH:
        return
    for folder in (objects, objects / "pack", objects / "info"):
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_symlink():
                    yield str(_resolved(Path(entry.path)))
    for line in _text(objects / "info" / "alternates").splitlines():
        if line and not line.startswith("#"):
            yield from _object_folders(objects / line, depth + 1)


def _is_within(path: str, folder: Path) -> bool:
    return Path(path).is_relative_to(folder)


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return os.fsdecode(opened.read(_MAX_FILE_BYTES))
    except (OSError, ValueError):  # missing, or a path with NUL
        return ""
