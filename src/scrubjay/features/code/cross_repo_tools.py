"""Tools over several repositories: one search over all, and which repository uses packages of another."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from scrubjay import code_index
from scrubjay.code_index import CodeService, Ecosystem, IndexOptions, LoadedIndex, index_id_of
from scrubjay.features.code.budgets import Budget, TokenBudget, Truncated
from scrubjay.features.code.repository_tools import (
    Features,
    FoundCode,
    Freshness,
    IndexId,
    code_range_of,
    found_code,
    freshness_of,
    printable_path,
    readable_index,
    readable_indexes,
)
from scrubjay.features.code.views import CodeMemoryView, Degraded, memories_about
from scrubjay.features.code_links.service import CodeLinkService
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

if TYPE_CHECKING:
    from scrubjay.code_index import RepositoryLink

# Each index is loaded completely into memory.
MAX_INDEXES = 8
MAX_FILES, MAX_LINES = 20, 10
# Approximate size of one importing file in an answer; with a small budget fewer files are listed per link.
TOKENS_PER_FILE = 100
# Largest share of the token budget for the list of repositories.
REPOSITORIES_SHARE = 0.4

IndexIds = Annotated[
    list[IndexId],
    Field(
        default=[],
        max_length=MAX_INDEXES,
        description="The indexes to use. Default: for each folder the index of its work tree, else the newest; at most "
        "8. `index` with action status lists them.",
    ),
]


class SearchReposRequest(Request):
    model_config = examples(
        {"query": "where are sessions signed?"}, {"index_ids": ["idx_a", "idx_b"], "query": "login"}
    )

    query: str = Field(min_length=1, max_length=10_000, description="A question, a name, or a description of a change.")
    index_ids: IndexIds
    k: int = Field(default=20, ge=1, le=100, description="Maximum number of results.")
    features: Features = Field(default_factory=Features, description="Ranking signals to use.")
    context_lines: int = Field(default=5, ge=0, le=20, description="Lines of context around each result.")
    token_budget: TokenBudget = 8_000


class RepositoryView(Result):
    index_id: str
    root: str
    freshness: Freshness


class FoundInRepository(FoundCode):
    index_id: str


class SearchReposResult(Result):
    results: list[FoundInRepository] = Field(description="Best first across all repositories; scores are comparable.")
    repositories: list[RepositoryView] = Field(description="The repositories that were searched.")
    query_time_ms: float
    degraded: Degraded
    truncated: Truncated


class RepoLinksRequest(Request):
    model_config = examples({}, {"index_ids": ["idx_a", "idx_b"]})

    index_ids: IndexIds
    token_budget: TokenBudget = 4_000


class ImportingFileView(Result):
    path: str
    lines: list[int] = Field(description="Lines of the imports.")
    names: list[str] = Field(description="Imported names.")


class RepoLinkView(Result):
    index_id: str = Field(description="The repository that uses the package.")
    root: str
    uses_index_id: str = Field(description="The repository that defines the package.")
    uses_root: str
    package: str
    ecosystem: Ecosystem
    manifest: str = Field(description="The manifest that defines the package.")
    declared: bool = Field(description="Whether a manifest of the user declares the dependency.")
    files: list[ImportingFileView] = Field(description="Files that import it, at most 20; tests last.")
    total_files: int


class RepoLinksResult(Result):
    links: list[RepoLinkView] = Field(description="Links with the most importing files first.")
    repositories: list[RepositoryView]
    truncated: Truncated


@tool("code", read_only=True, core=False, withholds=("memory",))
async def search_repos(
    request: SearchReposRequest,
    code: CodeService,
    code_links: CodeLinkService,
    projects: ProjectService,
    context: CallContext,
) -> SearchReposResult:
    """Search several indexed repositories at once; each result names its repository."""
    began = time.perf_counter()
    chosen, left_out = await loaded_indexes(request.index_ids, code, context)
    toggles = code_index.SignalToggles(**request.features.model_dump())
    found = await code_index.search_all(
        code, chosen, request.query, limit=request.k, toggles=toggles, context_lines=request.context_lines
    )
    memories: dict[int, list[CodeMemoryView]] = {}
    for there in chosen:
        own = [number for number, one in enumerate(found) if one.loaded is there]
        parts = [code_range_of(found[number].hit) for number in own]
        related = await memories_about(there.record.root, parts, code_links, projects, context)
        memories |= dict(zip(own, related, strict=True))
    answer = SearchReposResult(
        results=[],
        repositories=[],
        query_time_ms=round((time.perf_counter() - began) * 1000, 2),
        degraded=found.degraded,
        truncated=False,
    )
    budget = Budget(request.token_budget, answer)
    repositories = budget.fitting(map(_repository_view, chosen), REPOSITORIES_SHARE, at_least=1)
    results = budget.fitting(
        (
            FoundInRepository.model_validate(
                found_code(one.hit, one.loaded.record, memories[number]).model_dump()
                | {"score": one.score, "index_id": one.loaded.record.id}
            )
            for number, one in enumerate(found)
        ),
        at_least=1,
    )
    is_less = len(repositories) < len(chosen) or len(results) < len(found)
    return answer.model_copy(
        update={"results": results, "repositories": repositories, "truncated": left_out or found.more or is_less}
    )


@tool("code", read_only=True, core=False)
async def repo_links(request: RepoLinksRequest, code: CodeService, context: CallContext) -> RepoLinksResult:
    """List which indexed repositories use packages that other ones define, and the files that import them.

    Based on manifests (pyproject.toml, setup.py, package.json, go.mod, Cargo.toml) and imports. Use impact with
    `across` to follow one definition into the repositories that use it.
    """
    chosen, left_out = await loaded_indexes(request.index_ids, code, context)
    found = sorted(await code_index.links_between(code, chosen), key=lambda one: (-len(one.files), one.package.name))
    budget = Budget(request.token_budget, RepoLinksResult(links=[], repositories=[], truncated=False))
    repositories = budget.fitting(map(_repository_view, chosen), REPOSITORIES_SHARE, at_least=1)
    most_files = max(1, min(MAX_FILES, budget.left // TOKENS_PER_FILE))
    links = budget.fitting((_link_view(one, most_files) for one in found), at_least=1)
    return RepoLinksResult(
        links=links,
        repositories=repositories,
        truncated=left_out
        or len(repositories) < len(chosen)
        or len(links) < len(found)
        or any(len(one.files) < one.total_files for one in links),
    )


async def loaded_indexes(
    index_ids: Sequence[str], code: CodeService, context: CallContext, *, around: LoadedIndex | None = None
) -> tuple[list[LoadedIndex], bool]:
    """Return the named indexes, or one per folder that the caller may read, and whether some were left out.

    For each folder the complete index of the work tree is preferred to newer ones of old revisions or parts. If there
    are too many, those come first whose manifests link them with the repository `around`.
    """
    wanted = list(dict.fromkeys(index_ids))
    more = False
    if not wanted:
        whole = [record for record in await readable_indexes(code, context) if record.generation]
        whole.sort(key=lambda one: (one.id == index_id_of(one.root, "HEAD", IndexOptions()), one.updated_at))
        chosen = {record.root: record for record in whole}
        newest = sorted(chosen.values(), key=lambda one: one.updated_at, reverse=True)
        if around is not None:
            newest = [record for record in newest if record.root != around.record.root]
        if around is not None and len(newest) > MAX_INDEXES:
            related = await code_index.related_to(code, around, newest)
            newest.sort(key=lambda one: one.id not in related)
        wanted, more = [record.id for record in newest[:MAX_INDEXES]], len(newest) > MAX_INDEXES
    return [await readable_index(index_id, code, context) for index_id in wanted], more


def _link_view(one: "RepositoryLink", most_files: int) -> RepoLinkView:
    files = one.user.corpus.files
    return RepoLinkView(
        index_id=one.user.record.id,
        root=one.user.record.root,
        uses_index_id=one.definer.record.id,
        uses_root=one.definer.record.root,
        package=one.package.name,
        ecosystem=one.package.ecosystem,
        manifest=printable_path(one.package.manifest),
        declared=one.declared,
        files=[
            ImportingFileView(
                path=printable_path(files[file.file].path),
                lines=list(file.lines[:MAX_LINES]),
                names=list(file.names[:MAX_LINES]),
            )
            for file in one.files[:most_files]
        ],
        total_files=len(one.files),
    )


def _repository_view(loaded: LoadedIndex) -> RepositoryView:
    return RepositoryView(
        index_id=loaded.record.id, root=loaded.record.root, freshness=freshness_of(loaded.record, None)
    )
