"""The rules by which people say which files do not count: the lines of `.gitignore` and `.ignore`, and excludes."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scrubjay.code_index.discovery.rooted_reader import text

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# A rule becomes a regular expression; each asterisk multiplies what a hostile name can cost.
_MOST_ASTERISKS = 5
_LONGEST_RULE = 400
# What tools make beside people's work, and nobody wants to find; in git's eyes they are files as others.
TOOL_FOLDERS = {
    ".git",
    ".hg",
    ".svn",
    ".bzr",
    "node_modules",
    "bower_components",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".hypothesis",
    ".gradle",
    ".terraform",
    ".next",
    ".nuxt",
}


class IgnoreRules:
    """Rules of several folders; what is nearer to a file, or was added later, decides."""

    def __init__(self) -> None:
        self._by_folder: dict[str, list[GitIgnoreSpec]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_folder)

    def add(self, folder: str, lines: Iterable[str]) -> None:
        """Let these lines hold in the folder and below; the empty one is the root."""
        from pathspec import GitIgnoreSpec

        patterns: list[str] = []
        for line in lines:
            if len(line) > _LONGEST_RULE or line.count("*") > _MOST_ASTERISKS:
                continue
            try:
                GitIgnoreSpec.from_lines([line])
            except ValueError:  # git, too, passes over what is no rule
                continue
            patterns.append(line)
        if patterns:
            self._by_folder.setdefault(folder, []).append(GitIgnoreSpec.from_lines(patterns))

    def add_file(self, folder: str, content: bytes) -> None:
        """Let the lines of such a file hold in the folder and below."""
        self.add(folder, text(content).splitlines())

    def ignores(self, path: str) -> bool:
        """Whether a file, or a folder if the path ends with `/`, does not count."""
        if not self._by_folder:
            return False
        cut = len(path)
        while cut >= 0:
            cut = path.rfind("/", 0, cut)
            folder = path[: max(cut, 0)]
            for spec in reversed(self._by_folder.get(folder, ())):
                if (found := spec.check_file(path[cut + 1 :]).include) is not None:
                    return found
        return False


def tool_folder(path: str) -> str | None:
    """The outermost folder on the path that tools have made, or None."""
    parts = path.split("/")
    for place, part in enumerate(parts[:-1]):
        if part in TOOL_FOLDERS:
            return "/".join(parts[: place + 1])
    return None
