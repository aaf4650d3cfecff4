"""Find the definitions in other repositories that a function calls through their packages.

Imports numpy, which is slow to import: load this module late.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import anyio.to_thread

from scrubjay.code_index.cross_repo.package_names import imports_from, is_in_package, resolve_use
from scrubjay.code_index.cross_repo.packages import LANGUAGES, Package, read_packages
from scrubjay.code_index.models import Evidence, Facts, Unresolved, UseKind
from scrubjay.code_index.questions.traversal import CALL_KINDS
from scrubjay.code_index.search.use_graph import UseGraph
from scrubjay.code_index.service import CodeService, LoadedIndex

# A call that may refer to more definitions than this is left out: it is not even a guess.
MAX_CANDIDATES = 5


class ExternalCall(NamedTuple):
    """A call of a definition in another repository."""

    row: int
    """The definition, in the other repository."""
    file: int
    """The calling file, in this repository."""
    line: int
    kind: UseKind
    evidence: Evidence
    confidence: float


@dataclass(frozen=True, slots=True)
class DefinedElsewhere:
    """The calls of definitions in one package of another repository."""

    loaded: LoadedIndex
    package: Package
    calls: Sequence[ExternalCall]


async def defined_elsewhere(
    code: CodeService, user: LoadedIndex, rows: Sequence[int], others: Sequence[LoadedIndex]
) -> list[DefinedElsewhere]:
    """Return what these definitions call in packages of other repositories."""
    links = await code.use_graph(user)
    calls = [(file, one) for row in rows for file, one in unresolved_calls(row, user, links)]
    if not calls:
        return []
    files = user.corpus.files
    facts = await code.indexer.facts([files[file] for file in {file for file, _ in calls}])
    known = await read_packages(code, user)
    own = {(one.ecosystem, name) for one in known.defined for name in one.imported_as}
    found: list[DefinedElsewhere] = []
    for other in others:
        if other.record.root == user.record.root:
            continue
        for package in map(known.with_local_names, (await read_packages(code, other)).defined):
            # A repository that has the package itself does not use another's: it is a fork or another checkout.
            if any((package.ecosystem, name) in own for name in package.imported_as):
                continue
            there = await code.use_graph(other)
            of_package = await anyio.to_thread.run_sync(_resolve_calls, calls, user, facts, package, other, there)
            if of_package:
                found.append(DefinedElsewhere(other, package, of_package))
    return found


def unresolved_calls(row: int, loaded: LoadedIndex, links: UseGraph) -> list[tuple[int, Unresolved]]:
    """Return the calls in a definition that its own repository does not define, each with the file."""
    file = int(loaded.corpus.symbols.files[row])
    own = row - int(loaded.corpus.first_symbols[file])
    return [(file, one) for one in links.unresolved.get(file, ()) if one.source == own and one.kind in CALL_KINDS]


def _resolve_calls(
    calls: Sequence[tuple[int, Unresolved]],
    user: LoadedIndex,
    facts: Facts,
    package: Package,
    other: LoadedIndex,
    links: UseGraph,
) -> list[ExternalCall]:
    found: list[ExternalCall] = []
    for file, one in calls:
        here = user.corpus.files[file]
        if here.content.language not in LANGUAGES[package.ecosystem]:
            continue
        imports = imports_from(facts.get(here.path), package)
        # After a star import, the package of a name is unknown.
        takes_all = not one.external and any(taken.name == "*" for taken in imports)
        if not imports or not (takes_all or is_in_package(one.external, package)):
            continue
        meant = resolve_use(one.use, imports, package, other, links)
        if len(meant.rows) <= MAX_CANDIDATES:
            found += [
                ExternalCall(row, file, one.line, one.kind, meant.evidence, meant.confidence) for row in meant.rows
            ]
    return found
