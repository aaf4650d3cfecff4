"""Tools over the code index of the active project: symbols, search, callers and callees."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from scrubjay import code_index
from scrubjay.code_index import CodeService, IndexOptions, Language, LoadedIndex, SymbolKind, index_id_of
from scrubjay.core.errors import InvalidRequest, NotFound
from scrubjay.features.code.budgets import Budget, TokenBudget, Truncated
from scrubjay.features.code.call_views import (
    CALL_KINDS,
    CallEndpoint,
    CallSite,
    CallView,
    CrossRepoCalls,
    CrossRepoCallsView,
    call_views,
    cross_repo_callees,
    cross_repo_callers,
    fit_cross_repo_calls,
)
from scrubjay.features.code.repository_tools import (
    CodeCitation,
    CodeExcerptView,
    Freshness,
    Stale,
    code_range_of,
    found_code,
    freshness_of,
    printable_path,
    resolved_root,
)
from scrubjay.features.code.views import Degraded, Memories, memories_about
from scrubjay.features.code_links.service import SAME_SYMBOL, CodeLinkService, CodeRange
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

# A query refreshes an index if at most this many of its files changed; otherwise the answer only reports it.
MAX_AUTO_REFRESH = 25
# Shares of the token budget: for definitions, and for calls in this repository when other repositories have some too.
DEFINITIONS_SHARE, HERE_SHARE = 0.25, 0.6

ProjectOption = Annotated[
    str | None,
    Field(
        default=None,
        min_length=1,
        max_length=4_096,
        description="Path, name or id of the project. Default: the active project, or your working folder.",
    ),
]
FunctionName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        description="A function or method: bare (`login`) or qualified (`Session.login`, `src/auth.py::login`).",
    ),
]


class GetSymbolsRequest(Request):
    model_config = examples({"file_path": "src/auth.py"}, {"file_path": "src/auth.py", "symbol_type": "class"})

    file_path: str = Field(min_length=1, max_length=4_096, description="Path relative to the project's root.")
    symbol_type: SymbolKind | None = Field(default=None, description="Return only symbols of this kind.")
    project: ProjectOption
    limit: int = Field(default=200, ge=1, le=2_000, description="Maximum number of symbols.")
    offset: int = Field(default=0, ge=0, description="Number of symbols to skip.")
    token_budget: TokenBudget = 20_000


class SymbolView(Result):
    name: str
    qualified_name: str
    symbol_type: SymbolKind
    line_start: int
    line_end: int
    signature: str
    documentation: str
    exported: bool
    memories: Memories


class GetSymbolsResult(Result):
    file_path: str
    language: Language
    total: int
    symbols: list[SymbolView] = Field(description="In file order.")
    broken_lines: list[int] = Field(description="Lines with syntax errors.")
    memories: Memories
    truncated: Truncated
    freshness: Freshness


class SemanticCodeSearchRequest(Request):
    model_config = examples({"query": "where are sessions signed?"}, {"query": "who calls login", "language": "python"})

    query: str = Field(min_length=1, max_length=10_000, description="A question, a name, or a description of a change.")
    language: Language | None = Field(default=None, description="Only files of this language.")
    limit: int = Field(default=10, ge=1, le=100, description="Maximum number of results.")
    token_budget: TokenBudget = 10_000
    project: ProjectOption


class CodeResult(Result):
    path: str
    lines: list[int]
    symbol: str
    score: float
    content: CodeExcerptView
    stale: Stale
    citation: CodeCitation
    memories: Memories


class SemanticCodeSearchResult(Result):
    search_type: Literal["semantic", "callers", "callees"]
    results: list[CodeResult] = Field(description="Best first.")
    calls: list[CallView] = Field(description="Callers or callees, when the query asks for them.")
    degraded: Degraded
    truncated: Truncated
    freshness: Freshness


class CallsRequest(Request):
    model_config = examples({"function_name": "login"}, {"function_name": "sign", "across": True})

    function_name: FunctionName
    limit: int = Field(default=20, ge=1, le=500, description="Maximum number of calls from each repository.")
    across: bool = Field(
        default=False,
        description="Search the other indexed repositories too: for callers that import its package, or for the "
        "definitions of what it calls.",
    )
    token_budget: TokenBudget = 10_000
    project: ProjectOption


class CallsResult(Result):
    function: str
    definitions: list[str] = Field(description="Definitions that match the name: path, line and qualified name.")
    calls: list[CallView] = Field(
        description="Program code before tests and examples, then by confidence; guesses last."
    )
    total: int
    unresolved: list[str] = Field(description="Callees that are not defined in this repository.")
    elsewhere: list[CrossRepoCallsView] = Field(description="Calls in other repositories, if `across` is true.")
    truncated: Truncated
    freshness: Freshness


@tool("code", read_only=True, withholds=("memory",))
async def get_symbols(
    request: GetSymbolsRequest,
    code: CodeService,
    code_links: CodeLinkService,
    projects: ProjectService,
    context: CallContext,
) -> GetSymbolsResult:
    """List the classes, functions, fields and other symbols that a file defines, with lines and signatures."""
    loaded, freshness = await project_index(request.project, code, projects, context)
    path = relative_path(request.file_path, loaded.record.root)
    facts = await code.facts(loaded, path)
    wanted = [
        (place, symbol)
        for place, symbol in enumerate(facts.symbols)
        if request.symbol_type is None or symbol.kind is request.symbol_type
    ]
    first = int(loaded.corpus.first_symbols[loaded.corpus.row_of[path]])
    shown = [
        (loaded.names.qualified(first + place), symbol)
        for place, symbol in wanted[request.offset : request.offset + request.limit]
    ]
    of_symbols = [CodeRange(path, name, symbol.span.first_line, symbol.span.last_line) for name, symbol in shown]
    of_file, *memories = await memories_about(
        loaded.record.root,
        [CodeRange(path, "", 1, 0), *of_symbols],
        code_links,
        projects,
        context,
        request.project,
    )
    answer = GetSymbolsResult(
        file_path=path,
        language=facts.language,
        total=len(wanted),
        symbols=[],
        broken_lines=[problem.line for problem in facts.problems],
        memories=of_file,
        truncated=False,
        freshness=freshness,
    )
    symbols = Budget(request.token_budget, answer).fitting(
        (
            SymbolView(
                name=symbol.name,
                qualified_name=name,
                symbol_type=symbol.kind,
                line_start=symbol.span.first_line,
                line_end=symbol.span.last_line,
                signature=symbol.signature,
                documentation=symbol.doc,
                exported=symbol.exported,
                memories=[one for one in related if one.score == SAME_SYMBOL],
            )
            for (name, symbol), related in zip(shown, memories, strict=True)
        ),
        at_least=1,
    )
    return answer.model_copy(update={"symbols": symbols, "truncated": request.offset + len(symbols) < len(wanted)})


@tool("code", read_only=True, withholds=("memory",))
async def semantic_code_search(
    request: SemanticCodeSearchRequest,
    code: CodeService,
    code_links: CodeLinkService,
    projects: ProjectService,
    context: CallContext,
) -> SemanticCodeSearchResult:
    """Find code of the project by what it does, by name, or by who calls whom ("who calls login")."""
    loaded, freshness = await project_index(request.project, code, projects, context)
    if (asked := code_index.parse_call_query(request.query)) is not None and loaded.names.find(asked.name):
        found = await _calls(asked.name, code, loaded, incoming=asked.incoming)
        answer = SemanticCodeSearchResult(
            search_type="callers" if asked.incoming else "callees",
            results=[],
            calls=[],
            degraded=None,
            truncated=False,
            freshness=freshness,
        )
        calls = Budget(request.token_budget, answer).fitting(found[: request.limit], at_least=1)
        return answer.model_copy(update={"calls": calls, "truncated": len(calls) < len(found)})
    hits = await code.search(
        loaded.record.id,
        request.query,
        limit=request.limit,
        toggles=code_index.SignalToggles(),
        context_lines=5,
        language=request.language,
    )
    parts = [code_range_of(hit) for hit in hits]
    memories = await memories_about(loaded.record.root, parts, code_links, projects, context, request.project)
    shown = (found_code(hit, loaded.record, related) for hit, related in zip(hits, memories, strict=True))
    answer = SemanticCodeSearchResult(
        search_type="semantic", results=[], calls=[], degraded=hits.degraded, truncated=False, freshness=freshness
    )
    results = Budget(request.token_budget, answer).fitting(
        (
            CodeResult(
                path=one.path,
                lines=one.lines,
                symbol=one.symbol,
                score=one.score,
                content=one.content,
                stale=one.stale,
                citation=one.citation,
                memories=one.memories,
            )
            for one in shown
        ),
        at_least=1,
    )
    return answer.model_copy(update={"results": results, "truncated": hits.more or len(results) < len(hits)})


@tool("code", read_only=True)
async def find_callers(
    request: CallsRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> CallsResult:
    """List the callers of a function, with the lines of the calls and the confidence of each.

    With `across`, include callers in other indexed repositories that use its package.
    """
    return await _call_answer(request, code, projects, context, incoming=True)


@tool("code", read_only=True)
async def find_callees(
    request: CallsRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> CallsResult:
    """List what a function calls, with the lines of the calls, and callees that this repository does not define.

    With `across`, also find those that another indexed repository defines.
    """
    return await _call_answer(request, code, projects, context, incoming=False)


async def _call_answer(
    request: CallsRequest, code: CodeService, projects: ProjectService, context: CallContext, *, incoming: bool
) -> CallsResult:
    loaded, freshness = await project_index(request.project, code, projects, context)
    rows = loaded.names.find(request.function_name)
    if not rows:
        near = loaded.names.similar(request.function_name)
        raise NotFound(
            f"this repository does not define {request.function_name!r}",
            hint=f"did you mean {' or '.join(near)}?" if near else "get_symbols lists the symbols of a file",
            details={"nearest": near},
        )
    calls = await _calls(request.function_name, code, loaded, incoming=incoming)
    unresolved: dict[str, None] = {}
    if not incoming:
        links = await code.use_graph(loaded)
        unresolved = dict.fromkeys(
            one.use for row in rows for _, one in code_index.unresolved_calls(row, loaded, links)
        )
    elsewhere = CrossRepoCalls([], truncated=False)
    if request.across:
        asked = cross_repo_callers if incoming else cross_repo_callees
        elsewhere = await asked(rows, code, loaded, request.limit, context)
    answer = CallsResult(
        function=request.function_name,
        definitions=[],
        calls=[],
        total=len(calls),
        unresolved=[],
        elsewhere=[],
        truncated=False,
        freshness=freshness,
    )
    budget = Budget(request.token_budget, answer)
    definitions = budget.fitting_texts((definition_of(row, loaded) for row in rows), DEFINITIONS_SHARE, at_least=1)
    shown = budget.fitting(calls[: request.limit], HERE_SHARE if elsewhere.views else 1.0, at_least=1)
    there, is_all = fit_cross_repo_calls(elsewhere.views, budget)
    names = budget.fitting_texts(unresolved)
    return answer.model_copy(
        update={
            "definitions": definitions,
            "calls": shown,
            "unresolved": names,
            "elsewhere": there,
            "truncated": elsewhere.truncated
            or not is_all
            or len(definitions) < len(rows)
            or len(shown) < len(calls)
            or len(names) < len(unresolved),
        }
    )


def definition_of(row: int, loaded: LoadedIndex) -> str:
    """Return the path, line and qualified name of a definition, as `path:line name`."""
    corpus = loaded.corpus
    path = printable_path(corpus.files[int(corpus.symbols.files[row])].path)
    return f"{path}:{int(corpus.symbols.lines[row])} {loaded.names.qualified(row)}"


async def _calls(name: str, code: CodeService, loaded: LoadedIndex, *, incoming: bool) -> list[CallView]:
    links, files = await code.use_graph(loaded), loaded.corpus.files
    found: list[tuple[CallEndpoint, CallSite]] = []
    for row in loaded.names.find(name):
        for link in links.users_of(row) if incoming else links.uses_by(row):
            if link.kind in CALL_KINDS:
                end = (link.source_file, link.source) if incoming else (link.target_file, link.target)
                call = CallSite(link.line, link.kind, link.evidence, link.confidence)
                found.append((CallEndpoint(*end, files[link.source_file].path), call))
    return call_views(found, loaded)


async def root_of(path: str | None, code: CodeService, projects: ProjectService, context: CallContext) -> str:
    """Return the given folder, else the active project's, else the client's working folder, resolved."""
    if path is not None:
        return await resolved_root(path, context, code)
    if (project := await projects.active(context.client)) is not None:
        return await resolved_root(project.path, context, code)
    if context.working_directory is not None:
        return await resolved_root(context.working_directory, context, code)
    raise InvalidRequest(
        "no project or folder is selected",
        hint="pass the folder or the project as an argument, or select a project with set_project",
    )


async def _project_root(project: str, code: CodeService, projects: ProjectService, context: CallContext) -> str:
    """Return the folder of a project; an indexed folder that is no project is accepted too."""
    try:
        return await resolved_root((await projects.find(project, context.working_directory)).path, context, code)
    except NotFound:
        if not Path(project).is_absolute():
            raise
        root = await resolved_root(project, context, code)
        if await code.store.index(index_id_of(root, "HEAD", IndexOptions())) is None:
            raise
        return root


async def project_index(
    project: str | None, code: CodeService, projects: ProjectService, context: CallContext
) -> tuple[LoadedIndex, Freshness]:
    """Return the index of the project's folder; refresh it first if at most MAX_AUTO_REFRESH files changed."""
    root = (
        await root_of(None, code, projects, context)
        if project is None
        else await _project_root(project, code, projects, context)
    )
    options = IndexOptions()
    index_id = index_id_of(root, "HEAD", options)
    if await code.store.index(index_id) is None:
        raise NotFound(f"{root} is not indexed", hint="call index with action project")
    changed = await code.refresh(root, options, MAX_AUTO_REFRESH)
    loaded = await code.load(index_id)
    return loaded, freshness_of(loaded.record, changed)


def relative_path(path: str, root: str) -> str:
    """Return a path relative to the root; an absolute path under the root is accepted too."""
    return path[len(root) :].lstrip("/") if path.startswith(f"{root}/") else path.removeprefix("./")
