"""Find repositories that use what another one defines, and the users of given definitions in them.

Imports numpy, which is slow to import: load this module late.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import anyio.to_thread

from scrubjay.code_index.cross_repo.package_names import imports_from, is_in_package, original_names, resolve_use
from scrubjay.code_index.cross_repo.packages import LANGUAGES, Package, RepositoryPackages, is_needed, read_packages
from scrubjay.code_index.models import Evidence, Import, UseKind
from scrubjay.code_index.questions.locations import files_with
from scrubjay.code_index.questions.traversal import GraphNode, GraphWalker
from scrubjay.code_index.search.use_graph import UseGraph
from scrubjay.code_index.service import CodeService, LoadedIndex

# Maximum number of files that are read because they may import a package.
MAX_FILES_READ = 2_000
_PARTS = re.compile(r"\w+")
_VERSION = re.compile(r"v\d+")


class ImportingFile(NamedTuple):
    """A file that imports a package of another repository."""

    file: int
    imports: Sequence[Import]

    @property
    def lines(self) -> list[int]:
        return sorted({one.line for one in self.imports})

    @property
    def names(self) -> list[str]:
        """The imported names."""
        return list(dict.fromkeys(one.name for one in self.imports if one.name))


@dataclass(frozen=True, slots=True)
class RepositoryLink:
    """A use of one repository's package by another repository."""

    user: LoadedIndex
    definer: LoadedIndex
    package: Package
    declared: bool
    """True if a manifest of the user lists the package."""
    files: Sequence[ImportingFile]


class UsedSymbol(NamedTuple):
    """A definition whose users are searched, and its distance from the definition that was asked about."""

    hops: int = 0
    """Number of uses between the two."""
    confidence: float = 1.0


class ExternalUse(NamedTuple):
    """A place in another repository that uses a definition."""

    node: GraphNode
    line: int
    use: str
    kind: UseKind
    evidence: Evidence
    confidence: float
    hops: int


class IndirectUser(NamedTuple):
    """A user in another repository, reached through other definitions there."""

    node: GraphNode
    line: int
    hops: int
    confidence: float


@dataclass(frozen=True, slots=True)
class ExternalUsers:
    """The users of a definition in another repository, direct and indirect."""

    loaded: LoadedIndex
    package: Package
    direct: Sequence[ExternalUse]
    indirect: Sequence[IndirectUser]
    incomplete: bool


async def links_between(code: CodeService, all_loaded: Sequence[LoadedIndex]) -> list[RepositoryLink]:
    """Return which of these repositories uses which, through which package and in which files."""
    packages = [(one, await read_packages(code, one)) for one in all_loaded]
    found: list[RepositoryLink] = []
    for definer, defined in packages:
        for user, own in packages:
            if definer.record.root != user.record.root:
                found += await _links(code, user, own, definer, defined.defined)
    return found


async def _links(
    code: CodeService, user: LoadedIndex, own: RepositoryPackages, definer: LoadedIndex, packages: Iterable[Package]
) -> list[RepositoryLink]:
    defined_here = {(one.ecosystem, name) for one in own.defined for name in one.imported_as}
    found: list[RepositoryLink] = []
    for package in map(own.with_local_names, packages):
        # A repository that has the package itself does not use another's: it is a fork or another checkout.
        if any((package.ecosystem, name) in defined_here for name in package.imported_as):
            continue
        files = await find_importing_files(code, user, package)
        declared = is_needed(package, own)
        if files or declared:
            found.append(RepositoryLink(user, definer, package, declared, files))
    return found


async def find_importing_files(code: CodeService, user: LoadedIndex, package: Package) -> list[ImportingFile]:
    """Return the files of a repository that import a package."""
    corpus = user.corpus
    rows = [
        row
        for row in files_with([_search_word(name) for name in package.imported_as], corpus)
        if corpus.files[row].content.language in LANGUAGES[package.ecosystem]
    ][:MAX_FILES_READ]
    facts = await code.indexer.facts([corpus.files[row] for row in rows])
    found: list[ImportingFile] = []
    for row in rows:
        if own := imports_from(facts.get(corpus.files[row].path), package):
            found.append(ImportingFile(row, own))
    return found


def _search_word(name: str) -> str:
    """Return the word that every file importing this package must contain."""
    parts = [part for part in _PARTS.findall(name) if not _VERSION.fullmatch(part)]
    return parts[-1] if parts else name


async def used_elsewhere(
    code: CodeService, definer: LoadedIndex, wanted: Mapping[int, UsedSymbol], others: Sequence[LoadedIndex], hops: int
) -> list[ExternalUsers]:
    """Return the users of these definitions in other repositories that import their packages, up to `hops` away."""
    packages = (await read_packages(code, definer)).defined
    found: list[ExternalUsers] = []
    for other in others:
        if other.record.root == definer.record.root:
            continue
        own = await read_packages(code, other)
        for link in await _links(code, other, own, definer, packages):
            links = await code.use_graph(other), await code.use_graph(definer)
            found_users = await anyio.to_thread.run_sync(_find_users, link, *links, wanted, hops)
            if found_users.direct:
                found.append(found_users)
    return found


def _find_users(
    link: RepositoryLink, links: UseGraph, definers_links: UseGraph, wanted: Mapping[int, UsedSymbol], hops: int
) -> ExternalUsers:
    definer, corpus = link.definer, link.user.corpus
    direct: list[ExternalUse] = []
    names = {definer.corpus.names[row] for row in wanted}
    for importer in link.files:
        for one in links.unresolved.get(importer.file, ()):
            if one.external and not is_in_package(one.external, link.package):
                continue
            if names.isdisjoint(original_names(one.use, importer.imports)):
                continue
            meant = resolve_use(one.use, importer.imports, link.package, definer, definers_links)
            reached = [wanted[row] for row in meant.rows if row in wanted]
            nearest = min(reached, key=lambda each: (each.hops, -each.confidence), default=None)
            if nearest is None:
                continue
            file = importer.file
            node = GraphNode(file, int(corpus.first_symbols[file]) + one.source if one.source >= 0 else -1)
            confidence = meant.confidence * nearest.confidence
            direct.append(ExternalUse(node, one.line, one.use, one.kind, meant.evidence, confidence, nearest.hops + 1))
    walker = GraphWalker(corpus, links)
    direct.sort(key=lambda used: (used.hops, walker.is_supporting(used.node), -used.confidence, used.node, used.line))
    return ExternalUsers(link.user, link.package, direct, _find_indirect(direct, walker, hops), walker.ended_early)


def _find_indirect(direct: Sequence[ExternalUse], walker: GraphWalker, hops: int) -> list[IndirectUser]:
    """Return the users of the direct users, nearest first."""
    known = {used.node for used in direct}
    found: list[IndirectUser] = []
    for level in sorted({used.hops for used in direct}):
        starts = {used.node: used.confidence for used in reversed(direct) if used.hops == level}
        for one in walker.dependents([*starts], hops - level) if level < hops else ():
            if one.node not in known:
                known.add(one.node)
                confidence = one.path.confidence * starts[one.path.nodes[0]]
                found.append(IndirectUser(one.node, one.path.links[-1].line, level + one.hops, confidence))
    return sorted(found, key=lambda one: one.hops)
