"""Assess the risk of a change: for each definition it touches, who uses it and which tests reach it.

Imports numpy, which is slow to import: load this module late.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import anyio.to_thread
import numpy as np

from scrubjay.code_index.diff.dangling_uses import DanglingUses, StillUsed
from scrubjay.code_index.diff.files import Diff
from scrubjay.code_index.diff.symbols import Touch, TouchedDefinition, touched_definitions
from scrubjay.code_index.models import FileTrait
from scrubjay.code_index.questions.impact import impact_of_rows, is_guess
from scrubjay.code_index.questions.traversal import SUPPORTING, GraphNode, ReachedNode
from scrubjay.code_index.search.use_graph import UseGraph
from scrubjay.code_index.service import CodeService, LoadedIndex

# Indirect users are followed for this many definitions; for the rest only direct users are counted.
MAX_FOLLOWED = 200
MAX_TOUCHED = 2_000
# Base risk of each kind of change, if the definition is used.
BASE_RISK = {
    Touch.REMOVED: 0.2,
    Touch.SIGNATURE: 0.6,
    Touch.RENAMED: 0.4,
    Touch.MOVED: 0.4,
    Touch.BODY: 0.35,
    Touch.TOP: 0.15,
    Touch.ADDED: 0.05,
}
# A removed definition that is still used certainly breaks something, so it ranks above all other risks.
STILL_USED, MAYBE_STILL_USED, MAX_OTHER_RISK = 1.0, 0.5, 0.95
UNUSED_FACTOR = 0.4
PER_DOUBLING, MAX_BY_USERS = 0.06, 0.25
UNCHANGED_USERS = 0.1
UNTESTED = 0.1
# Factor for tests and examples, which break nothing else.
SECONDARY_FACTOR = 0.25


@dataclass(frozen=True, slots=True)
class Consequence:
    """A touched definition with its risk and users."""

    touched: TouchedDefinition
    risk: float
    """0 to 1."""
    reason: str
    still_used: Sequence[StillUsed]
    affected: Sequence[ReachedNode]
    """Users without tests, nearest first."""
    tests: Sequence[ReachedNode]
    """Tests that reach it or still name it."""
    incomplete: bool


@dataclass(frozen=True, slots=True)
class Consequences:
    """All consequences of a diff."""

    diff: Diff
    found: Sequence[Consequence]
    """Riskiest first."""
    incomplete: bool


async def consequences_of(found: Diff, code: CodeService, loaded: LoadedIndex, hops: int) -> Consequences:
    """Return the consequences of a diff for the users of the definitions it touches."""
    links = await code.use_graph(loaded)
    changed = await anyio.to_thread.run_sync(touched_definitions, found.files)
    leftovers = await DanglingUses.find(changed, code, loaded, links)

    def assess_all() -> Consequences:
        assessor = _RiskAssessor(loaded, links, hops, changed, leftovers)
        consequences = [assessor.consequence(one, number) for number, one in enumerate(changed[:MAX_TOUCHED])]
        consequences.sort(key=lambda one: (-one.risk, one.touched.path, one.touched.line))
        incomplete = len(changed) > MAX_TOUCHED or any(one.incomplete for one in consequences)
        return Consequences(found, consequences, incomplete)

    return await anyio.to_thread.run_sync(assess_all)


class _RiskAssessor:
    def __init__(
        self,
        loaded: LoadedIndex,
        links: UseGraph,
        hops: int,
        changed: Collection[TouchedDefinition],
        leftovers: DanglingUses,
    ) -> None:
        self._loaded = loaded
        self._links = links
        self._hops = hops
        self._rows = _rows_by_name(loaded, {one.path for one in changed})
        self._changed = {
            row for one in changed if one.touch is not Touch.REMOVED for row in self._rows.get((one.path, one.name), ())
        }
        self._leftovers = leftovers

    def consequence(self, one: TouchedDefinition, number: int) -> Consequence:
        still = self._leftovers.still_used(one)
        affected: Sequence[ReachedNode] = ()
        tests: Sequence[ReachedNode] = ()
        incomplete = False
        rows = self._rows.get((one.path, one.name), []) if one.touch is not Touch.REMOVED else []
        if rows:
            hops = self._hops if number < MAX_FOLLOWED else 1
            found = impact_of_rows(rows, self._loaded, self._links, hops)
            affected, tests, incomplete = found.affected, found.tests, found.incomplete or hops < self._hops
        if users := [use.symbol for use in still if use.symbol >= 0]:
            beyond = impact_of_rows(users, self._loaded, self._links, self._hops)
            known = {test.node for test in tests}
            tests = [*tests, *(test for test in beyond.tests if test.node not in known)]
        risk, reason = self._assess(one, still, affected, tests, bool(rows) or one.touch is Touch.REMOVED)
        max_risk = STILL_USED if any(use.is_sure for use in still) else MAX_OTHER_RISK
        return Consequence(one, round(min(max_risk, risk), 3), reason, still, affected, tests, incomplete)

    def _assess(
        self,
        one: TouchedDefinition,
        still: Sequence[StillUsed],
        affected: Sequence[ReachedNode],
        tests: Sequence[ReachedNode],
        is_known: bool,
    ) -> tuple[float, str]:
        risk = BASE_RISK[one.touch]
        reasons = [_DESCRIPTIONS[one.touch].format(one=one)]
        sure = sum(use.is_sure for use in still)
        if still:
            risk = STILL_USED if sure else MAYBE_STILL_USED
            first = still[0]
            path = _printable(self._loaded.corpus.files[first.file].path)
            others = f" and {len(still) - 1} more" if len(still) > 1 else ""
            how = "is still used" if sure else "may still be used (the same name)"
            reasons.append(f"`{one.old_name or one.name}` {how} at {path}:{first.line}{others}")
        elif one.touch is Touch.REMOVED:
            still_indexed = self._leftovers.is_indexed(one.name, one.path)
            reasons.append("the index still has it" if still_indexed else "nothing in the index refers to it")
        direct = [reached for reached in affected if reached.hops == 1]
        certain = [reached for reached in affected if not is_guess(reached.path)]
        if affected:
            risk += min(MAX_BY_USERS, PER_DOUBLING * math.log2(1 + len(certain)))
            further = f", {len(affected) - len(direct)} more through others" if len(affected) > len(direct) else ""
            reasons.append(f"{_plural(len(direct), 'direct user')}{further}")
            if not certain:
                risk *= UNUSED_FACTOR
                reasons.append("all of them are guesses by name")
            left = [reached for reached in direct if reached.node.symbol not in self._changed]
            if one.touch is Touch.SIGNATURE and left:
                risk += UNCHANGED_USERS
                reasons.append(f"{len(left)} of them did not change with it")
        elif one.touch is Touch.TOP:
            row = self._loaded.corpus.row_of.get(one.path)
            importing = sum(row in imported for imported in self._links.imports.values())
            risk *= 1.0 if importing else UNUSED_FACTOR
            reasons.append(f"{_plural(importing, 'file')} {'imports' if importing == 1 else 'import'} it")
        elif one.touch is not Touch.REMOVED and not still:
            risk *= UNUSED_FACTOR
            reasons.append("nothing else uses it" if is_known else "it is not in the index, so its users are unknown")
        if tests:
            reasons.append(f"{_plural(len(tests), 'test')} {'reach' if len(tests) > 1 else 'reaches'} it")
        elif affected:
            risk += UNTESTED
            reasons.append("no test reaches it")
        row = self._loaded.corpus.row_of.get(one.path)
        if row is not None and self._loaded.corpus.files[row].traits & (SUPPORTING | FileTrait.TEST):
            risk *= SECONDARY_FACTOR
        return risk, "; ".join(reasons)


_DESCRIPTIONS: Mapping[Touch, str] = {
    Touch.REMOVED: "removed",
    Touch.RENAMED: "renamed from `{one.old_name}`",
    Touch.MOVED: "moved from {one.old_path}",
    Touch.SIGNATURE: "its signature changed",
    Touch.BODY: "its body changed",
    Touch.ADDED: "new",
    Touch.TOP: "code outside of definitions changed",
}


def _rows_by_name(loaded: LoadedIndex, paths: Collection[str]) -> dict[tuple[str, str], list[int]]:
    corpus = loaded.corpus
    found: dict[tuple[str, str], list[int]] = {}
    for path in paths:
        if (file := corpus.row_of.get(path)) is not None:
            first, last = np.searchsorted(corpus.symbols.files, [file, file + 1]).tolist()
            for row in range(first, last):
                found.setdefault((path, loaded.names.qualified(row)), []).append(row)
    return found


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _printable(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode()


def reaching_tests(found: Sequence[Consequence], loaded: LoadedIndex) -> dict[GraphNode, int]:
    """Return the tests that reach touched definitions, with the number of definitions each reaches; highest first."""
    counted: dict[GraphNode, int] = {}
    for one in found:
        for test in one.tests:
            counted[test.node] = counted.get(test.node, 0) + 1
    files = loaded.corpus.files
    return dict(sorted(counted.items(), key=lambda item: (-item[1], files[item[0].file].path, item[0].symbol)))
