"""Which repositories use what another one defines, and who in them uses one of its definitions.

This module imports numpy, which takes a while: import it where it is needed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import anyio.to_thread

from scrubjay.code_index.cross_repo.package_names import imports_of, is_of, meant_by, original_names
from scrubjay.code_index.cross_repo.packages import LANGUAGES, Package, Packages, is_needed, packages_of
from scrubjay.code_index.models import Evidence, Import, UseKind
from scrubjay.code_index.questions.locations import files_with
from scrubjay.code_index.questions.traversal import Node, Walker
from scrubjay.code_index.search.use_graph import Links
from scrubjay.code_index.service import CodeService, Loaded

# So many files that may import a package are looked at.
MOST_READ = 2_000
_PARTS = re.compile(r"\w+")
_VERSION = re.compile(r"v\d+")


class ImportingFile(NamedTuple):
    """A file that takes something of a package of another repository."""

    file: int
    imports: Sequence[Import]

    @property
    def lines(self) -> list[int]:
        return sorted({one.line for one in self.imports})

    @property
    def names(self) -> list[str]:
        """What it takes."""
        return list(dict.fromkeys(one.name for one in self.imports if one.name))


@dataclass(frozen=True, slots=True)
class RepositoryLink:
    """One repository uses a package that another one defines."""

    user: Loaded
    definer: Loaded
    package: Package
    declared: bool
    """Whether a manifest of the user says so."""
    files: Sequence[ImportingFile]


class Wanted(NamedTuple):
    """A definition whose users are looked for, and how it comes to be one."""

    hops: int = 0
    """Through how many others it uses what was asked for."""
    confidence: float = 1.0


class Used(NamedTuple):
    """A place in another repository that uses a definition."""

    node: Node
    line: int
    use: str
    kind: UseKind
    evidence: Evidence
    confidence: float
    hops: int


class Further(NamedTuple):
    """Who is reached in another repository through others there."""

    node: Node
    line: int
    hops: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Who uses a definition in another repository, directly or through others there."""

    loaded: Loaded
    package: Package
    direct: Sequence[Used]
    further: Sequence[Further]
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
    for package in map(own.as_known, packages):
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
        if own := imports_of(facts.get(corpus.files[row].path), package):
            found.append(ImportingFile(row, own))
    return found


def _telling(name: str) -> str:
    """The part of a package's name that a file which imports it must have as a word."""
    parts = [part for part in _PARTS.findall(name) if not _VERSION.fullmatch(part)]
    return parts[-1] if parts else name


async def used_elsewhere(
    code: CodeService, definer: Loaded, wanted: Mapping[int, Wanted], others: Sequence[Loaded], hops: int
) -> list[Elsewhere]:
    """Who uses these definitions in other repositories that import their packages, through so many hops in all."""
    packages = (await packages_of(code, definer)).defined
    found: list[Elsewhere] = []
    for other in others:
        if other.record.root == definer.record.root:
            continue
        own = await packages_of(code, other)
        for link in await _links(code, other, own, definer, packages):
            links = await code.links(other), await code.links(definer)
            told = await anyio.to_thread.run_sync(_used, link, *links, wanted, hops)
            if told.direct:
                found.append(told)
    return found


def _used(
    link: RepositoryLink, links: Links, definers_links: Links, wanted: Mapping[int, Wanted], hops: int
) -> Elsewhere:
    definer, corpus = link.definer, link.user.corpus
    direct: list[Used] = []
    names = {definer.corpus.names[row] for row in wanted}
    for taking in link.files:
        for one in links.unresolved.get(taking.file, ()):
            if one.external and not is_of(one.external, link.package):
                continue
            if names.isdisjoint(original_names(one.use, taking.imports)):
                continue
            meant = meant_by(one.use, taking.imports, link.package, definer, definers_links)
            reached = [wanted[row] for row in meant.rows if row in wanted]
            nearest = min(reached, key=lambda each: (each.hops, -each.confidence), default=None)
            if nearest is None:
                continue
            file = taking.file
            node = Node(file, int(corpus.first_symbols[file]) + one.source if one.source >= 0 else -1)
            confidence = meant.confidence * nearest.confidence
            direct.append(Used(node, one.line, one.use, one.kind, meant.evidence, confidence, nearest.hops + 1))
    walker = Walker(corpus, links)
    direct.sort(key=lambda used: (used.hops, walker.is_beside(used.node), -used.confidence, used.node, used.line))
    return Elsewhere(link.user, link.package, direct, _further(direct, walker, hops), walker.ended_early)


def _further(direct: Sequence[Used], walker: Walker, hops: int) -> list[Further]:
    """Who uses those that use it, the nearest first."""
    known = {used.node for used in direct}
    found: list[Further] = []
    for level in sorted({used.hops for used in direct}):
        starts = {used.node: used.confidence for used in reversed(direct) if used.hops == level}
        for one in walker.backward([*starts], hops - level) if level < hops else ():
            if one.node not in known:
                known.add(one.node)
                confidence = one.way.confidence * starts[one.way.nodes[0]]
                found.append(Further(one.node, one.way.links[-1].line, level + one.hops, confidence))
    return sorted(found, key=lambda one: one.hops)
