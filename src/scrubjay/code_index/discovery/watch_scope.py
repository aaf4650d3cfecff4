"""Where changes count: the folders of a tree that nobody says to ignore, and which paths in them matter."""

import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scrubjay.code_index.discovery.file_collector import Gathering
from scrubjay.code_index.discovery.folders import RULE_FILES, rules_of_the_user, walked
from scrubjay.code_index.discovery.git import GitFailed
from scrubjay.code_index.discovery.git_repository import find_repository
from scrubjay.code_index.discovery.ignore_rules import TOOL_FOLDERS, IgnoreRules
from scrubjay.code_index.discovery.limits import Bounds, Limits, never
from scrubjay.code_index.discovery.rooted_reader import Beneath
from scrubjay.code_index.discovery.skip_rules import reason_by_path
from scrubjay.core.errors import NotFound, Unavailable

# What git writes when the commit, the branch or the index is another; all else is its own affair.
_OF_GIT = re.compile(r"(?:HEAD|index|packed-refs|info/exclude|refs/heads/.+)(?<!\.lock)")
# While git writes files it holds this; whoever crashed has left it behind.
_BUSY = "index.lock"
_BUSY_SECONDS = 10.0


@dataclass(frozen=True)
class Territory:
    """A tree at one moment, as far as its changes count."""

    root: str
    identity: tuple[int, int]
    """Of the root: a folder that has come in its place has another."""
    folders: frozenset[str]
    """Those whose changes count, as absolute paths."""
    git: Sequence[str]
    """Where git keeps what it knows of the tree: of this work tree, and of all of them."""
    known: Collection[str]
    rules: IgnoreRules
    excludes: Callable[[str], bool]

    @property
    def watched(self) -> list[str]:
        """Every folder in which something can happen that matters."""
        return sorted({*self.folders, *_folders_of_git(self.git)})

    @property
    def is_there(self) -> bool:
        """Whether the root is still the folder that it was."""
        return _identity(self.root) == self.identity

    def matters(self, path: str) -> bool:
        """Whether the index may be another after a change of this path, which is absolute."""
        for folder in self.git:
            if path.startswith(folder + "/"):
                return _OF_GIT.fullmatch(path[len(folder) + 1 :]) is not None
        if not path.startswith(self.root + "/"):
            return path == self.root
        own = path[len(self.root) + 1 :]
        if own in self.known:
            return True
        if not TOOL_FOLDERS.isdisjoint(own.split("/")):
            return False
        if is_folder(path) or path in self.folders:
            own += "/"
        elif reason_by_path(own) is not None:
            return False
        return not self.excludes(own) and not self.rules.ignores(own)

    def hears(self, path: str) -> bool:
        """Whether changes of this file, by its path from the root, are in a folder that counts."""
        return _joined(self.root, path.rpartition("/")[0]) in self.folders

    def is_another(self, paths: Iterable[str]) -> bool:
        """Whether after these changes, which matter, folders have to be watched that were not."""
        names = {rule_file.rpartition("/")[2] for rule_file in RULE_FILES}
        return not self.is_there or any(path.rpartition("/")[2] in names or is_folder(path) for path in paths)

    @property
    def git_is_busy(self) -> bool:
        """Whether git is writing files, so that more will change in a moment."""
        for folder in self.git:
            try:
                if time.time() - (Path(folder) / _BUSY).stat().st_mtime < _BUSY_SECONDS:
                    return True
            except OSError:
                continue
        return False


def survey(
    root: str,
    known: Collection[str] = (),
    *,
    limits: Limits | None = None,
    excludes: Sequence[str] = (),
    should_stop: Callable[[], bool] = never,
) -> Territory:
    """The tree as it is now. `known` are the files that count whatever rules say, by their paths from the root."""
    limits = limits or Limits()
    gathering = Gathering(Bounds(limits.seconds, should_stop), limits, excludes)
    identity = _identity(root)
    try:
        rules = rules_of_the_user(root, gathering.bounds)
        with Beneath(root) as beneath:
            folders = {_joined(root, folder) for folder, _ in walked(gathering, beneath, rules)}
    except OSError as error:
        raise NotFound(f"there is no folder {root} any more ({error.strerror})", hint="see where it went") from error
    for path in known:
        folder = path.rpartition("/")[0]
        while (whole := _joined(root, folder)) not in folders and is_folder(whole):
            folders.add(whole)
            folder = folder.rpartition("/")[0]
    return Territory(root, identity, frozenset(folders), _git(root, gathering.bounds), known, rules, gathering.excludes)


def is_folder(path: str) -> bool:
    """Whether it is one, and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _joined(root: str, path: str) -> str:
    return f"{root}/{path}" if path else root


def _identity(root: str) -> tuple[int, int]:
    try:
        status = os.lstat(root)
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def _git(root: str, bounds: Bounds) -> list[str]:
    """The folders in which git keeps what it knows of the tree; none if it is in no repository."""
    try:
        repository = find_repository(root, bounds)
    except (GitFailed, Unavailable):
        bounds.check()
        return []
    if repository is None:
        return []
    own = os.path.realpath(Path(repository.index).parent)
    try:
        common = os.path.realpath(Path(own) / (Path(own) / "commondir").read_text("utf-8").strip())
    except (OSError, ValueError):
        return [own]
    return [own, common]


def _folders_of_git(git: Iterable[str]) -> Iterable[str]:
    for folder in git:
        for kept in (folder, f"{folder}/info"):
            if is_folder(kept):
                yield kept
        for heads, _, _ in os.walk(f"{folder}/refs/heads"):
            yield heads
