"""Tools over the use graph: impact of a change, call chains, and the repository map."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from scrubjay import code_index
from scrubjay.code_index import CodeService, Evidence, Language, LoadedIndex, SymbolKind, UseKind
from scrubjay.features.code.budgets import Budget, TokenBudget, Truncated
from scrubjay.features.code.cross_repo_tools import loaded_indexes
from scrubjay.features.code.repository_tools import (
    Freshness,
    IndexId,
    freshness_of,
    printable_path,
    readable_index,
)
from scrubjay.features.code.tools import DEFINITIONS_SHARE, HERE_SHARE, ProjectOption, definition_of, project_index
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

if TYPE_CHECKING:
    from scrubjay.code_index import GraphNode, Impact, ReachedNode, UseLink

TESTS_SHARE = 0.5

IndexOption = Annotated[
    IndexId | None,
    Field(
        default=None, description="Id of an index to use instead of the project's, as returned by ensure_repo_index."
    ),
]
SymbolName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        description="Name of a definition: bare (`login`) or qualified (`Session.login`, `src/auth.py::login`).",
    ),
]


class ImpactRequest(Request):
    model_config = examples({"symbol": "Session.login"}, {"symbol": "load_user", "max_hops": 1})

    symbol: SymbolName
    max_hops: int = Field(
        default=3, ge=1, le=10, description="Maximum number of uses between the definition and what it affects."
    )
    across: bool = Field(default=False, description="Include other indexed repositories that use its package.")
    token_budget: TokenBudget = 4_000
    project: ProjectOption
    index_id: IndexOption


class HopView(Result):
    symbol: str = Field(description="The reached definition; the file name for module-level code.")
    path: str
    line: int = Field(description="Line of the use, in `call_path`.")
    call_path: str = Field(description="File that contains the use.")
    kind: UseKind
    evidence: Evidence
    confidence: float = Field(description="0 to 1; below 0.5 it is a guess by name alone.")


class AffectedView(Result):
    symbol: str
    path: str
    hops: int = Field(description="1: uses it directly.")
    confidence: float = Field(description="Of the whole chain, 0 to 1.")
    guess: bool = Field(description="Whether any step of the chain is a guess.")
    chain: list[HopView] = Field(description="The uses from the definition to this one.")


class CrossRepoUserView(Result):
    symbol: str = Field(description="The user; the file name for module-level code.")
    path: str
    line: int = Field(description="Line of the use, or of the user if it is indirect.")
    hops: int = Field(description="1: uses it directly.")
    confidence: float


class CrossRepoUsersView(Result):
    index_id: str
    root: str
    package: str = Field(description="The package through which it is imported.")
    users: list[CrossRepoUserView]
    total: int


class ImpactResult(Result):
    symbol: str
    definitions: list[str] = Field(description="Definitions that match the name: path, line and qualified name.")
    affected: list[AffectedView] = Field(description="Definitions that may break, without tests; nearest first.")
    tests: list[AffectedView] = Field(description="Tests that reach the definition: run these.")
    total_affected: int
    total_tests: int
    guesses: int = Field(description="Number of affected definitions and tests that depend on a guess.")
    elsewhere: list[CrossRepoUsersView] = Field(description="Users in other repositories, if `across` is true.")
    truncated: Truncated
    freshness: Freshness


class TraceRequest(Request):
    model_config = examples({"source": "handle_login", "target": "load_user"})

    source: SymbolName
    target: SymbolName
    max_hops: int = Field(default=8, ge=1, le=20, description="Maximum number of calls in a chain.")
    limit: int = Field(default=5, ge=1, le=50, description="Maximum number of chains.")
    token_budget: TokenBudget = 4_000
    project: ProjectOption
    index_id: IndexOption


class CallChainView(Result):
    symbols: list[str]
    confidence: float
    guess: bool
    calls: list[HopView] = Field(description="The calls of the chain; `symbol` is the callee.")


class TraceResult(Result):
    found: bool
    reversed: bool = Field(description="True if only the target reaches the source; then `chains` has those calls.")
    chains: list[CallChainView] = Field(description="Highest confidence first.")
    truncated: Truncated
    freshness: Freshness


class RepoMapRequest(Request):
    model_config = examples({}, {"token_budget": 4000, "folder": "src/auth"})

    token_budget: TokenBudget = 2_000
    folder: str = Field(default="", max_length=4_096, description="Only files in this folder, relative to the root.")
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
    rank: float = Field(description="PageRank-like importance in the use graph; all files sum to 1.")
    symbols: list[MappedSymbolView] = Field(description="The most used definitions, in file order.")
    left_out: int = Field(description="Number of definitions that are not shown.")


class RepoMapResult(Result):
    files: list[MappedFileView] = Field(description="Most important first, without tests and examples.")
    total_files: int
    truncated: Truncated
    freshness: Freshness


@tool("code", read_only=True, core=False)
async def impact(
    request: ImpactRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> ImpactResult:
    """Report which definitions may break when a definition changes, and which tests reach it.

    Call this before you change shared code. Each result has the chain of uses that reaches it and a confidence.
    """
    loaded, freshness = await chosen_index(request.index_id, request.project, code, projects, context)
    found = await code_index.impact_of(request.symbol, code, loaded, request.max_hops)
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

    def shown(reached: "ReachedNode") -> AffectedView:
        chain = reached.path
        return AffectedView(
            symbol=display_name(reached.node, loaded),
            path=_path(reached.node.file, loaded),
            hops=reached.hops,
            confidence=round(chain.confidence, 3),
            guess=code_index.is_guess(chain),
            chain=[_hop(link, node, loaded) for link, node in zip(chain.links, chain.nodes[1:], strict=True)],
        )

    rows = found.definitions
    definitions = budget.fitting_texts((definition_of(row, loaded) for row in rows), DEFINITIONS_SHARE, at_least=1)
    elsewhere, is_more = (
        await _cross_repo_users(found, code, loaded, request, budget, context) if request.across else ([], False)
    )
    # Tests first: there are few, and the caller should run them.
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


async def _cross_repo_users(
    found_here: "Impact",
    code: CodeService,
    loaded: LoadedIndex,
    request: ImpactRequest,
    budget: Budget,
    context: CallContext,
) -> tuple[list[CrossRepoUsersView], bool]:
    """Return the users of the affected definitions in other repositories, and whether some were left out."""
    others, is_more = await loaded_indexes((), code, context, around=loaded)
    reserved = int(budget.left * HERE_SHARE)
    budget.left -= reserved
    views: list[CrossRepoUsersView] = []
    wanted = {
        one.node.symbol: code_index.UsedSymbol(one.hops, one.path.confidence)
        for one in reversed(found_here.affected)
        if one.node.symbol >= 0 and one.hops < request.max_hops
    } | dict.fromkeys(found_here.definitions, code_index.UsedSymbol())
    for found in await code_index.used_elsewhere(code, loaded, wanted, others, request.max_hops):
        there = found.loaded
        users = [
            CrossRepoUserView(
                symbol=display_name(one.node, there),
                path=_path(one.node.file, there),
                line=one.line,
                hops=one.hops,
                confidence=round(one.confidence, 3),
            )
            for one in (*found.direct, *found.indirect)
        ]
        record = there.record
        view = CrossRepoUsersView(
            index_id=record.id, root=record.root, package=found.package.name, users=[], total=len(users)
        )
        shown = budget.fitting(users) if budget.fitting([view]) else []
        if shown:
            views.append(view.model_copy(update={"users": shown}))
        is_more = is_more or found.incomplete or len(shown) < len(users)
    budget.left += reserved
    return views, is_more


@tool("code", read_only=True, core=False)
async def trace(
    request: TraceRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> TraceResult:
    """Find the call chains from one function to another, with the line and confidence of each call."""
    loaded, freshness = await chosen_index(request.index_id, request.project, code, projects, context)
    found = await code_index.trace_calls(
        request.source, request.target, code, loaded, hops=request.max_hops, limit=request.limit
    )
    answer = TraceResult(
        found=bool(found.paths) and not found.is_reversed,
        reversed=found.is_reversed,
        chains=[],
        truncated=False,
        freshness=freshness,
    )
    chains = Budget(request.token_budget, answer).fitting(
        (
            CallChainView(
                symbols=[display_name(node, loaded) for node in chain.nodes],
                confidence=round(chain.confidence, 3),
                guess=code_index.is_guess(chain),
                calls=[_hop(link, node, loaded) for link, node in zip(chain.links, chain.nodes[1:], strict=True)],
            )
            for chain in found.paths
        ),
        at_least=1,
    )
    return answer.model_copy(update={"chains": chains, "truncated": found.incomplete or len(chains) < len(found.paths)})


@tool("code", read_only=True, core=False)
async def repo_map(
    request: RepoMapRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> RepoMapResult:
    """Show the most important files of a repository with their most used definitions, within a token budget.

    Call this first in an unfamiliar repository to see what matters; summarize_codebase explains what it is for.
    """
    loaded, freshness = await chosen_index(request.index_id, request.project, code, projects, context)
    empty = RepoMapResult(files=[], total_files=0, truncated=False, freshness=freshness)
    left = Budget(request.token_budget, empty).left
    found = await code_index.repository_map(
        code, loaded, token_budget=left, folder=request.folder.removeprefix("./").strip("/")
    )
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
                        signature=code_index.signature_of(symbol.symbol),
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
) -> tuple[LoadedIndex, Freshness]:
    """Return the index with this id, else the project's."""
    if index_id is None:
        return await project_index(project, code, projects, context)
    loaded = await readable_index(index_id, code, context)
    return loaded, freshness_of(loaded.record, None)


def _path(file: int, loaded: LoadedIndex) -> str:
    return printable_path(loaded.corpus.files[file].path)


def display_name(node: "GraphNode", loaded: LoadedIndex) -> str:
    """Return the qualified name of a definition, or the file name for module-level code."""
    return loaded.names.qualified(node.symbol) if node.symbol >= 0 else _path(node.file, loaded).rsplit("/", 1)[-1]


def _hop(link: "UseLink", node: "GraphNode", loaded: LoadedIndex) -> HopView:
    return HopView(
        symbol=display_name(node, loaded),
        path=_path(node.file, loaded),
        line=link.line,
        call_path=_path(link.source_file, loaded),
        kind=link.kind,
        evidence=link.evidence,
        confidence=round(link.confidence, 3),
    )
