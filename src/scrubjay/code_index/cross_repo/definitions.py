"""Where other repositories define what a function calls of their packages.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import anyio.to_thread

from scrubjay.code_index.cross_repo.package_names import imports_of, is_of, meant_by
from scrubjay.code_index.cross_repo.packages import LANGUAGES, Package, packages_of
from scrubjay.code_index.models import Evidence, Facts, Unresolved, UseKind
from scrubjay.code_index.questions.traversal import CALLING
from scrubjay.code_index.search.use_graph import Links
from scrubjay.code_index.service import CodeService, Loaded

# Of a call that may mean more definitions than this, nothing is told: it is not even a guess.
MOST_MEANT = 5


class Called(NamedTuple):
    """A call of something that another repository defines."""

    row: int
    """The definition there."""
    file: int
    """The calling file, here."""
    line: int
    kind: UseKind
    evidence: Evidence
    confidence: float


@dataclass(frozen=True, slots=True)
class DefinedElsewhere:
    """What is called of one package of another repository."""

    loaded: Loaded
    package: Package
    calls: Sequence[Called]


async def defined_elsewhere(
    code: CodeService, user: Loaded, rows: Sequence[int], others: Sequence[Loaded]
) -> list[DefinedElsewhere]:
    """What these definitions call of packages that other repositories define."""
    links = await code.links(user)
    calls = [(file, one) for row in rows for file, one in unresolved_calls(row, user, links)]
    if not calls:
        return []
    files = user.corpus.files
    facts = await code.indexer.facts([files[file] for file in {file for file, _ in calls}])
    known = await packages_of(code, user)
    own = {(one.ecosystem, name) for one in known.defined for name in one.imported_as}
    found: list[DefinedElsewhere] = []
    for other in others:
        if other.record.root == user.record.root:
            continue
        for package in map(known.as_known, (await packages_of(code, other)).defined):
            # What a repository has itself it does not take from another: a fork, another checkout.
            if any((package.ecosystem, name) in own for name in package.imported_as):
                continue
            there = await code.links(other)
            of_package = await anyio.to_thread.run_sync(_called, calls, user, facts, package, other, there)
            if of_package:
                found.append(DefinedElsewhere(other, package, of_package))
    return found


def unresolved_calls(row: int, loaded: Loaded, links: Links) -> list[tuple[int, Unresolved]]:
    """The calls of a definition, with its file, whose own definition is not in its repository."""
    file = int(loaded.corpus.symbols.files[row])
    own = row - int(loaded.corpus.first_symbols[file])
    return [(file, one) for one in links.unresolved.get(file, ()) if one.source == own and one.kind in CALLING]


def _called(
    calls: Sequence[tuple[int, Unresolved]],
    user: Loaded,
    facts: Facts,
    package: Package,
    other: Loaded,
    links: Links,
) -> list[Called]:
    found: list[Called] = []
    for file, one in calls:
        here = user.corpus.files[file]
        if here.content.language not in LANGUAGES[package.ecosystem]:
            continue
        imports = imports_of(facts.get(here.path), package)
        # Where everything is imported, it is not known which package a name is of.
        takes_all = not one.external and any(taken.name == "*" for taken in imports)
        if not imports or not (takes_all or is_of(one.external, package)):
            continue
        meant = meant_by(one.use, imports, package, other, links)
        if len(meant.rows) <= MOST_MEANT:
            found += [Called(row, file, one.line, one.kind, meant.evidence, meant.confidence) for row in meant.rows]
    return found
