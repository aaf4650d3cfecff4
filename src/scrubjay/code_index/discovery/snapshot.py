"""A repository, or a plain folder, at one moment; and how two moments differ."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scrubjay.code_index.discovery.file_collector import Gathering
from scrubjay.code_index.discovery.folders import gather_folder
from scrubjay.code_index.discovery.git import GitFailed, ask
from scrubjay.code_index.discovery.git_repository import (
    Repository,
    commit_of,
    find_repository,
    gather_tree,
    gather_work_tree,
)
from scrubjay.code_index.discovery.limits import Bounds, Limits, never
from scrubjay.code_index.discovery.rooted_reader import Beneath, raw
from scrubjay.code_index.discovery.stat_cache import Remembered
from scrubjay.code_index.models import Snapshot
from scrubjay.core.errors import InvalidRequest, NotFound, Unavailable

WORK_TREE = "HEAD"


class Changes(NamedTuple):
    """The paths by which one moment differs from an earlier one, each ascending."""

    added: list[str]
    modified: list[str]
    removed: list[str]


def take_snapshot(
    path: str | Path,
    *,
    rev: str = WORK_TREE,
    limits: Limits | None = None,
    excludes: Sequence[str] = (),
    remembered: Remembered | None = None,
    should_stop: Callable[[], bool] = never,
) -> Snapshot:
    """Which files there are under the folder, with the ids of their contents.

    HEAD means the work tree as it is, with what is not committed; any other revision is read from git's objects alone.
    `remembered` is what earlier snapshots noted that were asked for alike: what it tells is not looked at again.
    """
    limits = limits or Limits()
    root = _resolved(path)
    remembered = remembered or Remembered()
    gathering = Gathering(Bounds(limits.seconds, should_stop), limits, excludes, remembered)
    found = _found(root, rev, gathering)
    gathering.remember(remembered)
    return found


def _found(root: str, rev: str, gathering: Gathering) -> Snapshot:
    repository = _repository(root, gathering.bounds)
    if repository is None:
        return _of_folder(root, rev, gathering)
    if rev == WORK_TREE and repository.has_files:
        return _of_work_tree(root, repository, gathering)
    if rev == WORK_TREE and repository.is_elsewhere:
        raise InvalidRequest(
            f"the repository at {root} is configured to have its files elsewhere",
            hint="index that folder, or name a revision to read it from git's objects",
        )
    return _of_objects(root, rev, repository, gathering)


def changed_paths(old: Snapshot, new: Snapshot) -> Changes:
    """How the newer differs from the older."""
    before = {file.path: (file.blob, file.language) for file in old.files}
    after = {file.path: (file.blob, file.language) for file in new.files}
    return Changes(
        [path for path in after if path not in before],
        [path for path, content in after.items() if before.get(path, content) != content],
        [path for path in before if path not in after],
    )


def snapshot_key(snapshot: Snapshot, options: Mapping[str, Any]) -> str:
    """The same for the same contents under the same options, wherever they are."""
    found = hashlib.sha256(json.dumps(options, sort_keys=True).encode())
    for file in snapshot.files:
        found.update(b"\0%s\0%s\0%s" % (raw(file.path), file.blob.encode(), file.language.value.encode()))
    return found.hexdigest()


def _resolved(path: str | Path) -> str:
    if "\0" in str(path):
        raise InvalidRequest("a path has no NUL in it", hint="give the path of a folder")
    try:
        root = os.path.realpath(path, strict=True)
        with os.scandir(root):
            return root
    except NotADirectoryError:
        raise InvalidRequest(f"{path} is not a folder", hint="give the folder of a repository") from None
    except FileNotFoundError:
        raise NotFound(f"there is no folder {path}", hint="give the path of a folder on this machine") from None
    except OSError as error:
        raise Unavailable(f"{path} cannot be read ({error.strerror})", hint="look at its permissions") from error


def _repository(root: str, bounds: Bounds) -> Repository | None:
    try:
        return find_repository(root, bounds)
    except Unavailable:
        bounds.check()
        folders = [Path(root), *Path(root).parents]
        if not _has_git() and not any((folder / ".git").exists() for folder in folders):
            return None  # a plain folder needs no git
        raise


def _has_git() -> bool:
    from shutil import which

    return which("git") is not None


def _of_folder(root: str, rev: str, gathering: Gathering) -> Snapshot:
    if rev != WORK_TREE:
        raise InvalidRequest(
            f"{root} is not in a git repository, so it has no revision {rev!r}", hint="leave out the revision"
        )
    with Beneath(root) as beneath:
        gather_folder(root, gathering, beneath)
    return _snapshot(root, rev, None, gathering, is_git=False)


def _of_work_tree(root: str, repository: Repository, gathering: Gathering) -> Snapshot:
    with Beneath(root) as beneath:
        gather_work_tree(repository, repository.commit, gathering, beneath)
        if not repository.is_top and gathering.is_empty and _is_ignored(root, gathering.bounds):
            # Whoever asks for a folder that its repository ignores means the folder.
            gather_folder(root, gathering, beneath)
            return _snapshot(root, WORK_TREE, None, gathering, is_git=False)
    return _snapshot(root, WORK_TREE, repository.commit, gathering)


def _of_objects(root: str, rev: str, repository: Repository, gathering: Gathering) -> Snapshot:
    commit = commit_of(repository, rev, gathering.bounds)
    gather_tree(repository, commit, gathering)
    return _snapshot(root, rev, commit, gathering, from_objects=True)


def _is_ignored(root: str, bounds: Bounds) -> bool:
    try:
        ask(root, bounds, "check-ignore", "--quiet", ".")
    except GitFailed:
        return False
    return True


def _snapshot(
    root: str,
    rev: str,
    commit: str | None,
    gathering: Gathering,
    *,
    is_git: bool = True,
    from_objects: bool = False,
) -> Snapshot:
    files, skipped = gathering.found()
    return Snapshot(
        root=root,
        rev=rev,
        commit=commit,
        files=files,
        skipped=skipped,
        is_git=is_git,
        from_objects=from_objects,
        removed=sorted(gathering.removed),
        repositories=sorted(gathering.repositories),
    )
