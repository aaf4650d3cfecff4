"""List the files of a git repository: those of a commit, or those of the work tree."""

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from scrubjay.code_index.discovery.contents import DAMAGED, ObjectReader
from scrubjay.code_index.discovery.file_collector import LINK, FileCollector, unreadable_reason
from scrubjay.code_index.discovery.git import GitCommand, GitFailed, git_error, run_git
from scrubjay.code_index.discovery.ignore_rules import IgnoreRules, find_tool_folder
from scrubjay.code_index.discovery.limits import Deadline
from scrubjay.code_index.discovery.object_sources import foreign_object_folders
from scrubjay.code_index.discovery.rooted_reader import RootedReader, TooDeep, decode_path
from scrubjay.code_index.discovery.stat_cache import GitIndex, GitIndexEntry, index_stamp
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound, Unavailable

_STAGED = re.compile(
    rb"(\d{6}) ([0-9a-f]{40,64}) (\d)\t([^\0]*)\0  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n  dev: \d+\tino: (\d+)\n"
    rb"  uid: \d+\tgid: \d+\n  size: (\d+)\tflags: ([0-9a-f]+)\n"
)
_STAGED_ONLY = re.compile(rb"(\d{6}) ([0-9a-f]{40,64}) (\d)\t([^\0]*)\0")
_DIFFERENCE = re.compile(rb":\d{6} \d{6} ([0-9a-f]+) [0-9a-f]+ ([A-Z])\d*\0([^\0]*)\0")
_TREE_ENTRY = re.compile(rb"(\d{6}) [a-z]+ ([0-9a-f]{40,64}) +(\d+|-|BAD)\t([^\0]*)\0")
_UP = re.compile(r"(?:\.\./)*")
_HEX = re.compile(r"[0-9a-f]{40,64}")
_LINK, _SUBMODULE = b"120000", b"160000"
_NOT_IN_WORK_TREE = 0x40000000  # git's flag for files that a sparse checkout leaves out
_MAX_NESTING = 10
_SECOND = 1_000_000_000
_IGNORE_FILE = ".ignore"
_MAX_RULE_BYTES = 1_000_000
NOT_CHECKED_OUT = "a submodule that is not checked out"


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository, as seen from one folder in it."""

    folder: str
    algorithm: str
    commit: str | None
    """Commit of HEAD; None without commits."""
    index: str
    is_top: bool
    """True if the folder is the root of the work tree."""
    has_files: bool
    """True if the folder is in a work tree and not a git directory."""
    is_elsewhere: bool
    """True if the configuration places the work tree in another folder."""


def find_repository(folder: str, deadline: Deadline) -> Repository | None:
    """Return the repository that contains the folder; None if there is none."""
    try:
        output = run_git(
            folder,
            deadline,
            "rev-parse",
            *("--is-bare-repository", "--is-inside-git-dir", "--is-inside-work-tree"),
            *("--show-object-format", "--show-cdup", "--git-path", "index", "HEAD^{commit}"),
        )
    except GitFailed as failed:
        if "not a git repository" in failed.message:
            return None
        if failed.output.count(b"\n") < 6:
            raise git_error(folder, failed) from failed
        output = failed.output
        has_commit = False
    else:
        has_commit = True
    bare, in_git, inside, algorithm, up, rest = decode_path(output).split("\n", 5)
    lines = rest.removesuffix("\n").split("\n")
    # rev-parse echoes a name that it cannot resolve.
    commit = lines.pop()
    if not has_commit:
        _fail_if_damaged(folder, deadline)
    return Repository(
        folder=folder,
        algorithm=algorithm,
        commit=commit if has_commit else None,
        index=str(Path(folder) / "\n".join(lines)),
        is_top=up == "",
        has_files=inside == "true" and _UP.fullmatch(up) is not None,
        is_elsewhere=(bare, in_git, inside) == ("false", "false", "false"),
    )


def _fail_if_damaged(folder: str, deadline: Deadline) -> None:
    """Return if HEAD is a branch without commits; raise if it is an unreadable commit."""
    try:
        run_git(folder, deadline, "rev-parse", "--verify", "--quiet", "HEAD")
    except GitFailed:
        return
    raise git_error(folder, GitFailed("the commit of HEAD is missing or damaged"))


def resolve_commit(repository: Repository, rev: str, deadline: Deadline) -> str:
    """Return the id of the commit that a revision names."""
    if not rev or rev.startswith("-") or "\0" in rev or "\n" in rev:
        raise InvalidRequest(f"{rev!r} is not a revision", hint="give HEAD, a branch, a tag or a commit")
    try:
        found = decode_path(
            run_git(repository.folder, deadline, "rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}")
        ).strip()
    except GitFailed as failed:
        if "dubious ownership" in failed.message:
            raise git_error(repository.folder, failed) from failed
        found = ""
    if _HEX.fullmatch(found) is None:
        raise NotFound(
            f"the repository at {repository.folder} has no commit {rev!r}",
            hint="list revisions with `git branch --all` and `git tag`",
        )
    return found


# -- a commit --------------------------------------------------------------------------------------


def collect_tree(
    repository: Repository, commit: str, collector: FileCollector, prefix: str = "", nested: int = 0
) -> None:
    """Collect the files of a commit from git objects alone."""
    try:
        output = run_git(repository.folder, collector.deadline, "ls-tree", "-r", "-l", "-z", commit)
    except GitFailed as failed:
        raise git_error(repository.folder, failed) from failed
    entries = [(*entry[:3], decode_path(entry[3])) for entry in _TREE_ENTRY.findall(output)]
    with ObjectReader(repository.folder, collector.deadline) as reader:
        rules = IgnoreRules()
        for _, blob, size, path in entries:
            if _is_ignore_file(path) and size.isdigit() and int(size) <= _MAX_RULE_BYTES:
                content = next(reader.read([(decode_path(blob), int(size))]))
                rules.add_file(path[: -len(_IGNORE_FILE) - 1], content or b"")
        for mode, blob, size, path in entries:
            whole = prefix + path
            if mode == _SUBMODULE:
                _collect_submodule_tree(repository, path, decode_path(blob), collector, prefix, nested)
            elif mode == _LINK:
                collector.skip(whole, LINK)
            elif not size.isdigit():
                collector.skip(whole, DAMAGED)
            elif not rules.ignores(path):
                wanted = (decode_path(blob), int(size))
                collector.add_object(whole, *wanted, lambda wanted=wanted: next(reader.read([wanted])))


def _collect_submodule_tree(
    repository: Repository, path: str, commit: str, collector: FileCollector, prefix: str, nested: int
) -> None:
    whole = prefix + path
    submodule = _find_submodule(repository, path, collector.deadline) if nested < _MAX_NESTING else None
    if submodule is None:
        collector.skip(whole, NOT_CHECKED_OUT)
        return
    try:
        run_git(submodule.folder, collector.deadline, "cat-file", "-e", f"{commit}^{{commit}}")
    except GitFailed:
        collector.skip(whole, f"a submodule that does not have the commit {commit[:12]}")
        return
    collector.repositories.append((whole, submodule.folder))
    collect_tree(submodule, commit, collector, whole + "/", nested + 1)


def _find_submodule(repository: Repository, path: str, deadline: Deadline) -> Repository | None:
    """Return the repository of a submodule; None if it is not checked out, or its objects are elsewhere."""
    try:
        with RootedReader(repository.folder) as rooted:
            rooted.open_folder(path)
            # Without a `.git` of its own, git would report the repository around it.
            if stat.S_ISLNK(rooted.status(path + "/.git").st_mode):
                return None
        folder = os.path.realpath(Path(repository.folder) / path)
        if any(not Path(one).is_relative_to(repository.folder) for one in foreign_object_folders(folder)):
            return None
        found = find_repository(str(Path(repository.folder) / path), deadline)
    except (OSError, Forbidden, Unavailable):
        deadline.check()  # the failure may be our own timeout
        return None
    return found if found is not None and found.is_top and found.has_files else None


def _is_ignore_file(path: str) -> bool:
    return path == _IGNORE_FILE or path.endswith("/" + _IGNORE_FILE)


# -- the work tree ---------------------------------------------------------------------------------


def collect_work_tree(
    repository: Repository,
    commit: str | None,
    collector: FileCollector,
    rooted: RootedReader,
    prefix: str = "",
    nested: int = 0,
) -> None:
    """Collect the files of the work tree that are not ignored, tracked or not; those unlike the commit are dirty.

    `git status` would run the repository's filters on files that may have changed; this hashes such files instead.
    """
    with _list_untracked(repository, collector.deadline) as others:
        staged = _load_index(repository, commit, collector)
        _collect_tracked(repository, staged, collector, rooted, prefix)
        for entry in staged.submodules:
            base = entry.committed if entry.committed is not None and entry.committed.strip("0") else None
            _collect_submodule_files(repository, entry.path, base, collector, rooted, prefix, nested)
        untracked = [decode_path(path) for path in _output_of(repository, others).split(b"\0") if path]
    collector.removed.update(prefix + path for path in staged.removed)
    _collect_untracked(repository, untracked, staged.committed if commit else {}, collector, rooted, prefix)
    _drop_ignored(staged, untracked, collector, rooted, prefix)


def _list_untracked(repository: Repository, deadline: Deadline) -> GitCommand:
    """Start listing the files that are neither in the index nor ignored; git walks the tree in the background."""
    return GitCommand(repository.folder, deadline, "ls-files", "--others", "--exclude-standard", "-z")


def _load_index(repository: Repository, commit: str | None, collector: FileCollector) -> GitIndex:
    """Return git's index and how it differs from the commit; an unchanged index is not read again."""
    stamp = index_stamp(repository.index, commit)
    found = collector.cached_indexes.get(stamp) if stamp is not None else None
    if found is None:
        staged, differing = _list_index(repository, commit, collector.deadline)
        before, removed = _parse_differences(differing)
        files, submodules = _parse_entries(repository, staged, before if commit else None, collector.deadline)
        ignore_files = [entry.path for entry in files if _is_ignore_file(entry.path)]
        found = GitIndex(_group_by_folder(files), submodules, ignore_files, before, removed)
    if stamp is not None and stamp == index_stamp(repository.index, commit):
        collector.indexes[stamp] = found
    return found


def _list_index(repository: Repository, commit: str | None, deadline: Deadline) -> tuple[bytes, bytes]:
    """Return git's listings of the index and of its differences from the commit."""
    with ExitStack() as opened:
        staged = opened.enter_context(GitCommand(repository.folder, deadline, "ls-files", "--stage", "--debug", "-z"))
        if commit is None:
            return _output_of(repository, staged), b""
        differing = GitCommand(
            repository.folder,
            deadline,
            *("diff-index", "--cached", "--raw", "--relative", "--no-renames", "--no-ext-diff", "--no-textconv"),
            *("--ignore-submodules=none", "--full-index", "-z", commit, "--"),
        )
        opened.enter_context(differing)
        return _output_of(repository, staged), _output_of(repository, differing)


def _output_of(repository: Repository, asked: GitCommand) -> bytes:
    try:
        return asked.output()
    except GitFailed as failed:
        raise git_error(repository.folder, failed) from failed


def _parse_differences(differing: bytes) -> tuple[dict[str, str], list[str]]:
    """Return the ids in the commit where the index has others, and the paths that only the commit has."""
    before: dict[str, str] = {}
    removed: list[str] = []
    for blob, status, path in _DIFFERENCE.findall(differing):
        before[decode_path(path)] = blob.decode()
        if status == b"D":
            removed.append(decode_path(path))
    return before, removed


def _index_mtime_ns(index: str) -> int:
    """Return when the index was written; it may be wrong about a file that changed at that moment or later."""
    try:
        return Path(index).stat().st_mtime_ns
    except OSError:
        return 0


def _parse_entries(
    repository: Repository, staged: bytes, before: Mapping[str, str] | None, deadline: Deadline
) -> tuple[list[GitIndexEntry], list[GitIndexEntry]]:
    """Return the files and the submodules of the index.

    `before` has the ids in the commit where they differ; None without a commit.
    """
    found = _STAGED.findall(staged)
    if len(found) != staged.count(b"\0"):  # another output format of git: read every file
        with GitCommand(repository.folder, deadline, "ls-files", "--stage", "-z") as asked:
            found = [(*entry, *[b"0"] * 7) for entry in _STAGED_ONLY.findall(_output_of(repository, asked))]
    files: list[GitIndexEntry] = []
    submodules: list[GitIndexEntry] = []
    for mode, raw_blob, stage, raw_path, cs, cn, ms, mn, inode, size, flags in found:
        path, name, blob = decode_path(raw_path), raw_path.rpartition(b"/")[2], raw_blob.decode()
        committed = None if before is None else before.get(path, blob)
        modified, changed = int(ms) * _SECOND + int(mn), int(cs) * _SECOND + int(cn)
        entry = GitIndexEntry(
            path, name, blob, committed, stage == b"0", int(flags, 16), modified, changed, int(size), int(inode)
        )
        (submodules if mode == _SUBMODULE else files).append(entry)
    return files, submodules


def _group_by_folder(files: Iterable[GitIndexEntry]) -> dict[str, list[GitIndexEntry]]:
    found: dict[str, list[GitIndexEntry]] = {}
    for entry in files:
        found.setdefault(entry.path.rpartition("/")[0], []).append(entry)
    return {folder: found[folder] for folder in sorted(found, key=lambda folder: folder.split("/"))}


def _collect_tracked(
    repository: Repository, staged: GitIndex, collector: FileCollector, rooted: RootedReader, prefix: str
) -> None:
    written = _index_mtime_ns(repository.index)
    for folder, entries in staged.folders.items():
        try:
            opened = rooted.open_folder(prefix + folder if folder else prefix.removesuffix("/"))
        except OSError as error:
            for entry in entries:
                _note_missing(prefix, entry, error, collector)
            continue
        for entry in entries:
            path, name, blob, committed, is_merged, _, modified, changed, size, inode = entry
            try:
                status = os.stat(name, dir_fd=opened, follow_symlinks=False)
            except OSError as error:
                _note_missing(prefix, entry, error, collector)
                continue
            whole = prefix + path
            if stat.S_ISDIR(status.st_mode):
                collector.removed.add(whole)
                continue
            is_clean = (
                modified == status.st_mtime_ns
                and modified < written
                and changed == status.st_ctime_ns
                and size == status.st_size != 0
                and inode == status.st_ino & 0xFFFFFFFF
                and is_merged
            )
            collector.add_file(
                whole,
                status,
                rooted,
                blob=blob if is_clean else None,
                staged=blob,
                committed=committed,
                algorithm=repository.algorithm,
            )


def _note_missing(prefix: str, entry: GitIndexEntry, error: OSError, collector: FileCollector) -> None:
    """Record a file of the index that cannot be read: as removed, unless it is inaccessible or sparse."""
    if isinstance(error, TooDeep | PermissionError):
        collector.skip(prefix + entry.path, unreadable_reason(error))
    elif not entry.flags & _NOT_IN_WORK_TREE:
        collector.removed.add(prefix + entry.path)


def _collect_untracked(
    repository: Repository,
    paths: Iterable[str],
    committed: Mapping[str, str],
    collector: FileCollector,
    rooted: RootedReader,
    prefix: str,
) -> None:
    for path in paths:
        whole = prefix + path
        if path.endswith("/"):
            collector.skip(whole.removesuffix("/"), "a nested repository; index it separately")
        elif (folder := find_tool_folder(path)) is not None:
            collector.skip(prefix + folder, "created by a tool")
        else:
            try:
                status = rooted.status(whole)
            except (TooDeep, PermissionError) as error:
                collector.skip(whole, unreadable_reason(error))
            except OSError:
                continue  # removed since git listed it
            else:
                collector.removed.discard(whole)
                collector.add_file(whole, status, rooted, committed=committed.get(path), algorithm=repository.algorithm)


def _drop_ignored(
    staged: GitIndex, untracked: Sequence[str], collector: FileCollector, rooted: RootedReader, prefix: str
) -> None:
    """Drop the files that `.ignore` files name; git does not know these."""
    rules = IgnoreRules()
    for path in (*staged.ignore_files, *filter(_is_ignore_file, untracked)):
        with suppress(OSError):
            rules.add_file(path[: -len(_IGNORE_FILE) - 1], rooted.read(prefix + path, _MAX_RULE_BYTES))
    if rules:
        tracked = (entry.path for entry in chain(*staged.folders.values(), staged.submodules))
        for path in chain(tracked, untracked):
            if rules.ignores(path):
                collector.drop(prefix + path)


def _collect_submodule_files(
    repository: Repository,
    path: str,
    commit: str | None,
    collector: FileCollector,
    rooted: RootedReader,
    prefix: str,
    nested: int,
) -> None:
    whole = prefix + path
    submodule = _find_submodule(repository, path, collector.deadline) if nested < _MAX_NESTING else None
    if submodule is None:
        collector.skip(whole, NOT_CHECKED_OUT)
        return
    if commit is not None:
        try:
            run_git(submodule.folder, collector.deadline, "cat-file", "-e", f"{commit}^{{commit}}")
        except GitFailed:
            commit = None
    collector.repositories.append((whole, submodule.folder))
    collect_work_tree(submodule, commit, collector, rooted, whole + "/", nested + 1)
