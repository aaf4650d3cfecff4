"""How calls are shown, within a repository and between repositories."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import Field

from scrubjay.code_index.models import Evidence, FileTrait, UseKind
from scrubjay.code_index.service import CodeService, Loaded
from scrubjay.features.code.budgets import Budget
from scrubjay.features.code.repository_tools import printable_path
from scrubjay.tooling.declaration import Result

# What the program itself does is told before what tests and examples do.
_BESIDE = FileTrait.TEST | FileTrait.EXAMPLE | FileTrait.DOCUMENTATION | FileTrait.VENDORED
CALLING = (UseKind.CALL, UseKind.NEW, UseKind.DECORATE)
MOST_LINES = 20
# What is less sure than this rests on a name alone.
GUESS = 0.5


class CallView(Result):
    function: str = Field(description="Who calls, or is called; the file's name for what is at its top.")
    path: str
    lines: list[int] = Field(description="Where the calls are, in the calling file.")
    call_path: str = Field(description="The calling file.")
    count: int
    kind: UseKind
    evidence: Evidence
    confidence: float = Field(description="Less than one half is a guess by the name alone.")


class CallsElsewhereView(Result):
    index_id: str
    root: str
    package: str = Field(description="The package through which one repository has it of the other.")
    calls: list[CallView] = Field(description="Who calls it there, or what is called there; the surest first.")
    total: int


class Call(NamedTuple):
    """One call."""

    line: int
    kind: UseKind
    evidence: Evidence
    confidence: float


class End(NamedTuple):
    """Who calls or is called, by one calling file."""

    file: int
    symbol: int
    """-1 for the top of the file."""
    calling_path: str


class CallsElsewhere(NamedTuple):
    """What other repositories have to do with the calls of a function."""

    views: list[CallsElsewhereView]
    truncated: bool


def call_views(calls: Iterable[tuple[End, Call]], loaded: Loaded) -> list[CallView]:
    """The calls of each end together; the ends are in this index.

    What the program itself does comes before tests, which would crowd it out; what is a guess comes after both.
    """
    ends: dict[End, list[Call]] = {}
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
            lines=sorted({use.line for use in uses})[:MOST_LINES],
            call_path=printable_path(end.calling_path),
            count=len(uses),
            kind=surest.kind,
            evidence=surest.evidence,
            confidence=round(surest.confidence, 3),
        )
        views.append((bool(files[end.file].traits & _BESIDE), view))
    views.sort(
        key=lambda one: (
            one[1].confidence < GUESS,
            one[0],
            -round(one[1].confidence, 1),
            -one[1].count,
            one[1].path,
            one[1].lines,
        )
    )
    return [view for _, view in views]


async def callers_elsewhere(rows: Sequence[int], code: CodeService, loaded: Loaded, limit: int) -> CallsElsewhere:
    """Who calls these definitions in other indexed repositories."""
    from scrubjay.code_index.cross_repo.dependents import Wanted, used_elsewhere
    from scrubjay.features.code.cross_repo_tools import loaded_indexes

    others, is_more = await loaded_indexes((), code, around=loaded)
    views: list[CallsElsewhereView] = []
    for found in await used_elsewhere(code, loaded, dict.fromkeys(rows, Wanted()), others, hops=1):
        there = found.loaded
        calls = [
            (
                End(*used.node, there.corpus.files[used.node.file].path),
                Call(used.line, used.kind, used.evidence, used.confidence),
            )
            for used in found.direct
            if used.kind in CALLING
        ]
        views += _elsewhere(there, found.package.name, call_views(calls, there), limit)
    return CallsElsewhere(views, is_more or any(one.total > limit for one in views))


async def callees_elsewhere(rows: Sequence[int], code: CodeService, loaded: Loaded, limit: int) -> CallsElsewhere:
    """What these definitions call that other indexed repositories define."""
    from scrubjay.code_index.cross_repo.definitions import defined_elsewhere
    from scrubjay.features.code.cross_repo_tools import loaded_indexes

    others, is_more = await loaded_indexes((), code, around=loaded)
    views: list[CallsElsewhereView] = []
    for found in await defined_elsewhere(code, loaded, rows, others):
        there = found.loaded
        calls = [
            (
                End(int(there.corpus.symbols.files[call.row]), call.row, loaded.corpus.files[call.file].path),
                Call(call.line, call.kind, call.evidence, call.confidence),
            )
            for call in found.calls
        ]
        views += _elsewhere(there, found.package.name, call_views(calls, there), limit)
    return CallsElsewhere(views, is_more or any(one.total > limit for one in views))


def fitting_elsewhere(views: Sequence[CallsElsewhereView], budget: Budget) -> tuple[list[CallsElsewhereView], bool]:
    """As much of these as fits, and whether that is all."""
    taken: list[CallsElsewhereView] = []
    is_all = True
    for view in views:
        head = budget.fitting([view.model_copy(update={"calls": []})])
        calls = budget.fitting(view.calls) if head else []
        is_all = is_all and len(calls) == len(view.calls)
        if calls:
            taken.append(view.model_copy(update={"calls": calls}))
    return taken, is_all


def _elsewhere(there: Loaded, package: str, calls: Sequence[CallView], limit: int) -> list[CallsElsewhereView]:
    """Nothing when there is nothing to tell of it."""
    if not calls:
        return []
    record = there.record
    shown = list(calls[:limit])
    return [CallsElsewhereView(index_id=record.id, root=record.root, package=package, calls=shown, total=len(calls))]
