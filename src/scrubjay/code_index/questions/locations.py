"""Where a name is: the files that it may mean, and the lines that have it by its letters.

This module imports numpy, which takes a while: import it where it is needed.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scrubjay.code_index.facts.words import words_of
from scrubjay.code_index.models import FileFacts, Import
from scrubjay.code_index.questions.traversal import BESIDE
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.code_index.service import CodeService, Loaded
from scrubjay.core.errors import Conflict
from scrubjay.search_index.token_segments import token

# So many files are read to find a name by its letters.
MOST_READ = 60
_SUFFIX = re.compile(r"(?:\.d)?\.\w{1,10}$")
_FACE = re.compile(r"/(?:__init__|index|mod|lib)$")
# A WSGI request has an `environ` too: only that of `os` counts.
ENVIRONMENT = re.compile(
    r"(?:\bos\.environ(?:\.get|\.setdefault|\.pop)?\s*[\[(]|getenv\s*\(|process\.env\[|env::var(?:_os)?\(|"
    r"\bENV(?:\[|\.fetch\()|Getenv\(|LookupEnv\(|\$_ENV\[|GetEnvironmentVariable\()\s*['\"](?P<name>[A-Za-z_]\w*)['\"]|"
    r"(?:process|import\.meta)\.env\.(?P<property>[A-Za-z_]\w*)"
)
ENVIRONMENT_WORDS = ("environ", "getenv", "env", "ENV", "LookupEnv", "GetEnvironmentVariable")


class Mention(NamedTuple):
    """A line that has a name."""

    file: int
    line: int
    text: str


class Mentions(NamedTuple):
    """Where a name stands, tests and examples last."""

    found: Sequence[Mention]
    unread: int
    """How many files may have it too and were not read."""


def environment_names(line: str) -> list[str]:
    """The environment variables that a line reads."""
    return [match["name"] or match["property"] for match in ENVIRONMENT.finditer(line)]


def files_named(name: str, corpus: Corpus) -> list[int]:
    """The files that are meant by a path, a part of it, or a module's name; all below it for a folder's."""
    wanted = name.removeprefix("./").strip("/")
    if not wanted:
        return []
    if (row := corpus.row_of.get(wanted)) is not None:
        return [row]
    dotted = wanted.replace("::", "/").replace(".", "/")
    by_path = [row for path, row in corpus.row_of.items() if path.endswith(f"/{wanted}")]
    if by_path:
        return by_path
    modules = {row: _FACE.sub("", "/" + _SUFFIX.sub("", path)) for path, row in corpus.row_of.items()}
    for form in dict.fromkeys((wanted, dotted)):
        if found := [row for row, module in modules.items() if module.endswith(f"/{form}")]:
            # A package is more than the file that speaks for it.
            inner = tuple(modules[row] + "/" for row in found if _is_face(corpus.files[row].path))
            return found + [row for row, module in modules.items() if inner and module.startswith(inner)]
    for form in dict.fromkeys((wanted, dotted)):
        if found := [row for path, row in corpus.row_of.items() if f"/{form}/" in f"/{path}"]:
            return found
    return []


def _is_face(path: str) -> bool:
    return _FACE.search("/" + _SUFFIX.sub("", path)) is not None


def import_lines(facts: FileFacts, target: str, defined: Iterable[str]) -> list[Import]:
    """The imports of a file that mean another one, as far as their words tell."""
    stem = _FACE.sub("", "/" + _SUFFIX.sub("", target)).rsplit("/", 1)[-1]
    names = {*defined}

    def means(one: Import) -> bool:
        parts = [part for part in re.split(r"[./:\\]+", _SUFFIX.sub("", one.module) or one.module) if part]
        return one.name == stem or (bool(parts) and parts[-1] == stem)

    return [one for one in facts.imports if means(one)] or [one for one in facts.imports if one.name in names]


def external_imports(facts: FileFacts, library: str) -> list[Import]:
    """The imports of a file that take something of a library, or of a part of it."""
    return [
        one
        for one in facts.imports
        if one.module == library
        or (one.module.startswith(library) and one.module[len(library)] in "./:")
        or f"{one.module}.{one.name}" == library
    ]


def files_with(words: Iterable[str], corpus: Corpus) -> list[int]:
    """The files that have all the words of one of these names, the program's own first."""
    found: dict[int, None] = {}
    for word in words:
        if parts := words_of(word):
            for chunk in corpus.words.having(token(parts[-1])).rows.tolist():
                file = int(corpus.chunks.files[chunk])
                if corpus.alive[file]:
                    found[file] = None
    return sorted(found, key=lambda row: (bool(corpus.files[row].traits & BESIDE), corpus.files[row].path))


async def mentions(pattern: re.Pattern[str], words: Iterable[str], code: CodeService, loaded: Loaded) -> Mentions:
    """The lines that fit a pattern, in the files that have one of these words."""
    files = files_with(words, loaded.corpus)
    found: list[Mention] = []
    for file in files[:MOST_READ]:
        try:
            content = await code.content(loaded, loaded.corpus.files[file])
        except Conflict:
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), start=1):
            if pattern.search(line):
                found.append(Mention(file, number, line))
    return Mentions(found, max(0, len(files) - MOST_READ))
