"""ripgrep as an engine: files that contain the most words of a question, and lines that look like definitions."""

import re
import subprocess
from collections import defaultdict
from pathlib import Path

from benchmarks.code_engine import RESULT_LIMIT, Hit, own_cpu

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
# Words that a user would not search for.
_STOP_WORDS = re.compile(
    "and|are|can|does|for|from|how|into|its|not|that|the|then|this|use|used|using|via|what|when|where|which|with",
    re.IGNORECASE,
)
_DEFINITION_KEYWORDS = (
    r"\b(class|const|def|enum|fn|func|function|interface|let|macro_rules!|mod|static|struct|trait|type|var)\b"
)
_LINE = re.compile(r"(.+?)\0(\d+):(.*)")


class Ripgrep:
    """Implements `CodeEngine` without an index: every search reads all files."""

    def __init__(self, root: Path, home: Path, installed: Path) -> None:
        self._root = root
        self._program = str(installed)

    async def open(self) -> None:
        pass

    async def index(self) -> None:
        pass

    async def check_unchanged(self) -> None:
        pass

    async def refresh(self) -> None:
        pass

    async def search(self, query: str) -> list[Hit]:
        words = dict.fromkeys(word for word in _WORD.findall(query) if not _STOP_WORDS.fullmatch(word))
        if not words:
            return []
        having: dict[str, set[str]] = defaultdict(set)
        often: dict[str, int] = defaultdict(int)
        for path, _, found in self._lines("-o", "-i", "-F", *(part for word in words for part in ("-e", word))):
            having[path].add(found.lower())
            often[path] += 1
        best = sorted(having, key=lambda path: (-len(having[path]), -often[path], path))
        return [Hit(path, 1, 1) for path in best[:RESULT_LIMIT]]

    async def symbol(self, name: str) -> list[Hit]:
        """Return lines that look like a definition of the name first, then other lines that contain it."""
        lines = self._lines("-w", "-F", "-e", name)
        defining = re.compile(rf"{_DEFINITION_KEYWORDS}.*\b{re.escape(name)}\b")
        best = sorted(lines, key=lambda line: (not defining.search(line[2]), line[0], line[1]))
        return [Hit(path, line, line) for path, line, _ in best[:RESULT_LIMIT]]

    def cpu(self) -> float:
        return own_cpu()

    async def close(self) -> None:
        pass

    def _lines(self, *options: str) -> list[tuple[str, int, str]]:
        command = [self._program, "--no-config", "--null", "-n", "--no-heading", *options, "--", "."]
        output = subprocess.run(command, cwd=self._root, capture_output=True).stdout.decode("utf-8", "replace")
        parts = [found.groups() for found in map(_LINE.match, output.splitlines()) if found]
        return [(path.removeprefix("./"), int(line), text) for path, line, text in parts]
