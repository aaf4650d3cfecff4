"""Result models of calls, within a repository and across repositories."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import Field

from scrubjay import code_index
from scrubjay.code_index import CodeService, Evidence, FileTrait, LoadedIndex, UseKind
from scrubjay.features.code.budgets import Budget
from scrubjay.features.code.cross_repo_tools import loaded_indexes
from scrubjay.features.code.repository_tools import printable_path
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Result

# Calls from program code are listed before calls from these files.
_SUPPORTING = FileTrait.TEST | FileTrait.EXAMPLE | FileTrait.DOCUMENTATION | FileTrait.VENDORED
CALL_KINDS = (UseKind.CALL, UseKind.NEW, UseKind.DECORATE)
MAX_LINES = 20
# Calls below this confidence are guesses by name alone.
GUESS_THRESHOLD = 0.5


class CallView(Result):
    function: str = Field(description="The caller or callee; the file name for module-level code.")
    path: str
    lines: list[int] = Field(description="Lines of the calls, in `call_path`.")
    call_path: str = Field(description="File that contains the calls.")
    count: int
    kind: UseKind
    evidence: Evidence
    confidence: float = Field(description="0 to 1; below 0.5 it is a guess by name alone.")


class CrossRepoCallsView(Result):
    index_id: str
    root: str
    package: str = Field(description="The package through which one repository uses the other.")
    calls: list[CallView] = Field(description="Callers or callees in that repository; highest confidence first.")
    total: int


class CallSite(NamedTuple):
    """A call, by its line."""

    line: int
    kind: UseKind
    evidence: Evidence
    confidence: float


class CallEndpoint(NamedTuple):
    """The caller or callee, together with the file that contains the call."""

    file: int
    symbol: int
    """-1 for module-level code."""
    calling_path: str


class CrossRepoCalls(NamedTuple):
    """Callers or callees of a function in other repositories."""

    views: list[CrossRepoCallsView]
    truncated: bool


def call_views(calls: Iterable[tuple[CallEndpoint, CallSite]], loaded: LoadedIndex) -> list[CallView]:
    """Group calls by caller or callee, which are in this index.

    Program code comes before tests, which would crowd it out; guesses come last.
    """
    ends: dict[CallEndpoint, list[CallSite]] = {}
    for end, call in calls:
        ends.setdefault(end, []).append(call)
    files = loaded.corpus.files
    views: list[tuple[bool, CallView]] = []
    for end, uses in ends.items():
        path = printable_path(files[end.file].path)
        surest = max(uses, key=lambda use: use.confidence)
        view = CallView(
            function=loaded.names.qualified(end.symbol) if end.symbol >= 0 else path.rsplit("/", 1)[-1],
            path=path,
            lines=sorted({use.line for use in uses})[:MAX_LINES],
            call_path=printable_path(end.calling_path),
            count=len(uses),
            kind=surest.kind,
            evidence=surest.evidence,
            confidence=round(surest.confidence, 3),
        )
        views.append((bool(files[end.file].traits & _SUPPORTING), view))
    views.sort(
        key=lambda one: (
            one[1].confidence < GUESS_THRESHOLD,
            one[0],
            -round(one[1].confidence, 1),
            -one[1].count,
            one[1].path,
            one[1].lines,
        )
    )
    return [view for _, view in views]


async def cross_repo_callers(
    rows: Sequence[int], code: CodeService, loaded: LoadedIndex, limit: int, context: CallContext
) -> CrossRepoCalls:
    """Find the callers of these definitions in other indexed repositories."""
    others, is_more = await loaded_indexes((), code, context, around=loaded)
    views: list[CrossRepoCallsView] = []
    for found in await code_index.used_elsewhere(
        code, loaded, dict.fromkeys(rows, code_index.UsedSymbol()), others, hops=1
    ):
        there = found.loaded
        calls = [
            (
                CallEndpoint(*used.node, there.corpus.files[used.node.file].path),
                CallSite(used.line, used.kind, used.evidence, used.confidence),
            )
            for used in found.direct
            if used.kind in CALL_KINDS
        ]
        views += _cross_repo_view(there, found.package.name, call_views(calls, there), limit)
    return CrossRepoCalls(views, is_more or any(one.total > limit for one in views))


async def cross_repo_callees(
    rows: Sequence[int], code: CodeService, loaded: LoadedIndex, limit: int, context: CallContext
) -> CrossRepoCalls:
    """Find what these definitions call in other indexed repositories."""
    others, is_more = await loaded_indexes((), code, context, around=loaded)
    views: list[CrossRepoCallsView] = []
    for found in await code_index.defined_elsewhere(code, loaded, rows, others):
        there = found.loaded
        calls = [
            (
                CallEndpoint(int(there.corpus.symbols.files[call.row]), call.row, loaded.corpus.files[call.file].path),
                CallSite(call.line, call.kind, call.evidence, call.confidence),
            )
            for call in found.calls
        ]
        views += _cross_repo_view(there, found.package.name, call_views(calls, there), limit)
    return CrossRepoCalls(views, is_more or any(one.total > limit for one in views))


def fit_cross_repo_calls(views: Sequence[CrossRepoCallsView], budget: Budget) -> tuple[list[CrossRepoCallsView], bool]:
    """Return the calls that fit the budget, and whether all of them do."""
    taken: list[CrossRepoCallsView] = []
    is_all = True
    for view in views:
        head = budget.fitting([view.model_copy(update={"calls": []})])
        calls = budget.fitting(view.calls) if head else []
        is_all = is_all and len(calls) == len(view.calls)
        if calls:
            taken.append(view.model_copy(update={"calls": calls}))
    return taken, is_all


def _cross_repo_view(
    there: LoadedIndex, package: str, calls: Sequence[CallView], limit: int
) -> list[CrossRepoCallsView]:
    if not calls:
        return []
    record = there.record
    shown = list(calls[:limit])
    return [CrossRepoCallsView(index_id=record.id, root=record.root, package=package, calls=shown, total=len(calls))]
