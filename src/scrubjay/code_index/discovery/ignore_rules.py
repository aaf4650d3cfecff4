"""Ignore rules: the lines of `.gitignore` and `.ignore` files, and excludes of the caller."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scrubjay.code_index.discovery.rooted_reader import decode_path
from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    import pathspec
    from pathspec import GitIgnoreSpec
else:
    pathspec = lazy_module("pathspec")

# A rule becomes a regular expression; each asterisk multiplies the cost of matching a hostile name.
_MAX_ASTERISKS = 5
_MAX_RULE_LENGTH = 400
# Folders that tools create inside a project. They are never useful to find, even if git tracks them.
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
    """Ignore rules of several folders; the rule nearest to a file wins, then the one added last."""

    def __init__(self) -> None:
        self._by_folder: dict[str, list[GitIgnoreSpec]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_folder)

    def add(self, folder: str, lines: Iterable[str]) -> None:
        """Apply these lines in the folder and below; the empty string is the root."""
        patterns: list[str] = []
        for line in lines:
            if len(line) > _MAX_RULE_LENGTH or line.count("*") > _MAX_ASTERISKS:
                continue
            try:
                pathspec.GitIgnoreSpec.from_lines([line])
            except ValueError:  # git ignores invalid rules too
                continue
            patterns.append(line)
        if patterns:
            self._by_folder.setdefault(folder, []).append(pathspec.GitIgnoreSpec.from_lines(patterns))

    def add_file(self, folder: str, content: bytes) -> None:
        """Apply the lines of an ignore file in the folder and below."""
        self.add(folder, decode_path(content).splitlines())

    def ignores(self, path: str) -> bool:
        """Return whether a file is ignored, or a folder if the path ends with `/`."""
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


def find_tool_folder(path: str) -> str | None:
    """Return the outermost folder on the path that a tool created, or None."""
    parts = path.split("/")
    for index, part in enumerate(parts[:-1]):
        if part in TOOL_FOLDERS:
            return "/".join(parts[: index + 1])
    return None
