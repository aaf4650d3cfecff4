"""Find the files that a name may mean, and the lines in which it occurs as text.

This module imports numpy, which is slow to load.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scrubjay.code_index.facts.tokenizer import tokenize
from scrubjay.code_index.models import FileFacts, Import
from scrubjay.code_index.questions.traversal import SUPPORTING
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.code_index.service import CodeService, LoadedIndex
from scrubjay.core.errors import Conflict
from scrubjay.search_index.token_segments import token

# Largest number of files read to find text.
MAX_FILES_READ = 60
_SUFFIX = re.compile(r"(?:\.d)?\.\w{1,10}$")
_PACKAGE_FILE = re.compile(r"/(?:__init__|index|mod|lib)$")
# Only `os.environ`: a WSGI request has an `environ` too.
ENVIRONMENT = re.compile(
    r"(?:\bos\.environ(?:\.get|\.setdefault|\.pop)?\s*[\[(]|getenv\s*\(|process\.env\[|env::var(?:_os)?\(|"
    r"\bENV(?:\[|\.fetch\()|Getenv\(|LookupEnv\(|\$_ENV\[|GetEnvironmentVariable\()\s*['\"](?P<name>[A-Za-z_]\w*)['\"]|"
    r"(?:process|import\.meta)\.env\.(?P<property>[A-Za-z_]\w*)"
)
ENVIRONMENT_WORDS = ("environ", "getenv", "env", "ENV", "LookupEnv", "GetEnvironmentVariable")


class TextOccurrence(NamedTuple):
    """A line that contains the text."""

    file: int
    line: int
    text: str


class TextOccurrences(NamedTuple):
    """Lines that contain a text; those of tests and examples come last."""

    found: Sequence[TextOccurrence]
    unread: int
    """Number of files that may contain it but were not read."""


def environment_names(line: str) -> list[str]:
    """Return the environment variables that a line reads."""
    return [match["name"] or match["property"] for match in ENVIRONMENT.finditer(line)]


def files_named(name: str, corpus: Corpus) -> list[int]:
    """Return the files that a path, partial path or module name means; for a folder, all files in it."""
    wanted = name.removeprefix("./").strip("/")
    if not wanted:
        return []
    if (row := corpus.row_of.get(wanted)) is not None:
        return [row]
    dotted = wanted.replace("::", "/").replace(".", "/")
    by_path = [row for path, row in corpus.row_of.items() if path.endswith(f"/{wanted}")]
    if by_path:
        return by_path
    modules = {row: _PACKAGE_FILE.sub("", "/" + _SUFFIX.sub("", path)) for path, row in corpus.row_of.items()}
    for form in dict.fromkeys((wanted, dotted)):
        if found := [row for row, module in modules.items() if module.endswith(f"/{form}")]:
            # A package includes the files beside its `__init__` or index file.
            inner = tuple(modules[row] + "/" for row in found if _is_package_file(corpus.files[row].path))
            return found + [row for row, module in modules.items() if inner and module.startswith(inner)]
    for form in dict.fromkeys((wanted, dotted)):
        if found := [row for path, row in corpus.row_of.items() if f"/{form}/" in f"/{path}"]:
            return found
    return []


def _is_package_file(path: str) -> bool:
    return _PACKAGE_FILE.search("/" + _SUFFIX.sub("", path)) is not None


def import_lines(facts: FileFacts, target: str, defined: Iterable[str]) -> list[Import]:
    """Return the imports of a file that refer to another file, judging by their names."""
    stem = _PACKAGE_FILE.sub("", "/" + _SUFFIX.sub("", target)).rsplit("/", 1)[-1]
    names = {*defined}

    def means(one: Import) -> bool:
        parts = [part for part in re.split(r"[./:\\]+", _SUFFIX.sub("", one.module) or one.module) if part]
        return one.name == stem or (bool(parts) and parts[-1] == stem)

    return [one for one in facts.imports if means(one)] or [one for one in facts.imports if one.name in names]


def external_imports(facts: FileFacts, library: str) -> list[Import]:
    """Return the imports of a file from a library or its submodules."""
    return [
        one
        for one in facts.imports
        if one.module == library
        or (one.module.startswith(library) and one.module[len(library)] in "./:")
        or f"{one.module}.{one.name}" == library
    ]


def files_with(words: Iterable[str], corpus: Corpus) -> list[int]:
    """Return the files that contain one of these names, program code first."""
    found: dict[int, None] = {}
    for word in words:
        if parts := tokenize(word):
            for chunk in corpus.words.occurrences_of(token(parts[-1])).rows.tolist():
                file = int(corpus.chunks.files[chunk])
                if corpus.alive[file]:
                    found[file] = None
    return sorted(found, key=lambda row: (bool(corpus.files[row].traits & SUPPORTING), corpus.files[row].path))


async def find_occurrences(
    pattern: re.Pattern[str], words: Iterable[str], code: CodeService, loaded: LoadedIndex
) -> TextOccurrences:
    """Return the lines that match a pattern, in files that contain one of these words."""
    files = files_with(words, loaded.corpus)
    found: list[TextOccurrence] = []
    for file in files[:MAX_FILES_READ]:
        try:
            content = await code.content(loaded, loaded.corpus.files[file])
        except Conflict:
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), start=1):
            if pattern.search(line):
                found.append(TextOccurrence(file, number, line))
    return TextOccurrences(found, max(0, len(files) - MAX_FILES_READ))
