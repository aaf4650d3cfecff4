"""Find the folders of a tree that must be watched, and decide which changed paths matter."""

import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scrubjay.code_index.discovery.file_collector import FileCollector
from scrubjay.code_index.discovery.folders import RULE_FILES, global_ignore_rules, walk_folders
from scrubjay.code_index.discovery.git import GitFailed
from scrubjay.code_index.discovery.git_repository import find_repository
from scrubjay.code_index.discovery.ignore_rules import TOOL_FOLDERS, IgnoreRules
from scrubjay.code_index.discovery.limits import Deadline, IndexLimits, never
from scrubjay.code_index.discovery.rooted_reader import RootedReader
from scrubjay.code_index.discovery.skip_rules import reason_by_path
from scrubjay.core.errors import NotFound, Unavailable
from scrubjay.core.protected_paths import ProtectedPaths

# Files that git writes when the commit, the branch or the index changes. Its other files do not matter.
_RELEVANT_GIT_FILE = re.compile(r"(?:HEAD|index|packed-refs|info/exclude|refs/heads/.+)(?<!\.lock)")
# Git holds this lock while it writes files; a crash leaves it behind.
_BUSY = "index.lock"
_BUSY_SECONDS = 10.0
_NOTHING_PROTECTED = ProtectedPaths()


@dataclass(frozen=True)
class WatchScope:
    """The watched part of a tree, at one moment."""

    root: str
    identity: tuple[int, int]
    """Device and inode of the root: a folder that replaced it has others."""
    folders: frozenset[str]
    """Folders that are not ignored, as absolute paths."""
    git: Sequence[str]
    """Git directories: that of this work tree, and the common one."""
    known: Collection[str]
    rules: IgnoreRules
    excludes: Callable[[str], bool]

    @property
    def watched_folders(self) -> list[str]:
        """All folders to watch."""
        return sorted({*self.folders, *_watched_git_folders(self.git)})

    @property
    def root_is_unchanged(self) -> bool:
        """True if the root is still the same folder."""
        return _identity(self.root) == self.identity

    def is_relevant(self, path: str) -> bool:
        """Return whether a change of this absolute path may change the index."""
        for folder in self.git:
            if path.startswith(folder + "/"):
                return _RELEVANT_GIT_FILE.fullmatch(path[len(folder) + 1 :]) is not None
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

    def covers(self, path: str) -> bool:
        """Return whether this file, relative to the root, is in a watched folder."""
        return _join(self.root, path.rpartition("/")[0]) in self.folders

    def is_outdated_by(self, paths: Iterable[str]) -> bool:
        """Return whether these relevant changes require watching other folders."""
        names = {rule_file.rpartition("/")[2] for rule_file in RULE_FILES}
        return not self.root_is_unchanged or any(path.rpartition("/")[2] in names or is_folder(path) for path in paths)

    @property
    def git_is_busy(self) -> bool:
        """True if git is writing files, so that more changes follow shortly."""
        for folder in self.git:
            try:
                if time.time() - (Path(folder) / _BUSY).stat().st_mtime < _BUSY_SECONDS:
                    return True
            except OSError:
                continue
        return False


def find_watch_scope(
    root: str,
    known: Collection[str] = (),
    *,
    limits: IndexLimits | None = None,
    excludes: Sequence[str] = (),
    should_stop: Callable[[], bool] = never,
    protected: ProtectedPaths = _NOTHING_PROTECTED,
) -> WatchScope:
    """Scan the tree. `known` are files, relative to the root, that are watched whatever the ignore rules say."""
    limits = limits or IndexLimits()
    deadline = Deadline(limits.seconds, should_stop)
    collector = FileCollector(deadline, limits, excludes, None, protected.below(root), protected.identities)
    identity = _identity(root)
    try:
        rules = global_ignore_rules(root, collector.deadline)
        with RootedReader(root, collector.kept_out_folders) as rooted:
            folders = {_join(root, folder) for folder, _ in walk_folders(collector, rooted, rules)}
    except OSError as error:
        raise NotFound(f"the folder {root} is gone ({error.strerror})", hint="check whether it was moved") from error
    for path in known:
        folder = path.rpartition("/")[0]
        while (whole := _join(root, folder)) not in folders and is_folder(whole):
            folders.add(whole)
            folder = folder.rpartition("/")[0]
    return WatchScope(
        root, identity, frozenset(folders), _git_folders(root, collector.deadline), known, rules, collector.excludes
    )


def is_folder(path: str) -> bool:
    """Return whether the path is a folder and not a link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _join(root: str, path: str) -> str:
    return f"{root}/{path}" if path else root


def _identity(root: str) -> tuple[int, int]:
    try:
        status = os.lstat(root)
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def _git_folders(root: str, deadline: Deadline) -> list[str]:
    """Return the git directories of the tree; none if it is not in a repository."""
    try:
        repository = find_repository(root, deadline)
    except (GitFailed, Unavailable):
        deadline.check()
        return []
    if repository is None:
        return []
    own = os.path.realpath(Path(repository.index).parent)
    try:
        common = os.path.realpath(Path(own) / (Path(own) / "commondir").read_text("utf-8").strip())
    except (OSError, ValueError):
        return [own]
    return [own, common]


def _watched_git_folders(git: Iterable[str]) -> Iterable[str]:
    for folder in git:
        for watched in (folder, f"{folder}/info"):
            if is_folder(watched):
                yield watched
        for heads, _, _ in os.walk(f"{folder}/refs/heads"):
            yield heads
