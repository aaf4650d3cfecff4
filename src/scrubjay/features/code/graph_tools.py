"""What hangs together in code: who breaks when something changes, how one thing reaches another, what matters most."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from scrubjay.code_index.models import Evidence, Language, SymbolKind, UseKind
from scrubjay.code_index.service import CodeService, Loaded
from scrubjay.features.code.budgets import Budget, TokenBudget, Truncated
from scrubjay.features.code.repository_tools import (
    Freshness,
    IndexId,
    freshness_of,
    printable_path,
)
from scrubjay.features.code.tools import DEFINITIONS_SHARE, HERE_SHARE, ProjectOption, definition_of, project_index
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

if TYPE_CHECKING:
    from scrubjay.code_index.questions.impact import Impact
    from scrubjay.code_index.questions.traversal import Node, Reached
    from scrubjay.code_index.search.use_graph import Link

TESTS_SHARE = 0.5

IndexOption = Annotated[
    IndexId | None, Field(default=None, description="An index, in place of the project's; ensure_repo_index tells it.")
]
SymbolName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        description="A definition, bare (`login`) or qualified (`Session.login`, `src/auth.py::login`).",
    ),
]


class ImpactRequest(Request):
    model_config = examples({"symbol": "Session.login"}, {"symbol": "load_user", "max_hops": 1})

    symbol: SymbolName
    max_hops: int = Field(default=3, ge=1, le=10, description="Through how many others it may reach.")
    across: bool = Field(
        default=False, description="Whether to go on into the other indexed repositories that use its package."
    )
    token_budget: TokenBudget = 4_000
    project: ProjectOption
    index_id: IndexOption


class HopView(Result):
    symbol: str = Field(description="Who is reached; the file's name for what is at its top.")
    path: str
    line: int = Field(description="Where the use is, in the using file.")
    call_path: str = Field(description="The using file.")
    kind: UseKind
    evidence: Evidence
    confidence: float = Field(description="Less than one half is a guess by the name alone.")


class AffectedView(Result):
    symbol: str
    path: str
    hops: int = Field(description="1 uses it directly.")
    confidence: float = Field(description="Of the whole way.")
    guess: bool = Field(description="Whether a step of the way is a guess.")
    way: list[HopView] = Field(description="From the definition to this.")


class UsedElsewhereView(Result):
    symbol: str = Field(description="Who uses it; the file's name for what is at its top.")
    path: str
    line: int = Field(description="Where it is used, or what uses it.")
    hops: int = Field(description="1 uses it directly.")
    confidence: float


class ElsewhereView(Result):
    index_id: str
    root: str
    package: str = Field(description="By which package it is taken from here.")
    users: list[UsedElsewhereView]
    total: int


class ImpactResult(Result):
    symbol: str
    definitions: list[str] = Field(description="What is meant by the name: path, line and qualified name.")
    affected: list[AffectedView] = Field(description="Who may break, without tests; the nearest first.")
    tests: list[AffectedView] = Field(description="Tests that reach it: run these.")
    total_affected: int
    total_tests: int
    guesses: int = Field(description="How many of all are only affected if a guess is right.")
    elsewhere: list[ElsewhereView] = Field(description="Who uses it in other repositories, if that was asked.")
    truncated: Truncated
    freshness: Freshness


class TraceRequest(Request):
    model_config = examples({"source": "handle_login", "target": "load_user"})

    source: SymbolName
    target: SymbolName
    max_hops: int = Field(default=8, ge=1, le=20, description="How many calls a way may have.")
    limit: int = Field(default=5, ge=1, le=50, description="How many ways at most.")
    token_budget: TokenBudget = 4_000
    project: ProjectOption
    index_id: IndexOption


class WayView(Result):
    symbols: list[str]
    confidence: float
    guess: bool
    calls: list[HopView] = Field(description="Each with who is called.")


class TraceResult(Result):
    found: bool
    reversed: bool = Field(description="Whether the target reaches the source instead; then these are told.")
    ways: list[WayView] = Field(description="The surest first.")
    truncated: Truncated
    freshness: Freshness


class RepoMapRequest(Request):
    model_config = examples({}, {"token_budget": 4000, "folder": "src/auth"})

    token_budget: TokenBudget = 2_000
    folder: str = Field(default="", max_length=4_096, description="Only what is in this folder, from the root.")
    project: ProjectOption
    index_id: IndexOption


class MappedSymbolView(Result):
    name: str
    kind: SymbolKind
    line: int
    signature: str


class MappedFileView(Result):
    path: str
    language: Language
    rank: float = Field(description="How much the rest of the repository leads to it; all files together are 1.")
    symbols: list[MappedSymbolView] = Field(description="The most used ones, in the order of the file.")
    left_out: int = Field(description="How many of its definitions are not shown.")


class RepoMapResult(Result):
    files: list[MappedFileView] = Field(description="Those that most leads to first; no tests, examples and the like.")
    total_files: int
    truncated: Truncated
    freshness: Freshness


@tool("code", read_only=True, core=False)
async def impact(
    request: ImpactRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> ImpactResult:
    """Tell who may break when a definition changes: who uses it, directly or through others, and which tests reach it.

    Ask before changing something that others use. Each has the way by which it is reached, and how sure that is.
    """
    from scrubjay.code_index.questions.impact import impact_of, is_guess

    loaded, freshness = await chosen_index(request.index_id, request.project, code, projects, context)
    found = await impact_of(request.symbol, code, loaded, request.max_hops)
    answer = ImpactResult(
        symbol=request.symbol,
        definitions=[],
        affected=[],
        tests=[],
        total_affected=len(found.affected),
        total_tests=len(found.tests),
        guesses=found.guesses,
        elsewhere=[],
        truncated=False,
        freshness=freshness,
    )
    budget = Budget(request.token_budget, answer)

    def shown(reached: "Reached") -> AffectedView:
        way = reached.way
        return AffectedView(
            symbol=called(reached.node, loaded),
            path=_path(reached.node.file, loaded),
            hops=reached.hops,
            confidence=round(way.confidence, 3),
            guess=is_guess(way),
            way=[_hop(link, node, loaded) for link, node in zip(way.links, way.nodes[1:], strict=True)],
        )

    rows = found.definitions
    definitions = budget.fitting_texts((definition_of(row, loaded) for row in rows), DEFINITIONS_SHARE, at_least=1)
    elsewhere, is_more = await _elsewhere(found, code, loaded, request, budget) if request.across else ([], False)
    # Tests first: there are few, and they tell what to run.
    tests = budget.fitting(map(shown, found.tests), TESTS_SHARE)
    affected = budget.fitting(map(shown, found.affected))
    return answer.model_copy(
        update={
            "definitions": definitions,
            "affected": affected,
            "tests": tests,
            "elsewhere": elsewhere,
            "truncated": is_more
            or found.incomplete
            or len(definitions) < len(rows)
            or len(affected) < len(found.affected)
            or len(tests) < len(found.tests),
        }
    )


async def _elsewhere(
    found_here: "Impact", code: CodeService, loaded: Loaded, request: ImpactRequest, budget: Budget
) -> tuple[list[ElsewhereView], bool]:
    """Who uses it, or what is affected here, in other repositories; and whether there are more than are told."""
    from scrubjay.code_index.cross_repo.dependents import Wanted, used_elsewhere
    from scrubjay.features.code.cross_repo_tools import loaded_indexes

    others, is_more = await loaded_indexes((), code, around=loaded)
    kept = int(budget.left * HERE_SHARE)
    budget.left -= kept
    views: list[ElsewhereView] = []
    wanted = {
        one.node.symbol: Wanted(one.hops, one.way.confidence)
        for one in reversed(found_here.affected)
        if one.node.symbol >= 0 and one.hops < request.max_hops
    } | dict.fromkeys(found_here.definitions, Wanted())
    for found in await used_elsewhere(code, loaded, wanted, others, request.max_hops):
        there = found.loaded
        users = [
            UsedElsewhereView(
                symbol=called(one.node, there),
                path=_path(one.node.file, there),
                line=one.line,
                hops=one.hops,
                confidence=round(one.confidence, 3),
            )
            for one in found.direct
        ]
        users += [
            UsedElsewhereView(
                symbol=called(one.node, there),
                path=_path(one.node.file, there),
                line=one.line,
                hops=one.hops,
                confidence=round(one.confidence, 3),
            )
            for one in found.further
        ]
        record = there.record
        view = ElsewhereView(
            index_id=record.id, root=record.root, package=found.package.name, users=[], total=len(users)
        )
        told = budget.fitting(users) if budget.fitting([view]) else []
        if told:
            views.append(view.model_copy(update={"users": told}))
        is_more = is_more or found.incomplete or len(told) < len(users)
    budget.left += kept
    return views, is_more


@tool("code", read_only=True, core=False)
async def trace(
    request: TraceRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> TraceResult:
    """Find the calls by which one function reaches another, with the line of each call and how sure it is."""
    from scrubjay.code_index.questions.impact import is_guess, trace_of

    loaded, freshness = await chosen_index(request.index_id, request.project, code, projects, context)
    found = await trace_of(request.source, request.target, code, loaded, hops=request.max_hops, limit=request.limit)
    answer = TraceResult(
        found=bool(found.ways) and not found.is_reversed,
        reversed=found.is_reversed,
        ways=[],
        truncated=False,
        freshness=freshness,
    )
    ways = Budget(request.token_budget, answer).fitting(
        (
            WayView(
                symbols=[called(node, loaded) for node in way.nodes],
                confidence=round(way.confidence, 3),
                guess=is_guess(way),
                calls=[_hop(link, node, loaded) for link, node in zip(way.links, way.nodes[1:], strict=True)],
            )
            for way in found.ways
        ),
        at_least=1,
    )
    return answer.model_copy(update={"ways": ways, "truncated": found.incomplete or len(ways) < len(found.ways)})


@tool("code", read_only=True, core=False)
async def repo_map(
    request: RepoMapRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> RepoMapResult:
    """Show the most important files of a repository with their most used definitions, within a number of tokens.

    Read it first in a repository that you do not know, to see what matters; summarize_codebase tells what for.
    """
    from scrubjay.code_index.questions.repo_map import repository_map, signature_of

    loaded, freshness = await chosen_index(request.index_id, request.project, code, projects, context)
    told = RepoMapResult(files=[], total_files=0, truncated=False, freshness=freshness)
    left = Budget(request.token_budget, told).left
    found = await repository_map(code, loaded, token_budget=left, folder=request.folder.removeprefix("./").strip("/"))
    return RepoMapResult(
        files=[
            MappedFileView(
                path=_path(one.file, loaded),
                language=loaded.corpus.files[one.file].content.language,
                rank=round(one.rank, 5),
                symbols=[
                    MappedSymbolView(
                        name=loaded.names.qualified(symbol.row),
                        kind=symbol.symbol.kind,
                        line=symbol.symbol.line,
                        signature=signature_of(symbol.symbol),
                    )
                    for symbol in one.symbols
                ],
                left_out=one.left_out,
            )
            for one in found.files
        ],
        total_files=found.total,
        truncated=len(found.files) < found.total or any(one.left_out for one in found.files),
        freshness=freshness,
    )


async def chosen_index(
    index_id: str | None, project: str | None, code: CodeService, projects: ProjectService, context: CallContext
) -> tuple[Loaded, Freshness]:
    """The index that is named, else that of the project."""
    if index_id is None:
        return await project_index(project, code, projects, context)
    loaded = await code.load(index_id)
    return loaded, freshness_of(loaded.record, None)


def _path(file: int, loaded: Loaded) -> str:
    return printable_path(loaded.corpus.files[file].path)


def called(node: "Node", loaded: Loaded) -> str:
    """The name of a definition; of the top of a file, the file's."""
    return loaded.names.qualified(node.symbol) if node.symbol >= 0 else _path(node.file, loaded).rsplit("/", 1)[-1]


def _hop(link: "Link", node: "Node", loaded: Loaded) -> HopView:
    return HopView(
        symbol=called(node, loaded),
        path=_path(node.file, loaded),
        line=link.line,
        call_path=_path(link.source_file, loaded),
        kind=link.kind,
        evidence=link.evidence,
        confidence=round(link.confidence, 3),
    )
