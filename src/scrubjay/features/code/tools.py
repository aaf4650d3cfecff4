"""Code of the project one works in: its symbols, who calls what, and where to look."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from scrubjay.code_index.index.indexer import IndexOptions, index_id_of
from scrubjay.code_index.models import Language, SymbolKind
from scrubjay.code_index.service import CodeService, Loaded
from scrubjay.core.errors import InvalidRequest, NotFound
from scrubjay.features.code.budgets import Budget, TokenBudget, Truncated
from scrubjay.features.code.call_views import (
    CALLING,
    Call,
    CallsElsewhere,
    CallsElsewhereView,
    CallView,
    End,
    call_views,
    callees_elsewhere,
    callers_elsewhere,
    fitting_elsewhere,
)
from scrubjay.features.code.repository_tools import (
    Citation,
    Freshness,
    Shown,
    Stale,
    found_code,
    freshness_of,
    part_of,
    printable_path,
    resolved_root,
)
from scrubjay.features.code.views import Degraded, Memories, remembered_about
from scrubjay.features.code_links.service import SAME, Grounding, Part
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

# Of an index that is behind by no more than this, a question brings it up to date; of one that is behind by more, the
# answer says so.
FEW_CHANGES = 25
# What definitions may take of an answer about one name, and calls of the repository itself beside those of others.
DEFINITIONS_SHARE, HERE_SHARE = 0.25, 0.6

ProjectOption = Annotated[
    str | None,
    Field(
        default=None,
        min_length=1,
        max_length=4_096,
        description="The project's path, name or id; by default the active one, or the folder you work in.",
    ),
]
FunctionName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        description="A function or method, bare (`login`) or qualified (`Session.login`, `src/auth.py::login`).",
    ),
]


class GetSymbolsRequest(Request):
    model_config = examples({"file_path": "src/auth.py"}, {"file_path": "src/auth.py", "symbol_type": "class"})

    file_path: str = Field(min_length=1, max_length=4_096, description="From the project's root.")
    symbol_type: SymbolKind | None = Field(default=None, description="Only these.")
    project: ProjectOption
    limit: int = Field(default=200, ge=1, le=2_000, description="How many at most.")
    offset: int = Field(default=0, ge=0, description="How many are passed over.")
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
    symbols: list[SymbolView] = Field(description="In the order of the file.")
    broken_lines: list[int] = Field(description="Where the syntax could not be read.")
    memories: Memories
    truncated: Truncated
    freshness: Freshness


class SemanticCodeSearchRequest(Request):
    model_config = examples({"query": "where are sessions signed?"}, {"query": "who calls login", "language": "python"})

    query: str = Field(min_length=1, max_length=10_000, description="A question, a name, or the words of a change.")
    language: Language | None = Field(default=None, description="Only files of this language.")
    limit: int = Field(default=10, ge=1, le=100, description="How many at most.")
    token_budget: TokenBudget = 10_000
    project: ProjectOption


class CodeResult(Result):
    path: str
    lines: list[int]
    symbol: str
    score: float
    content: Shown
    stale: Stale
    citation: Citation
    memories: Memories


class SemanticCodeSearchResult(Result):
    search_type: Literal["semantic", "callers", "callees"]
    results: list[CodeResult] = Field(description="Best first.")
    calls: list[CallView] = Field(description="Who calls or is called, when the question asks that.")
    degraded: Degraded
    truncated: Truncated
    freshness: Freshness


class CallsRequest(Request):
    model_config = examples({"function_name": "login"}, {"function_name": "sign", "across": True})

    function_name: FunctionName
    limit: int = Field(default=20, ge=1, le=500, description="How many at most, of each repository.")
    across: bool = Field(
        default=False,
        description="Whether to look into the other indexed repositories too: who calls it there, by its package, or "
        "where what it calls is defined.",
    )
    token_budget: TokenBudget = 10_000
    project: ProjectOption


class CallsResult(Result):
    function: str
    definitions: list[str] = Field(description="What is meant by the name: path, line and qualified name.")
    calls: list[CallView] = Field(
        description="The program itself before tests and examples, then the surest; guesses last."
    )
    total: int
    unresolved: list[str] = Field(description="Calls out of it whose definition is not in the repository.")
    elsewhere: list[CallsElsewhereView] = Field(description="What other repositories tell, if that was asked.")
    truncated: Truncated
    freshness: Freshness


@tool("code", read_only=True)
async def get_symbols(
    request: GetSymbolsRequest,
    code: CodeService,
    grounding: Grounding,
    projects: ProjectService,
    context: CallContext,
) -> GetSymbolsResult:
    """List what a file defines: classes, functions, fields and more, with their lines and signatures."""
    loaded, freshness = await project_index(request.project, code, projects, context)
    path = within(request.file_path, loaded.record.root)
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
    of_symbols = [Part(path, name, symbol.span.first_line, symbol.span.last_line) for name, symbol in shown]
    of_file, *memories = await remembered_about(
        loaded.record.root,
        [Part(path, "", 1, 0), *of_symbols],
        grounding,
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
                memories=[one for one in told if one.score == SAME],
            )
            for (name, symbol), told in zip(shown, memories, strict=True)
        ),
        at_least=1,
    )
    return answer.model_copy(update={"symbols": symbols, "truncated": request.offset + len(symbols) < len(wanted)})


@tool("code", read_only=True)
async def semantic_code_search(
    request: SemanticCodeSearchRequest,
    code: CodeService,
    grounding: Grounding,
    projects: ProjectService,
    context: CallContext,
) -> SemanticCodeSearchResult:
    """Find code of the project by what it does, by a name, or by who calls what ("who calls login")."""
    from scrubjay.code_index.search.query_kind import asked_calls
    from scrubjay.code_index.search.ranker import Toggles

    loaded, freshness = await project_index(request.project, code, projects, context)
    if (asked := asked_calls(request.query)) is not None and loaded.names.find(asked.name):
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
        toggles=Toggles(),
        context_lines=5,
        language=request.language,
    )
    parts = [part_of(hit) for hit in hits]
    memories = await remembered_about(loaded.record.root, parts, grounding, projects, context, request.project)
    shown = (found_code(hit, loaded.record, told) for hit, told in zip(hits, memories, strict=True))
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
    """Tell who calls a function, with the lines of the calls, and how sure that is.

    With `across` also who calls it in the other indexed repositories that use its package.
    """
    return await _answered(request, code, projects, context, incoming=True)


@tool("code", read_only=True)
async def find_callees(
    request: CallsRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> CallsResult:
    """Tell what a function calls, with the lines of the calls, and what of it is not in the repository.

    With `across` also what of that another indexed repository defines, and where.
    """
    return await _answered(request, code, projects, context, incoming=False)


async def _answered(
    request: CallsRequest, code: CodeService, projects: ProjectService, context: CallContext, *, incoming: bool
) -> CallsResult:
    loaded, freshness = await project_index(request.project, code, projects, context)
    rows = loaded.names.find(request.function_name)
    if not rows:
        near = loaded.names.similar(request.function_name)
        raise NotFound(
            f"nothing is called {request.function_name!r} in this repository",
            hint=f"did you mean {' or '.join(near)}?" if near else "get_symbols lists what a file defines",
            details={"nearest": near},
        )
    calls = await _calls(request.function_name, code, loaded, incoming=incoming)
    unresolved: dict[str, None] = {}
    if not incoming:
        from scrubjay.code_index.cross_repo.definitions import unresolved_calls

        links = await code.links(loaded)
        unresolved = dict.fromkeys(one.use for row in rows for _, one in unresolved_calls(row, loaded, links))
    elsewhere = CallsElsewhere([], truncated=False)
    if request.across:
        asked = callers_elsewhere if incoming else callees_elsewhere
        elsewhere = await asked(rows, code, loaded, request.limit)
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
    there, is_all = fitting_elsewhere(elsewhere.views, budget)
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


def definition_of(row: int, loaded: Loaded) -> str:
    """Where something is defined: path, line and qualified name."""
    corpus = loaded.corpus
    path = printable_path(corpus.files[int(corpus.symbols.files[row])].path)
    return f"{path}:{int(corpus.symbols.lines[row])} {loaded.names.qualified(row)}"


async def _calls(name: str, code: CodeService, loaded: Loaded, *, incoming: bool) -> list[CallView]:
    links, files = await code.links(loaded), loaded.corpus.files
    found: list[tuple[End, Call]] = []
    for row in loaded.names.find(name):
        for link in links.to(row) if incoming else links.of(row):
            if link.kind in CALLING:
                end = (link.source_file, link.source) if incoming else (link.target_file, link.target)
                call = Call(link.line, link.kind, link.evidence, link.confidence)
                found.append((End(*end, files[link.source_file].path), call))
    return call_views(found, loaded)


async def root_of(path: str | None, code: CodeService, projects: ProjectService, context: CallContext) -> str:
    """The folder that is meant: the given one, the active project's, or where the client works."""
    if path is not None:
        return resolved_root(path, context, code)
    if (project := await projects.active(context.client)) is not None:
        return resolved_root(project.path, context, code)
    if context.working_directory is not None:
        return resolved_root(context.working_directory, context, code)
    raise InvalidRequest(
        "it is not known which code is meant",
        hint="give the folder or the project as an argument; set_project chooses one for a client that stays connected",
    )


async def _root(project: str, code: CodeService, projects: ProjectService, context: CallContext) -> str:
    """The folder of a project. A folder that is indexed will do, though nobody has made a project of it."""
    try:
        return resolved_root((await projects.find(project, context.working_directory)).path, context, code)
    except NotFound:
        if not Path(project).is_absolute():
            raise
        root = resolved_root(project, context, code)
        if await code.store.index(index_id_of(root, "HEAD", IndexOptions())) is None:
            raise
        return root


async def project_index(
    project: str | None, code: CodeService, projects: ProjectService, context: CallContext
) -> tuple[Loaded, Freshness]:
    """The index of the project's folder. One that is a little behind is brought up to date first."""
    root = (
        await root_of(None, code, projects, context)
        if project is None
        else await _root(project, code, projects, context)
    )
    options = IndexOptions()
    index_id = index_id_of(root, "HEAD", options)
    if await code.store.index(index_id) is None:
        raise NotFound(f"{root} is not indexed", hint="index with action project reads it")
    changed = await code.freshen(root, options, FEW_CHANGES)
    loaded = await code.load(index_id)
    return loaded, freshness_of(loaded.record, changed)


def within(path: str, root: str) -> str:
    """A path from the root, also when it was given from the file system's."""
    return path[len(root) :].lstrip("/") if path.startswith(f"{root}/") else path.removeprefix("./")
