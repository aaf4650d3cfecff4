"""Commit subjects and the files each commit changed, from git's history."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from scrubjay.code_index.discovery.git import GitFailed, SpooledGitCommand, run_git
from scrubjay.code_index.discovery.limits import Deadline, never
from scrubjay.code_index.discovery.rooted_reader import decode_path
from scrubjay.core.errors import Unavailable

_BEGIN, _RENAMED = b"\x01", b"R"
# In a commit that moves more files than this, only unmodified files are recognized as renamed: rename detection
# compares every pair of contents.
RENAME_LIMIT = "-l100"


class _Commit(NamedTuple):
    subject: str
    touched: list[bytes]
    """The paths that it changed, as named in that commit."""
    renamed: list[tuple[bytes, bytes]]
    """Pairs of old and new path."""


def commit_subjects(
    root: str,
    rev: str = "HEAD",
    newest: int = 10_000,
    most_files: int = 12,
    *,
    seconds: float = 20.0,
    should_stop: Callable[[], bool] = never,
) -> list[tuple[str, list[str]]]:
    """Return the subjects of the newest commits that are not merges, newest first, each with the files that it changed.

    Files have their present paths, relative to the root; a commit counts for a file that was moved since, from anywhere
    in the repository. Commits that change more than `most_files` files are left out: they say little about each.
    Returns an empty list when there is no history or it takes longer than `seconds`; ranking works without it.
    """
    deadline = Deadline(seconds, should_stop)
    try:
        prefix = run_git(root, deadline, "rev-parse", "--show-prefix").removesuffix(b"\n")
        output = _read_log(root, rev, newest, deadline)
    except (GitFailed, Unavailable):
        return []
    commits: list[tuple[str, list[str]]] = []
    called_now: dict[bytes, bytes] = {}
    texts = _RelativePaths(prefix)
    for subject, touched, renamed in _parse_log(output):
        paths = dict.fromkeys([called_now.get(path, path) for path in touched] if called_now else touched)
        # Older commits use the old names.
        if renamed:
            called_now |= {before: called_now.get(after, after) for before, after in renamed}
        own = [path for path in map(texts.__getitem__, paths) if path is not None]
        if 0 < len(own) <= most_files:
            commits.append((subject, own))
    return commits


class _RelativePaths(dict[bytes, str | None]):
    """Paths relative to a folder, by git's path; None for a path outside of the folder."""

    def __init__(self, prefix: bytes) -> None:
        super().__init__()
        self._prefix = prefix

    def __missing__(self, path: bytes) -> str | None:
        found = self[path] = decode_path(path.removeprefix(self._prefix)) if path.startswith(self._prefix) else None
        return found


def _read_log(root: str, rev: str, newest: int, deadline: Deadline) -> bytes:
    """Return git's log of the commits: which files each changed and renamed."""

    def asked_for(renames: str) -> bytes:
        with SpooledGitCommand(
            root,
            deadline,
            *("log", "--no-merges", renames, RENAME_LIMIT, "--no-rename-empty", "--no-ext-diff", "--no-textconv"),
            *("--no-mailmap", "--no-color", "--no-decorate", "--diff-merges=off", "--ignore-submodules=all"),
            *("--encoding=UTF-8", f"--max-count={newest}", "--format=%x01%s", "--name-status", "--no-relative", "-z"),
            *("--end-of-options", rev, "--"),
        ) as asked:
            return asked.output()

    try:
        return asked_for("--find-renames=50%")
    except GitFailed:  # contents are missing, as in a partial clone: exact renames are still recognized
        return asked_for("--find-renames=100%")


def _parse_log(output: bytes) -> Iterator[_Commit]:
    commit: _Commit | None = None
    parts = iter(output.split(b"\0"))
    for part in parts:
        if part[:1] == _BEGIN:
            if commit is not None:
                yield commit
            commit = _Commit(part[1:].decode("utf-8", "replace"), [], [])
        elif commit is not None and part:  # a status letter; the list ends with an empty part
            path = next(parts, b"")
            # The first status of a commit follows a newline.
            if part.startswith((_RENAMED, b"\n" + _RENAMED)):
                before, path = path, next(parts, b"")
                commit.renamed.append((before, path))
            commit.touched.append(path)
    if commit is not None:
        yield commit
