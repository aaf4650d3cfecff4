"""Several repositories at once: one search over all, and which of them uses what another one defines."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from scrubjay.code_index.cross_repo.packages import Ecosystem
from scrubjay.code_index.index.indexer import IndexOptions, index_id_of
from scrubjay.code_index.service import CodeService, Loaded
from scrubjay.features.code.budgets import Budget, TokenBudget, Truncated
from scrubjay.features.code.repository_tools import (
    Features,
    FoundCode,
    Freshness,
    IndexId,
    found_code,
    freshness_of,
    part_of,
    printable_path,
)
from scrubjay.features.code.views import AboutCode, Degraded, remembered_about
from scrubjay.features.code_links.service import Grounding
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

if TYPE_CHECKING:
    from scrubjay.code_index.cross_repo.dependents import RepositoryLink

# Each is loaded whole.
MOST_INDEXES = 8
MOST_FILES, MOST_LINES = 20, 10
# What a file that imports something takes in an answer, about; in a short answer fewer are told of each link.
TOKENS_A_FILE = 100
# What the repositories themselves may take of an answer.
REPOSITORIES_SHARE = 0.4

IndexIds = Annotated[
    list[IndexId],
    Field(
        default=[],
        max_length=MOST_INDEXES,
        description="The indexes; by default that of each folder's work tree, or else its newest, at most 8. `index` "
        "tells what there is.",
    ),
]


class SearchReposRequest(Request):
    model_config = examples(
        {"query": "where are sessions signed?"}, {"index_ids": ["idx_a", "idx_b"], "query": "login"}
    )

    query: str = Field(min_length=1, max_length=10_000, description="A question, a name, or the words of a change.")
    index_ids: IndexIds
    k: int = Field(default=20, ge=1, le=100, description="How many results at most.")
    features: Features = Field(default_factory=Features, description="Which witnesses are heard.")
    context_lines: int = Field(default=5, ge=0, le=20, description="How many lines around each result are shown.")
    token_budget: TokenBudget = 8_000


class RepositoryView(Result):
    index_id: str
    root: str
    freshness: Freshness


class FoundInRepository(FoundCode):
    index_id: str


class SearchReposResult(Result):
    results: list[FoundInRepository] = Field(description="Best first, of whichever repository; scores are comparable.")
    repositories: list[RepositoryView] = Field(description="Those that were searched.")
    query_time_ms: float
    degraded: Degraded
    truncated: Truncated


class RepoLinksRequest(Request):
    model_config = examples({}, {"index_ids": ["idx_a", "idx_b"]})

    index_ids: IndexIds
    token_budget: TokenBudget = 4_000


class ImportingFileView(Result):
    path: str
    lines: list[int] = Field(description="Where it imports it.")
    names: list[str] = Field(description="What it takes of it.")


class RepoLinkView(Result):
    index_id: str = Field(description="Who uses it.")
    root: str
    uses_index_id: str = Field(description="Who defines it.")
    uses_root: str
    package: str
    ecosystem: Ecosystem
    manifest: str = Field(description="The file that defines the package.")
    declared: bool = Field(description="Whether a manifest of the user says that it is needed.")
    files: list[ImportingFileView] = Field(description="Which files import it, at most 20; tests last.")
    total_files: int


class RepoLinksResult(Result):
    links: list[RepoLinkView] = Field(description="Those with the most files first.")
    repositories: list[RepositoryView]
    truncated: Truncated


@tool("code", read_only=True, core=False)
async def search_repos(
    request: SearchReposRequest,
    code: CodeService,
    grounding: Grounding,
    projects: ProjectService,
    context: CallContext,
) -> SearchReposResult:
    """Search several indexed repositories at once, and tell of each result which repository it is of."""
    from scrubjay.code_index.cross_repo.search import search_all
    from scrubjay.code_index.search.ranker import Toggles

    began = time.perf_counter()
    chosen, left_out = await loaded_indexes(request.index_ids, code)
    toggles = Toggles(**request.features.model_dump())
    found = await search_all(
        code, chosen, request.query, limit=request.k, toggles=toggles, context_lines=request.context_lines
    )
    memories: dict[int, list[AboutCode]] = {}
    for there in chosen:
        own = [number for number, one in enumerate(found) if one.loaded is there]
        parts = [part_of(found[number].hit) for number in own]
        told = await remembered_about(there.record.root, parts, grounding, projects, context)
        memories |= dict(zip(own, told, strict=True))
    answer = SearchReposResult(
        results=[],
        repositories=[],
        query_time_ms=round((time.perf_counter() - began) * 1000, 2),
        degraded=found.degraded,
        truncated=False,
    )
    budget = Budget(request.token_budget, answer)
    repositories = budget.fitting(map(_repository, chosen), REPOSITORIES_SHARE, at_least=1)
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
async def repo_links(request: RepoLinksRequest, code: CodeService) -> RepoLinksResult:
    """Tell which indexed repository uses packages that another one defines, and by which files.

    By the manifests (pyproject.toml, setup.py, package.json, go.mod, Cargo.toml) and the imports. impact with across
    follows a definition into the repositories that use it.
    """
    from scrubjay.code_index.cross_repo.dependents import links_between

    chosen, left_out = await loaded_indexes(request.index_ids, code)
    found = sorted(await links_between(code, chosen), key=lambda one: (-len(one.files), one.package.name))
    budget = Budget(request.token_budget, RepoLinksResult(links=[], repositories=[], truncated=False))
    repositories = budget.fitting(map(_repository, chosen), REPOSITORIES_SHARE, at_least=1)
    most_files = max(1, min(MOST_FILES, budget.left // TOKENS_A_FILE))
    links = budget.fitting((_link(one, most_files) for one in found), at_least=1)
    return RepoLinksResult(
        links=links,
        repositories=repositories,
        truncated=left_out
        or len(repositories) < len(chosen)
        or len(links) < len(found)
        or any(len(one.files) < one.total_files for one in links),
    )


async def loaded_indexes(
    index_ids: Sequence[str], code: CodeService, *, around: Loaded | None = None
) -> tuple[list[Loaded], bool]:
    """The indexes that are named, or one of each folder; and whether there are more than are taken.

    Of a folder the work tree counts, read whole: somebody may have indexed an old revision, or a part, just now.
    Where there are too many, those come first whose manifests link them with the repository that this is `around`.
    """
    wanted = list(dict.fromkeys(index_ids))
    more = False
    if not wanted:
        whole = [record for record in await code.store.indexes() if record.generation]
        whole.sort(key=lambda one: (one.id == index_id_of(one.root, "HEAD", IndexOptions()), one.updated_at))
        chosen = {record.root: record for record in whole}
        newest = sorted(chosen.values(), key=lambda one: one.updated_at, reverse=True)
        if around is not None:
            newest = [record for record in newest if record.root != around.record.root]
        if around is not None and len(newest) > MOST_INDEXES:
            from scrubjay.code_index.cross_repo.packages import related_to

            related = await related_to(code, around, newest)
            newest.sort(key=lambda one: one.id not in related)
        wanted, more = [record.id for record in newest[:MOST_INDEXES]], len(newest) > MOST_INDEXES
    return [await code.load(index_id) for index_id in wanted], more


def _link(one: "RepositoryLink", most_files: int) -> RepoLinkView:
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
                lines=list(file.lines[:MOST_LINES]),
                names=list(file.names[:MOST_LINES]),
            )
            for file in one.files[:most_files]
        ],
        total_files=len(one.files),
    )


def _repository(loaded: Loaded) -> RepositoryView:
    return RepositoryView(
        index_id=loaded.record.id, root=loaded.record.root, freshness=freshness_of(loaded.record, None)
    )
