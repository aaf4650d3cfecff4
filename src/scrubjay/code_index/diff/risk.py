"""Who may break by a change: of each definition that it touches who uses it, which tests reach it, and how bad that is.

This module imports numpy, which takes a while: import it where it is needed.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import anyio.to_thread

from scrubjay.code_index.diff.dangling_uses import Leftovers, StillUsed
from scrubjay.code_index.diff.files import Difference
from scrubjay.code_index.diff.symbols import Touch, Touched, touched
from scrubjay.code_index.models import FileTrait
from scrubjay.code_index.questions.impact import impact_of_rows, is_guess
from scrubjay.code_index.questions.traversal import BESIDE, Node, Reached
from scrubjay.code_index.search.use_graph import Links
from scrubjay.code_index.service import CodeService, Loaded

# Of so many definitions it is followed who uses them through others; of the rest only who does directly.
MOST_FOLLOWED = 200
MOST_TOUCHED = 2_000
# What each sort of change counts, when somebody uses what was changed.
WORTH = {
    Touch.REMOVED: 0.2,
    Touch.SIGNATURE: 0.6,
    Touch.RENAMED: 0.4,
    Touch.MOVED: 0.4,
    Touch.BODY: 0.35,
    Touch.TOP: 0.15,
    Touch.ADDED: 0.05,
}
# What is gone and still used breaks for sure: it comes before all that may break.
STILL_USED, PERHAPS_USED, MOST_OTHERWISE = 1.0, 0.5, 0.95
UNUSED = 0.4
EACH_DOUBLING, MOST_BY_USERS = 0.06, 0.25
UNCHANGED_USERS = 0.1
UNTESTED = 0.1
# Tests and the like break nobody else.
OF_BESIDE = 0.25


@dataclass(frozen=True, slots=True)
class Consequence:
    """A definition that was touched, and what that means."""

    touched: Touched
    risk: float
    """From 0 to 1."""
    reason: str
    still_used: Sequence[StillUsed]
    affected: Sequence[Reached]
    """Who uses it, without tests; the nearest first."""
    tests: Sequence[Reached]
    """Those that reach it, or who still names it."""
    incomplete: bool


@dataclass(frozen=True, slots=True)
class Consequences:
    """All of a difference."""

    difference: Difference
    found: Sequence[Consequence]
    """The riskiest first."""
    incomplete: bool


async def consequences_of(found: Difference, code: CodeService, loaded: Loaded, hops: int) -> Consequences:
    """What a difference means for those who use what it touches."""
    links = await code.links(loaded)
    changed = await anyio.to_thread.run_sync(touched, found.files)
    leftovers = await Leftovers.of(changed, code, loaded, links)

    def judged() -> Consequences:
        judge = _Judge(loaded, links, hops, changed, leftovers)
        consequences = [judge.consequence(one, number) for number, one in enumerate(changed[:MOST_TOUCHED])]
        consequences.sort(key=lambda one: (-one.risk, one.touched.path, one.touched.line))
        incomplete = len(changed) > MOST_TOUCHED or any(one.incomplete for one in consequences)
        return Consequences(found, consequences, incomplete)

    return await anyio.to_thread.run_sync(judged)


class _Judge:
    def __init__(
        self, loaded: Loaded, links: Links, hops: int, changed: Collection[Touched], leftovers: Leftovers
    ) -> None:
        self._loaded = loaded
        self._links = links
        self._hops = hops
        self._rows = _rows_by_name(loaded, {one.path for one in changed})
        self._changed = {
            row for one in changed if one.touch is not Touch.REMOVED for row in self._rows.get((one.path, one.name), ())
        }
        self._leftovers = leftovers

    def consequence(self, one: Touched, number: int) -> Consequence:
        still = self._leftovers.still_used(one)
        affected: Sequence[Reached] = ()
        tests: Sequence[Reached] = ()
        incomplete = False
        rows = self._rows.get((one.path, one.name), []) if one.touch is not Touch.REMOVED else []
        if rows:
            hops = self._hops if number < MOST_FOLLOWED else 1
            found = impact_of_rows(rows, self._loaded, self._links, hops)
            affected, tests, incomplete = found.affected, found.tests, found.incomplete or hops < self._hops
        if users := [use.symbol for use in still if use.symbol >= 0]:
            beyond = impact_of_rows(users, self._loaded, self._links, self._hops)
            known = {test.node for test in tests}
            tests = [*tests, *(test for test in beyond.tests if test.node not in known)]
        risk, reason = self._judged(one, still, affected, tests, bool(rows) or one.touch is Touch.REMOVED)
        most = STILL_USED if any(use.is_sure for use in still) else MOST_OTHERWISE
        return Consequence(one, round(min(most, risk), 3), reason, still, affected, tests, incomplete)

    def _judged(
        self,
        one: Touched,
        still: Sequence[StillUsed],
        affected: Sequence[Reached],
        tests: Sequence[Reached],
        is_known: bool,
    ) -> tuple[float, str]:
        risk = WORTH[one.touch]
        said = [_HAPPENED[one.touch].format(one=one)]
        sure = sum(use.is_sure for use in still)
        if still:
            risk = STILL_USED if sure else PERHAPS_USED
            first = still[0]
            path = _printable(self._loaded.corpus.files[first.file].path)
            others = f" and {len(still) - 1} more" if len(still) > 1 else ""
            how = "is still used" if sure else "may still be used (the same name)"
            said.append(f"`{one.old_name or one.name}` {how} at {path}:{first.line}{others}")
        elif one.touch is Touch.REMOVED:
            is_there = self._leftovers.is_there(one.name, one.path)
            said.append("the index still has it" if is_there else "nothing in the index names it any more")
        direct = [reached for reached in affected if reached.hops == 1]
        certain = [reached for reached in affected if not is_guess(reached.way)]
        if affected:
            risk += min(MOST_BY_USERS, EACH_DOUBLING * math.log2(1 + len(certain)))
            further = f", {len(affected) - len(direct)} more through others" if len(affected) > len(direct) else ""
            said.append(f"{_uses(len(direct))} it directly{further}")
            if not certain:
                risk *= UNUSED
                said.append("all of that is a guess by names")
            left = [reached for reached in direct if reached.node.symbol not in self._changed]
            if one.touch is Touch.SIGNATURE and left:
                risk += UNCHANGED_USERS
                said.append(f"{len(left)} of them did not change with it")
        elif one.touch is Touch.TOP:
            row = self._loaded.corpus.row_of.get(one.path)
            importing = sum(row in imported for imported in self._links.imports.values())
            risk *= 1.0 if importing else UNUSED
            said.append(f"{_plural(importing, 'file')} {'imports' if importing == 1 else 'import'} it")
        elif one.touch is not Touch.REMOVED and not still:
            risk *= UNUSED
            said.append(
                "nothing else uses it" if is_known else "the index does not have it, so its users are not known"
            )
        if tests:
            said.append(f"{_plural(len(tests), 'test')} {'reach' if len(tests) > 1 else 'reaches'} it")
        elif affected:
            risk += UNTESTED
            said.append("no test reaches it")
        row = self._loaded.corpus.row_of.get(one.path)
        if row is not None and self._loaded.corpus.files[row].traits & (BESIDE | FileTrait.TEST):
            risk *= OF_BESIDE
        return risk, "; ".join(said)


_HAPPENED: Mapping[Touch, str] = {
    Touch.REMOVED: "removed",
    Touch.RENAMED: "renamed from `{one.old_name}`",
    Touch.MOVED: "moved from {one.old_path}",
    Touch.SIGNATURE: "its signature changed",
    Touch.BODY: "its body changed",
    Touch.ADDED: "new",
    Touch.TOP: "what is outside of definitions changed",
}


def _rows_by_name(loaded: Loaded, paths: Collection[str]) -> dict[tuple[str, str], list[int]]:
    import numpy as np

    corpus = loaded.corpus
    found: dict[tuple[str, str], list[int]] = {}
    for path in paths:
        if (file := corpus.row_of.get(path)) is not None:
            first, last = np.searchsorted(corpus.symbols.files, [file, file + 1]).tolist()
            for row in range(first, last):
                found.setdefault((path, loaded.names.qualified(row)), []).append(row)
    return found


def _uses(count: int) -> str:
    return "1 uses" if count == 1 else f"{count} use"


def _plural(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _printable(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode()


def reaching_tests(found: Sequence[Consequence], loaded: Loaded) -> dict[Node, int]:
    """The tests that reach something that was touched, with how much of it each reaches; most first."""
    counted: dict[Node, int] = {}
    for one in found:
        for test in one.tests:
            counted[test.node] = counted.get(test.node, 0) + 1
    files = loaded.corpus.files
    return dict(sorted(counted.items(), key=lambda item: (-item[1], files[item[0].file].path, item[0].symbol)))
