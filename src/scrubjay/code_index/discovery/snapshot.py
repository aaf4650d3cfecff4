"""Take a snapshot of a repository or folder: its files and their content ids; and compare two snapshots."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

from scrubjay.code_index.discovery.file_collector import FileCollector
from scrubjay.code_index.discovery.folders import collect_folder
from scrubjay.code_index.discovery.git import GitFailed, run_git
from scrubjay.code_index.discovery.git_repository import (
    Repository,
    collect_tree,
    collect_work_tree,
    find_repository,
    resolve_commit,
)
from scrubjay.code_index.discovery.limits import Deadline, IndexLimits, never
from scrubjay.code_index.discovery.rooted_reader import RootedReader, encode_path
from scrubjay.code_index.discovery.stat_cache import StatCache
from scrubjay.code_index.models import Snapshot
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound, Unavailable
from scrubjay.core.protected_paths import ProtectedPaths

WORK_TREE = "HEAD"
_NOTHING_PROTECTED = ProtectedPaths()


class PathChanges(NamedTuple):
    """Paths that differ between two snapshots, each list sorted."""

    added: list[str]
    modified: list[str]
    removed: list[str]


def take_snapshot(
    path: str | Path,
    *,
    rev: str = WORK_TREE,
    limits: IndexLimits | None = None,
    excludes: Sequence[str] = (),
    stat_cache: StatCache | None = None,
    should_stop: Callable[[], bool] = never,
    protected: ProtectedPaths = _NOTHING_PROTECTED,
) -> Snapshot:
    """Return the files under the folder, with the ids of their contents.

    Raises `Forbidden` for a folder in the protected store; the store and places of secrets below the folder are left
    out.

    HEAD means the work tree, with uncommitted changes; any other revision is read from git objects alone. `stat_cache`
    is the cache of earlier snapshots with the same arguments; unchanged files are not read again.
    """
    limits = limits or IndexLimits()
    root = _resolve(path)
    if protected.in_store(root):
        raise Forbidden(f"{root} belongs to the store of this server, which is never indexed")
    stat_cache = stat_cache or StatCache()
    deadline = Deadline(limits.seconds, should_stop)
    collector = FileCollector(deadline, limits, excludes, stat_cache, protected.below(root), protected.identities)
    found = _collect(root, rev, collector)
    collector.update_cache(stat_cache)
    return found


def _collect(root: str, rev: str, collector: FileCollector) -> Snapshot:
    repository = _find_repository(root, collector.deadline)
    if repository is None:
        return _snapshot_folder(root, rev, collector)
    if rev == WORK_TREE and repository.has_files:
        return _snapshot_work_tree(root, repository, collector)
    if rev == WORK_TREE and repository.is_elsewhere:
        raise InvalidRequest(
            f"the repository at {root} is configured to have its files elsewhere",
            hint="index that folder, or name a revision to read it from git objects",
        )
    return _snapshot_objects(root, rev, repository, collector)


def changed_paths(old: Snapshot, new: Snapshot) -> PathChanges:
    """Return how the newer snapshot differs from the older one."""
    before = {file.path: (file.blob, file.language) for file in old.files}
    after = {file.path: (file.blob, file.language) for file in new.files}
    return PathChanges(
        [path for path in after if path not in before],
        [path for path, content in after.items() if before.get(path, content) != content],
        [path for path in before if path not in after],
    )


def snapshot_key(snapshot: Snapshot, options: Mapping[str, Any]) -> str:
    """Return a key that is equal for equal contents and options, wherever the folder is."""
    found = hashlib.sha256(json.dumps(options, sort_keys=True).encode())
    for file in snapshot.files:
        found.update(b"\0%s\0%s\0%s" % (encode_path(file.path), file.blob.encode(), file.language.value.encode()))
    return found.hexdigest()


def _resolve(path: str | Path) -> str:
    if "\0" in str(path):
        raise InvalidRequest("a path must not contain a NUL character", hint="give the path of a folder")
    try:
        root = os.path.realpath(path, strict=True)
        with os.scandir(root):
            return root
    except NotADirectoryError:
        raise InvalidRequest(f"{path} is not a folder", hint="give the folder of a repository") from None
    except FileNotFoundError:
        raise NotFound(f"there is no folder {path}", hint="give the path of a folder on this machine") from None
    except OSError as error:
        raise Unavailable(f"{path} cannot be read ({error.strerror})", hint="check its permissions") from error


def _find_repository(root: str, deadline: Deadline) -> Repository | None:
    try:
        return find_repository(root, deadline)
    except Unavailable:
        deadline.check()
        folders = [Path(root), *Path(root).parents]
        if not _has_git() and not any((folder / ".git").exists() for folder in folders):
            return None  # a plain folder needs no git
        raise


def _has_git() -> bool:
    return which("git") is not None


def _snapshot_folder(root: str, rev: str, collector: FileCollector) -> Snapshot:
    if rev != WORK_TREE:
        raise InvalidRequest(
            f"{root} is not in a git repository, so it has no revision {rev!r}", hint="leave out the revision"
        )
    with RootedReader(root, collector.kept_out_folders) as rooted:
        collect_folder(root, collector, rooted)
    return _build_snapshot(root, rev, None, collector, is_git=False)


def _snapshot_work_tree(root: str, repository: Repository, collector: FileCollector) -> Snapshot:
    with RootedReader(root, collector.kept_out_folders) as rooted:
        collect_work_tree(repository, repository.commit, collector, rooted)
        if not repository.is_top and collector.is_empty and _is_ignored(root, collector.deadline):
            # The caller asks for a folder that its repository ignores, so the folder itself is meant.
            collect_folder(root, collector, rooted)
            return _build_snapshot(root, WORK_TREE, None, collector, is_git=False)
    return _build_snapshot(root, WORK_TREE, repository.commit, collector)


def _snapshot_objects(root: str, rev: str, repository: Repository, collector: FileCollector) -> Snapshot:
    commit = resolve_commit(repository, rev, collector.deadline)
    collect_tree(repository, commit, collector)
    return _build_snapshot(root, rev, commit, collector, from_objects=True)


def _is_ignored(root: str, deadline: Deadline) -> bool:
    try:
        run_git(root, deadline, "check-ignore", "--quiet", ".")
    except GitFailed:
        return False
    return True


def _build_snapshot(
    root: str,
    rev: str,
    commit: str | None,
    collector: FileCollector,
    *,
    is_git: bool = True,
    from_objects: bool = False,
) -> Snapshot:
    files, skipped = collector.result()
    return Snapshot(
        root=root,
        rev=rev,
        commit=commit,
        files=files,
        skipped=skipped,
        is_git=is_git,
        from_objects=from_objects,
        removed=sorted(collector.removed),
        repositories=sorted(collector.repositories),
    )
