"""What was said of files when they were changed: the subjects of commits, and which files each touched."""

import re

from recollect.codebase.discovery.beneath import text
from recollect.codebase.discovery.git import Asked, GitFailed
from recollect.codebase.discovery.limits import Bounds
from recollect.domain.errors import Unavailable

_COMMIT = re.compile(rb"\x01[0-9a-f]{40,64} ")


def commit_subjects(
    root: str, rev: str = "HEAD", newest: int = 20_000, most_files: int = 12, *, seconds: float = 20.0
) -> list[tuple[str, list[str]]]:
    """The subjects of the newest commits that are no merges, newest first, each with the paths that it changed.

    Paths are from the root. Commits that change more files than `most_files` say little of each, and are left out.
    None when there is no history, or it cannot be had in this time: ranking does without.
    """
    try:
        with Asked(
            root,
            Bounds(seconds),
            *("log", "--no-merges", "--no-renames", "--no-ext-diff", "--no-textconv"),
            *("--no-mailmap", "--no-color", "--no-decorate", "--diff-merges=off", "--ignore-submodules=all"),
            *("--encoding=UTF-8", f"--max-count={newest}", "--format=%x01%H %s", "--name-only", "--relative", "-z"),
            *("--end-of-options", rev, "--"),
        ) as asked:
            output = asked.answer()
    except (GitFailed, Unavailable):
        return []
    commits: list[tuple[str, list[str]]] = []
    for line in output.split(b"\0"):
        if (found := _COMMIT.match(line)) is not None:
            commits.append((line[found.end() :].decode("utf-8", "replace"), []))
        elif line and commits:
            # The first path comes after a line end.
            paths = commits[-1][1]
            paths.append(text(line if paths else line.removeprefix(b"\n")))
    return [(subject, paths) for subject, paths in commits if 0 < len(paths) <= most_files]
