"""What was said of files when they were changed: the subjects of commits, and which files each touched."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from scrubjay.code_index.discovery.git import AskedMuch, GitFailed, ask
from scrubjay.code_index.discovery.limits import Bounds, never
from scrubjay.code_index.discovery.rooted_reader import text
from scrubjay.core.errors import Unavailable

_BEGIN, _RENAMED = b"\x01", b"R"
# Of a commit that moves more files than this, only those that stayed as they were are known again: contents are
# compared with each other, each with all.
MOST_COMPARED = "-l100"


class _Commit(NamedTuple):
    subject: str
    touched: list[bytes]
    """The files that it changed, as it called them."""
    renamed: list[tuple[bytes, bytes]]
    """What they were called before and after it."""


def commit_subjects(
    root: str,
    rev: str = "HEAD",
    newest: int = 10_000,
    most_files: int = 12,
    *,
    seconds: float = 20.0,
    should_stop: Callable[[], bool] = never,
) -> list[tuple[str, list[str]]]:
    """The subjects of the newest commits that are no merges, newest first, each with the files that it changed.

    Files are told by their paths from the root, as they are called now: what was said of one before it was moved, from
    wherever in the repository, is said of it. Commits that change more files than `most_files` say little of each, and
    are left out. None when there is no history, or it cannot be had in this time: ranking does without.
    """
    bounds = Bounds(seconds, should_stop)
    try:
        beneath = ask(root, bounds, "rev-parse", "--show-prefix").removesuffix(b"\n")
        output = _log(root, rev, newest, bounds)
    except (GitFailed, Unavailable):
        return []
    commits: list[tuple[str, list[str]]] = []
    called_now: dict[bytes, bytes] = {}
    texts = _Texts(beneath)
    for subject, touched, renamed in _commits(output):
        paths = dict.fromkeys([called_now.get(path, path) for path in touched] if called_now else touched)
        # From here on, back in time.
        if renamed:
            called_now |= {before: called_now.get(after, after) for before, after in renamed}
        own = [path for path in map(texts.__getitem__, paths) if path is not None]
        if 0 < len(own) <= most_files:
            commits.append((subject, own))
    return commits


class _Texts(dict[bytes, str | None]):
    """By what git calls files what they are called from a folder; None for one that is not beneath it."""

    def __init__(self, beneath: bytes) -> None:
        super().__init__()
        self._beneath = beneath

    def __missing__(self, path: bytes) -> str | None:
        found = self[path] = text(path.removeprefix(self._beneath)) if path.startswith(self._beneath) else None
        return found


def _log(root: str, rev: str, newest: int, bounds: Bounds) -> bytes:
    """What git tells of the commits: which files each changed, and which it moved."""

    def asked_for(renames: str) -> bytes:
        with AskedMuch(
            root,
            bounds,
            *("log", "--no-merges", renames, MOST_COMPARED, "--no-rename-empty", "--no-ext-diff", "--no-textconv"),
            *("--no-mailmap", "--no-color", "--no-decorate", "--diff-merges=off", "--ignore-submodules=all"),
            *("--encoding=UTF-8", f"--max-count={newest}", "--format=%x01%s", "--name-status", "--no-relative", "-z"),
            *("--end-of-options", rev, "--"),
        ) as asked:
            return asked.answer()

    try:
        return asked_for("--find-renames=50%")
    except GitFailed:  # contents are not there, as in a partial clone: what was moved as it is is still known
        return asked_for("--find-renames=100%")


def _commits(output: bytes) -> Iterator[_Commit]:
    commit: _Commit | None = None
    parts = iter(output.split(b"\0"))
    for part in parts:
        if part[:1] == _BEGIN:
            if commit is not None:
                yield commit
            commit = _Commit(part[1:].decode("utf-8", "replace"), [], [])
        elif commit is not None and part:  # how a file was changed; after the last one comes nothing
            path = next(parts, b"")
            # The first one comes after a line end.
            if part.startswith((_RENAMED, b"\n" + _RENAMED)):
                before, path = path, next(parts, b"")
                commit.renamed.append((before, path))
            commit.touched.append(path)
    if commit is not None:
        yield commit
