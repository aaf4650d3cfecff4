"""What git knows of a folder: its commits, the files of one, and those of the work tree."""

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from scrubjay.code_index.discovery.contents import DAMAGED, ObjectReader
from scrubjay.code_index.discovery.file_collector import LINK, Gathering, unreadable
from scrubjay.code_index.discovery.git import Asked, GitFailed, ask, refusal
from scrubjay.code_index.discovery.ignore_rules import IgnoreRules, tool_folder
from scrubjay.code_index.discovery.limits import Bounds
from scrubjay.code_index.discovery.rooted_reader import Beneath, TooDeep, text
from scrubjay.code_index.discovery.stat_cache import Entry, Staged, index_stamp
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound, Unavailable

_STAGED = re.compile(
    rb"(\d{6}) ([0-9a-f]{40,64}) (\d)\t([^\0]*)\0  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n  dev: \d+\tino: (\d+)\n"
    rb"  uid: \d+\tgid: \d+\n  size: (\d+)\tflags: ([0-9a-f]+)\n"
)
_STAGED_ONLY = re.compile(rb"(\d{6}) ([0-9a-f]{40,64}) (\d)\t([^\0]*)\0")
_DIFFERS = re.compile(rb":\d{6} \d{6} ([0-9a-f]+) [0-9a-f]+ ([A-Z])\d*\0([^\0]*)\0")
_IN_TREE = re.compile(rb"(\d{6}) [a-z]+ ([0-9a-f]{40,64}) +(\d+|-|BAD)\t([^\0]*)\0")
_UP = re.compile(r"(?:\.\./)*")
_HEX = re.compile(r"[0-9a-f]{40,64}")
_LINK, _SUBMODULE = b"120000", b"160000"
_NOT_IN_WORK_TREE = 0x40000000  # git's flag of files that a sparse checkout leaves out
_MOST_NESTED = 10
_SECOND = 1_000_000_000
_IGNORE_FILE = ".ignore"
_MOST_RULE_BYTES = 1_000_000
NOT_HERE = "a submodule that is not checked out"


@dataclass(frozen=True, slots=True)
class Repository:
    """Where git is asked, and what it is."""

    folder: str
    algorithm: str
    commit: str | None
    """Of HEAD; None without commits."""
    index: str
    is_top: bool
    """Whether the folder is where the work tree begins."""
    has_files: bool
    """Whether the folder is in a work tree, and is no git directory."""
    is_elsewhere: bool
    """Whether the configuration says that the work tree is another folder."""


def find_repository(folder: str, bounds: Bounds) -> Repository | None:
    """The repository that the folder is in; None when it is in none."""
    try:
        output = ask(
            folder,
            bounds,
            "rev-parse",
            *("--is-bare-repository", "--is-inside-git-dir", "--is-inside-work-tree"),
            *("--show-object-format", "--show-cdup", "--git-path", "index", "HEAD^{commit}"),
        )
    except GitFailed as failed:
        if "not a git repository" in failed.message:
            return None
        if failed.output.count(b"\n") < 6:
            raise refusal(folder, failed) from failed
        output = failed.output
        has_commit = False
    else:
        has_commit = True
    bare, in_git, inside, algorithm, up, rest = text(output).split("\n", 5)
    lines = rest.removesuffix("\n").split("\n")
    # The name that was asked for is said again when it means nothing.
    commit = lines.pop()
    if not has_commit:
        _fail_if_damaged(folder, bounds)
    return Repository(
        folder=folder,
        algorithm=algorithm,
        commit=commit if has_commit else None,
        index=str(Path(folder) / "\n".join(lines)),
        is_top=up == "",
        has_files=inside == "true" and _UP.fullmatch(up) is not None,
        is_elsewhere=(bare, in_git, inside) == ("false", "false", "false"),
    )


def _fail_if_damaged(folder: str, bounds: Bounds) -> None:
    """Return if HEAD is a branch without commits; say so if it is a commit that cannot be read."""
    try:
        ask(folder, bounds, "rev-parse", "--verify", "--quiet", "HEAD")
    except GitFailed:
        return
    raise refusal(folder, GitFailed("the commit of HEAD is missing or damaged"))


def commit_of(repository: Repository, rev: str, bounds: Bounds) -> str:
    """The id of the commit that the revision means."""
    if not rev or rev.startswith("-") or "\0" in rev or "\n" in rev:
        raise InvalidRequest(f"{rev!r} is not a revision", hint="give HEAD, a branch, a tag or a commit")
    try:
        found = text(ask(repository.folder, bounds, "rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}")).strip()
    except GitFailed as failed:
        if "dubious ownership" in failed.message:
            raise refusal(repository.folder, failed) from failed
        found = ""
    if _HEX.fullmatch(found) is None:
        raise NotFound(
            f"the repository at {repository.folder} has no commit {rev!r}",
            hint="see `git branch --all` and `git tag` for what there is",
        )
    return found


# -- from objects ----------------------------------------------------------------------------------


def gather_tree(repository: Repository, commit: str, gathering: Gathering, prefix: str = "", nested: int = 0) -> None:
    """The files of a commit, from git's objects alone."""
    try:
        output = ask(repository.folder, gathering.bounds, "ls-tree", "-r", "-l", "-z", commit)
    except GitFailed as failed:
        raise refusal(repository.folder, failed) from failed
    entries = [(*entry[:3], text(entry[3])) for entry in _IN_TREE.findall(output)]
    with ObjectReader(repository.folder, gathering.bounds) as reader:
        rules = IgnoreRules()
        for _, blob, size, path in entries:
            if _is_ignore_file(path) and size.isdigit() and int(size) <= _MOST_RULE_BYTES:
                content = next(reader.read([(text(blob), int(size))]))
                rules.add_file(path[: -len(_IGNORE_FILE) - 1], content or b"")
        for mode, blob, size, path in entries:
            whole = prefix + path
            if mode == _SUBMODULE:
                _gather_submodule_tree(repository, path, text(blob), gathering, prefix, nested)
            elif mode == _LINK:
                gathering.skip(whole, LINK)
            elif not size.isdigit():
                gathering.skip(whole, DAMAGED)
            elif not rules.ignores(path):
                wanted = (text(blob), int(size))
                gathering.take_object(whole, *wanted, lambda wanted=wanted: next(reader.read([wanted])))


def _gather_submodule_tree(
    repository: Repository, path: str, commit: str, gathering: Gathering, prefix: str, nested: int
) -> None:
    whole = prefix + path
    submodule = _submodule(repository, path, gathering.bounds) if nested < _MOST_NESTED else None
    if submodule is None:
        gathering.skip(whole, NOT_HERE)
        return
    try:
        ask(submodule.folder, gathering.bounds, "cat-file", "-e", f"{commit}^{{commit}}")
    except GitFailed:
        gathering.skip(whole, f"a submodule that does not have the commit {commit[:12]}")
        return
    gathering.repositories.append((whole, submodule.folder))
    gather_tree(submodule, commit, gathering, whole + "/", nested + 1)


def _submodule(repository: Repository, path: str, bounds: Bounds) -> Repository | None:
    """The repository of a submodule; None if it is not checked out, or cannot be reached without a link."""
    try:
        with Beneath(repository.folder) as beneath:
            beneath.folder(path)
            # Without a `.git` of its own git would speak of the repository around it.
            if stat.S_ISLNK(beneath.status(path + "/.git").st_mode):
                return None
        found = find_repository(str(Path(repository.folder) / path), bounds)
    except (OSError, Forbidden, Unavailable):
        bounds.check()  # it may have been our time that ended
        return None
    return found if found is not None and found.is_top and found.has_files else None


def _is_ignore_file(path: str) -> bool:
    return path == _IGNORE_FILE or path.endswith("/" + _IGNORE_FILE)


# -- the work tree ---------------------------------------------------------------------------------


def gather_work_tree(
    repository: Repository,
    commit: str | None,
    gathering: Gathering,
    beneath: Beneath,
    prefix: str = "",
    nested: int = 0,
) -> None:
    """The files of the work tree, tracked or not, that are not ignored; what differs from the commit is dirty.

    `git status` would run the repository's filters on files that may have changed; here such files are hashed by us.
    """
    with _ask_others(repository, gathering.bounds) as others:
        staged = _staged(repository, commit, gathering)
        _gather_tracked(repository, staged, gathering, beneath, prefix)
        for entry in staged.submodules:
            base = entry.committed if entry.committed is not None and entry.committed.strip("0") else None
            _gather_submodule_files(repository, entry.path, base, gathering, beneath, prefix, nested)
        untracked = [text(path) for path in _answer(repository, others).split(b"\0") if path]
    gathering.removed.update(prefix + path for path in staged.gone)
    _gather_untracked(repository, untracked, staged.before if commit else {}, gathering, beneath, prefix)
    _drop_ignored(staged, untracked, gathering, beneath, prefix)


def _ask_others(repository: Repository, bounds: Bounds) -> Asked:
    """Which files are neither in the index nor ignored: git walks the tree meanwhile."""
    return Asked(repository.folder, bounds, "ls-files", "--others", "--exclude-standard", "-z")


def _staged(repository: Repository, commit: str | None, gathering: Gathering) -> Staged:
    """What the index holds, and where it differs from the commit; an index that has not changed is not read again."""
    stamp = index_stamp(repository.index, commit)
    found = gathering.known_staged.get(stamp) if stamp is not None else None
    if found is None:
        staged, differing = _ask_index(repository, commit, gathering.bounds)
        before, gone = _committed(differing)
        files, submodules = _entries(repository, staged, before if commit else None, gathering.bounds)
        ignore_files = [entry.path for entry in files if _is_ignore_file(entry.path)]
        found = Staged(_by_folder(files), submodules, ignore_files, before, gone)
    if stamp is not None and stamp == index_stamp(repository.index, commit):
        gathering.staged[stamp] = found
    return found


def _ask_index(repository: Repository, commit: str | None, bounds: Bounds) -> tuple[bytes, bytes]:
    """What the index holds, and where it differs from the commit."""
    with ExitStack() as opened:
        staged = opened.enter_context(Asked(repository.folder, bounds, "ls-files", "--stage", "--debug", "-z"))
        if commit is None:
            return _answer(repository, staged), b""
        differing = Asked(
            repository.folder,
            bounds,
            *("diff-index", "--cached", "--raw", "--relative", "--no-renames", "--no-ext-diff", "--no-textconv"),
            *("--ignore-submodules=none", "--full-index", "-z", commit, "--"),
        )
        opened.enter_context(differing)
        return _answer(repository, staged), _answer(repository, differing)


def _answer(repository: Repository, asked: Asked) -> bytes:
    try:
        return asked.answer()
    except GitFailed as failed:
        raise refusal(repository.folder, failed) from failed


def _committed(differing: bytes) -> tuple[dict[str, str], list[str]]:
    """The ids that the commit has where the index has others, and the paths that only the commit has."""
    before: dict[str, str] = {}
    gone: list[str] = []
    for blob, status, path in _DIFFERS.findall(differing):
        before[text(path)] = blob.decode()
        if status == b"D":
            gone.append(text(path))
    return before, gone


def _written_ns(index: str) -> int:
    """When the index was written; a file that was changed later, or at that moment, may differ from what it says."""
    try:
        return Path(index).stat().st_mtime_ns
    except OSError:
        return 0


def _entries(
    repository: Repository, staged: bytes, before: Mapping[str, str] | None, bounds: Bounds
) -> tuple[list[Entry], list[Entry]]:
    """The files and the submodules of the index.

    `before` has the ids of the commit where they are others, and is None without one.
    """
    found = _STAGED.findall(staged)
    if len(found) != staged.count(b"\0"):  # a git that words it otherwise: then every file is read
        with Asked(repository.folder, bounds, "ls-files", "--stage", "-z") as asked:
            found = [(*entry, *[b"0"] * 7) for entry in _STAGED_ONLY.findall(_answer(repository, asked))]
    files: list[Entry] = []
    submodules: list[Entry] = []
    for mode, raw_blob, stage, raw_path, cs, cn, ms, mn, inode, size, flags in found:
        path, name, blob = text(raw_path), raw_path.rpartition(b"/")[2], raw_blob.decode()
        committed = None if before is None else before.get(path, blob)
        modified, changed = int(ms) * _SECOND + int(mn), int(cs) * _SECOND + int(cn)
        entry = Entry(
            path, name, blob, committed, stage == b"0", int(flags, 16), modified, changed, int(size), int(inode)
        )
        (submodules if mode == _SUBMODULE else files).append(entry)
    return files, submodules


def _by_folder(files: Iterable[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in files:
        found.setdefault(entry.path.rpartition("/")[0], []).append(entry)
    return {folder: found[folder] for folder in sorted(found, key=lambda folder: folder.split("/"))}


def _gather_tracked(
    repository: Repository, staged: Staged, gathering: Gathering, beneath: Beneath, prefix: str
) -> None:
    written = _written_ns(repository.index)
    for folder, entries in staged.folders.items():
        try:
            opened = beneath.folder(prefix + folder if folder else prefix.removesuffix("/"))
        except OSError as error:
            for entry in entries:
                _note_missing(prefix, entry, error, gathering)
            continue
        for entry in entries:
            path, name, blob, committed, is_merged, _, modified, changed, size, inode = entry
            try:
                status = os.stat(name, dir_fd=opened, follow_symlinks=False)
            except OSError as error:
                _note_missing(prefix, entry, error, gathering)
                continue
            whole = prefix + path
            if stat.S_ISDIR(status.st_mode):
                gathering.removed.add(whole)
                continue
            is_clean = (
                modified == status.st_mtime_ns
                and modified < written
                and changed == status.st_ctime_ns
                and size == status.st_size != 0
                and inode == status.st_ino & 0xFFFFFFFF
                and is_merged
            )
            gathering.take_file(
                whole,
                status,
                beneath,
                blob=blob if is_clean else None,
                staged=blob,
                committed=committed,
                algorithm=repository.algorithm,
            )


def _note_missing(prefix: str, entry: Entry, error: OSError, gathering: Gathering) -> None:
    """A file of the index cannot be looked at: it is gone, unless we may not or a sparse checkout leaves it out."""
    if isinstance(error, TooDeep | PermissionError):
        gathering.skip(prefix + entry.path, unreadable(error))
    elif not entry.flags & _NOT_IN_WORK_TREE:
        gathering.removed.add(prefix + entry.path)


def _gather_untracked(
    repository: Repository,
    paths: Iterable[str],
    committed: Mapping[str, str],
    gathering: Gathering,
    beneath: Beneath,
    prefix: str,
) -> None:
    for path in paths:
        whole = prefix + path
        if path.endswith("/"):
            gathering.skip(whole.removesuffix("/"), "a repository of its own; index it by itself")
        elif (folder := tool_folder(path)) is not None:
            gathering.skip(prefix + folder, "made by tools")
        else:
            try:
                status = beneath.status(whole)
            except (TooDeep, PermissionError) as error:
                gathering.skip(whole, unreadable(error))
            except OSError:
                continue  # gone since git saw it
            else:
                gathering.removed.discard(whole)
                gathering.take_file(
                    whole, status, beneath, committed=committed.get(path), algorithm=repository.algorithm
                )


def _drop_ignored(
    staged: Staged, untracked: Sequence[str], gathering: Gathering, beneath: Beneath, prefix: str
) -> None:
    """Leave out what `.ignore` files name, which git does not know."""
    rules = IgnoreRules()
    for path in (*staged.ignore_files, *filter(_is_ignore_file, untracked)):
        with suppress(OSError):
            rules.add_file(path[: -len(_IGNORE_FILE) - 1], beneath.read(prefix + path, _MOST_RULE_BYTES))
    if rules:
        tracked = (entry.path for entry in chain(*staged.folders.values(), staged.submodules))
        for path in chain(tracked, untracked):
            if rules.ignores(path):
                gathering.drop(prefix + path)


def _gather_submodule_files(
    repository: Repository,
    path: str,
    commit: str | None,
    gathering: Gathering,
    beneath: Beneath,
    prefix: str,
    nested: int,
) -> None:
    whole = prefix + path
    submodule = _submodule(repository, path, gathering.bounds) if nested < _MOST_NESTED else None
    if submodule is None:
        gathering.skip(whole, NOT_HERE)
        return
    if commit is not None:
        try:
            ask(submodule.folder, gathering.bounds, "cat-file", "-e", f"{commit}^{{commit}}")
        except GitFailed:
            commit = None
    gathering.repositories.append((whole, submodule.folder))
    gather_work_tree(submodule, commit, gathering, beneath, whole + "/", nested + 1)
