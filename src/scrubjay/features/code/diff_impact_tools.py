"""The `diff_impact` tool: the definitions a diff changes, their users, and the tests that reach them."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from scrubjay import code_index
from scrubjay.code_index import ChangeStatus, CodeService, FileChange, IndexOptions, LoadedIndex, SymbolKind, Touch
from scrubjay.core.errors import InvalidRequest
from scrubjay.features.code.budgets import Budget, TokenBudget, Truncated
from scrubjay.features.code.graph_tools import IndexOption, chosen_index, display_name
from scrubjay.features.code.repository_tools import Freshness, printable_path
from scrubjay.features.code.tools import ProjectOption
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

if TYPE_CHECKING:
    from scrubjay.code_index import Consequence, ReachedNode, StillUsed

# Users listed per definition; `total_users` has the number.
MAX_USERS = 10
MAX_HUNKS = 20
# Largest shares of the token budget for the list of files and of tests.
FILES_SHARE, TESTS_SHARE = 0.2, 0.15

CommitName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        pattern=r"^[^-\x00-\x1f][^\x00-\x1f]*$",
        description="A branch, tag or commit.",
    ),
]


class DiffImpactRequest(Request):
    model_config = examples({}, {"base": "main", "head": "feature"}, {"base": "v1.2.0..v1.3.0"})

    base: CommitName = Field(default="HEAD", description="The commit before the change, or `a..b` for both.")
    head: CommitName | None = Field(
        default=None, description="The commit after the change. Default: the work tree, including uncommitted changes."
    )
    max_hops: int = Field(
        default=3, ge=1, le=10, description="Maximum number of uses between a changed definition and a user."
    )
    token_budget: TokenBudget = 6_000
    project: ProjectOption
    index_id: IndexOption


class HunkView(Result):
    old_first: int
    old_lines: int
    new_first: int
    new_lines: int


class ChangedFileView(Result):
    path: str
    old_path: str | None = Field(description="The previous name, if it changed.")
    status: ChangeStatus
    hunks: list[HunkView] = Field(description="Replaced lines, counted from 1; at most 20 hunks.")


class UserView(Result):
    symbol: str = Field(description="The user; the file name for module-level code.")
    path: str
    line: int = Field(description="Line of the use.")
    hops: int = Field(description="1: uses it directly.")
    confidence: float


class DanglingUseView(Result):
    symbol: str = Field(description="The definition that still uses the name; the file name for module-level code.")
    path: str
    line: int
    use: str = Field(description="The use as written in the source.")
    sure: bool = Field(description="True if it is imported from the removed place; false if only the name matches.")


class ChangedSymbolView(Result):
    symbol: str = Field(description="Empty for module-level code.")
    path: str
    line: int
    kind: SymbolKind | None
    change: Touch
    old_symbol: str | None = Field(description="The previous name, if it changed.")
    old_path: str | None
    signature: str
    old_signature: str | None = Field(description="The previous signature, if it changed.")
    risk: float = Field(description="0 to 1.")
    reason: str = Field(description="Why the risk is what it is.")
    still_used: list[DanglingUseView] = Field(description="Uses of a name that no longer exists: these break.")
    users: list[UserView] = Field(description="Users without tests; nearest first, at most 10.")
    total_users: int
    tests: int = Field(description="Number of tests that reach it.")


class TestView(Result):
    symbol: str
    path: str
    reaches: int = Field(description="Number of changed definitions that the test reaches.")


class DiffImpactResult(Result):
    base: str | None = Field(description="The commit before the change.")
    head: str | None = Field(description="The commit after the change; null for the work tree.")
    files: list[ChangedFileView]
    changes: list[ChangedSymbolView] = Field(
        description="Riskiest first; removed definitions that are still used come before all others."
    )
    tests: list[TestView] = Field(description="Tests that reach changed definitions; those that reach most first.")
    total_files: int
    total_changes: int
    total_tests: int
    unread: list[str] = Field(description="Changed files that were not analyzed.")
    truncated: Truncated
    freshness: Freshness


@tool("code", read_only=True, core=False)
async def diff_impact(
    request: DiffImpactRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> DiffImpactResult:
    """Report what a diff may break: the definitions it changes, their users, and the tests that reach them.

    Call this before you commit (work tree against HEAD), or for a branch (base and head). Users come from the index,
    so they reflect the indexed state if head is another commit. The work tree is not modified.
    """
    loaded, freshness = await chosen_index(request.index_id, request.project, code, projects, context)
    base, head = _revisions(request)
    options = IndexOptions.of(loaded.record.options)
    changed = await code_index.diff_files(code, loaded.record.root, base, head, options)
    found = await code_index.consequences_of(changed, code, loaded, request.max_hops)
    to_run = code_index.reaching_tests(found.found, loaded)
    answer = DiffImpactResult(
        base=changed.base,
        head=changed.head,
        files=[],
        changes=[],
        tests=[],
        total_files=len(changed.files),
        total_changes=len(found.found),
        total_tests=len(to_run),
        unread=[printable_path(path) for path in changed.unread[:MAX_HUNKS]],
        truncated=False,
        freshness=freshness,
    )
    budget = Budget(request.token_budget, answer)
    files = budget.fitting((_file(one) for one in changed.files), FILES_SHARE)
    tests = budget.fitting((_test(node, count, loaded) for node, count in to_run.items()), TESTS_SHARE)
    changes = budget.fitting(_changed_symbol(one, loaded) for one in found.found)
    return answer.model_copy(
        update={
            "files": files,
            "changes": changes,
            "tests": tests,
            "truncated": found.incomplete
            or bool(changed.unread)
            or len(files) < len(changed.files)
            or len(changes) < len(found.found)
            or len(tests) < len(to_run),
        }
    )


def _revisions(request: DiffImpactRequest) -> tuple[str, str | None]:
    if ".." not in request.base:
        return request.base, request.head
    first, _, second = request.base.partition("..")
    if request.head is not None or not first or second.startswith(".") or not second or ".." in second:
        raise InvalidRequest(f"base: {request.base!r} is not a valid range", hint="pass `a..b`, or base and head")
    return first, second


def _file(one: FileChange) -> ChangedFileView:
    return ChangedFileView(
        path=printable_path(one.path or one.old_path),
        old_path=printable_path(one.old_path) if one.status is ChangeStatus.RENAMED else None,
        status=one.status,
        hunks=[HunkView(**hunk._asdict()) for hunk in one.hunks[:MAX_HUNKS]],
    )


def _test(node: "code_index.GraphNode", reaches: int, loaded: LoadedIndex) -> TestView:
    return TestView(symbol=display_name(node, loaded), path=_path(node.file, loaded), reaches=reaches)


def _changed_symbol(one: "Consequence", loaded: LoadedIndex) -> ChangedSymbolView:
    symbol = one.touched
    return ChangedSymbolView(
        symbol=symbol.name,
        path=printable_path(symbol.path),
        line=symbol.line,
        kind=symbol.kind,
        change=symbol.touch,
        old_symbol=symbol.old_name or None,
        old_path=printable_path(symbol.old_path) if symbol.old_path else None,
        signature=symbol.signature,
        old_signature=symbol.old_signature or None,
        risk=one.risk,
        reason=one.reason,
        still_used=[_dangling_use(use, loaded) for use in one.still_used[:MAX_USERS]],
        users=[_user(reached, loaded) for reached in one.affected[:MAX_USERS]],
        total_users=len(one.affected),
        tests=len(one.tests),
    )


def _dangling_use(use: "StillUsed", loaded: LoadedIndex) -> DanglingUseView:
    return DanglingUseView(
        symbol=display_name(code_index.GraphNode(use.file, use.symbol), loaded),
        path=_path(use.file, loaded),
        line=use.line,
        use=use.use,
        sure=use.is_sure,
    )


def _user(reached: "ReachedNode", loaded: LoadedIndex) -> UserView:
    return UserView(
        symbol=display_name(reached.node, loaded),
        path=_path(reached.node.file, loaded),
        line=reached.path.links[-1].line,
        hops=reached.hops,
        confidence=round(reached.path.confidence, 3),
    )


def _path(file: int, loaded: LoadedIndex) -> str:
    return printable_path(loaded.corpus.files[file].path)
