"""Which repositories use what another one defines, and who in them uses one of its definitions.

This module imports numpy, which takes a while: import it where it is needed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import anyio.to_thread

from recollect.codebase.asking.places import files_with
from recollect.codebase.asking.walking import GUESS, Node, Reached, Walker
from recollect.codebase.search.links import Links
from recollect.codebase.service import CodeService, Loaded
from recollect.codebase.several.packages import LANGUAGES, Package, Packages, is_needed, packages_of
from recollect.domain.code import FileFacts, Import

# So many files that may import a package are looked at.
MOST_READ = 2_000
_PARTS = re.compile(r"\w+")
_VERSION = re.compile(r"v\d+")
_SEPARATORS = re.compile(r"::|[./\\#]|->")


class ImportingFile(NamedTuple):
    """A file that takes something of a package of another repository."""

    file: int
    lines: Sequence[int]
    names: Sequence[str]
    """What it takes."""


@dataclass(frozen=True, slots=True)
class RepositoryLink:
    """One repository uses a package that another one defines."""

    user: Loaded
    definer: Loaded
    package: Package
    declared: bool
    """Whether a manifest of the user says so."""
    files: Sequence[ImportingFile]


class Used(NamedTuple):
    """A place in another repository that uses a definition."""

    node: Node
    line: int
    use: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Who uses a definition in another repository, directly or through others there."""

    loaded: Loaded
    package: Package
    direct: Sequence[Used]
    further: Sequence[Reached]
    incomplete: bool


async def links_between(code: CodeService, all_loaded: Sequence[Loaded]) -> list[RepositoryLink]:
    """Which of these repositories uses which, by which package and which files."""
    packages = [(one, await packages_of(code, one)) for one in all_loaded]
    found: list[RepositoryLink] = []
    for definer, defined in packages:
        for user, own in packages:
            if definer.record.root != user.record.root:
                found += await _links(code, user, own, definer, defined.defined)
    return found


async def _links(
    code: CodeService, user: Loaded, own: Packages, definer: Loaded, packages: Iterable[Package]
) -> list[RepositoryLink]:
    defined_here = {(one.ecosystem, name) for one in own.defined for name in one.imported_as}
    found: list[RepositoryLink] = []
    for package in packages:
        # What a repository has itself it does not take from another: a fork, another checkout.
        if any((package.ecosystem, name) in defined_here for name in package.imported_as):
            continue
        files = await importing(code, user, package)
        declared = is_needed(package, own)
        if files or declared:
            found.append(RepositoryLink(user, definer, package, declared, files))
    return found


async def importing(code: CodeService, user: Loaded, package: Package) -> list[ImportingFile]:
    """The files of a repository that import a package."""
    corpus = user.corpus
    rows = [
        row
        for row in files_with([_telling(name) for name in package.imported_as], corpus)
        if corpus.files[row].content.language in LANGUAGES[package.ecosystem]
    ][:MOST_READ]
    facts = await code.indexer.facts([corpus.files[row] for row in rows])
    found: list[ImportingFile] = []
    for row in rows:
        own = _imports_of(facts.get(corpus.files[row].path), package)
        if own:
            names = dict.fromkeys(one.name for one in own if one.name)
            found.append(ImportingFile(row, sorted({one.line for one in own}), list(names)))
    return found


def _imports_of(facts: FileFacts | None, package: Package) -> list[Import]:
    return [one for one in facts.imports if _is_of(one.module, package)] if facts is not None else []


def _is_of(module: str, package: Package) -> bool:
    return any(
        module == name or (module.startswith(name) and module[len(name) :][:1] in (".", "/", ":"))
        for name in package.imported_as
    )


def _telling(name: str) -> str:
    """The part of a package's name that a file which imports it must have as a word."""
    parts = [part for part in _PARTS.findall(name) if not _VERSION.fullmatch(part)]
    return parts[-1] if parts else name


async def used_elsewhere(
    code: CodeService, definer: Loaded, rows: Sequence[int], others: Sequence[Loaded], hops: int
) -> list[Elsewhere]:
    """Who uses these definitions in other repositories that import their packages."""
    packages = (await packages_of(code, definer)).defined
    found: list[Elsewhere] = []
    for other in others:
        if other.record.root == definer.record.root:
            continue
        own = await packages_of(code, other)
        for link in await _links(code, other, own, definer, packages):
            names = _names(definer, [row for row in rows if _is_in(row, definer, link.package)])
            if not names:
                continue
            links = await code.links(other)
            told = await anyio.to_thread.run_sync(_used, other, links, link, names, hops)
            if told.direct:
                found.append(told)
    return found


def _is_in(row: int, definer: Loaded, package: Package) -> bool:
    """Whether a definition may be had by this package: by its language, and by where the manifest is."""
    file = definer.corpus.files[int(definer.corpus.symbols.files[row])]
    folder = package.manifest.rpartition("/")[0]
    return file.content.language in LANGUAGES[package.ecosystem] and (not folder or file.path.startswith(folder + "/"))


def _names(definer: Loaded, rows: Sequence[int]) -> Mapping[str, bool]:
    """By the last name of each definition whether it is at the top of a file; others are known by a name alone."""
    corpus = definer.corpus
    return {corpus.names[row]: int(corpus.symbols.containers[row]) < 0 for row in rows}


def _used(other: Loaded, links: Links, link: RepositoryLink, names: Mapping[str, bool], hops: int) -> Elsewhere:
    direct: list[Used] = []
    corpus = other.corpus
    taken = {one.file: {*one.names} for one in link.files}
    for file, own_names in taken.items():
        for one in links.unresolved.get(file, ()):
            name = _SEPARATORS.split(one.use)[-1]
            if name not in names:
                continue
            is_of_package = _is_of(one.external, link.package)
            if not is_of_package and one.external:
                continue
            sure = is_of_package and (names[name] or name in own_names)
            node = Node(file, int(corpus.first_symbols[file]) + one.source if one.source >= 0 else -1)
            direct.append(Used(node, one.line, one.use, 0.9 if sure else GUESS - 0.1))
    walker = Walker(corpus, links)
    starts = list(dict.fromkeys(used.node for used in direct))
    further = walker.backward(starts, hops - 1) if starts and hops > 1 else []
    direct.sort(key=lambda used: (walker.is_beside(used.node), -used.confidence, used.node, used.line))
    return Elsewhere(other, link.package, direct, further, walker.ended_early)
