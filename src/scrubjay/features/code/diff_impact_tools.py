"""What a change means: the definitions that it touches, who uses these, and which tests reach them."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from scrubjay.code_index.diff.files import FileChange, Status
from scrubjay.code_index.diff.symbols import Touch
from scrubjay.code_index.index.indexer import IndexOptions
from scrubjay.code_index.models import SymbolKind
from scrubjay.code_index.service import CodeService, Loaded
from scrubjay.core.errors import InvalidRequest
from scrubjay.features.code.budgets import Budget, TokenBudget, Truncated
from scrubjay.features.code.graph_tools import IndexOption, called, chosen_index
from scrubjay.features.code.repository_tools import Freshness, printable_path
from scrubjay.features.code.tools import ProjectOption
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

if TYPE_CHECKING:
    from scrubjay.code_index.diff.dangling_uses import StillUsed
    from scrubjay.code_index.diff.risk import Consequence
    from scrubjay.code_index.questions.traversal import Node, Reached


# Of what one definition's users are told; the totals tell how many there are.
MOST_USERS = 10
MOST_HUNKS = 20
# No more than this share of the budget goes to the list of files, and of tests.
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

    base: CommitName = Field(default="HEAD", description="The commit before the change; `a..b` names both.")
    head: CommitName | None = Field(
        default=None, description="The commit after it; by default the work tree, with what is not committed."
    )
    max_hops: int = Field(default=3, ge=1, le=10, description="Through how many others a use is followed.")
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
    old_path: str | None = Field(description="What it was called before, if that is another name.")
    status: Status
    hunks: list[HunkView] = Field(description="Which lines were replaced, counted from 1; no more than 20.")


class UserView(Result):
    symbol: str = Field(description="Who uses it; the file's name for what is at its top.")
    path: str
    line: int = Field(description="Where it is used.")
    hops: int = Field(description="1 uses it directly.")
    confidence: float


class LeftoverView(Result):
    symbol: str = Field(description="Where the name still stands; the file's name for what is at its top.")
    path: str
    line: int
    use: str = Field(description="As it is written.")
    sure: bool = Field(description="Whether it is taken from where it was; else only the name is the same.")


class TouchedView(Result):
    symbol: str = Field(description="Empty for what is at the top of a file.")
    path: str
    line: int
    kind: SymbolKind | None
    change: Touch
    old_symbol: str | None = Field(description="What it was called before, if that is another name.")
    old_path: str | None
    signature: str
    old_signature: str | None = Field(description="If it was another.")
    risk: float = Field(description="From 0 to 1.")
    reason: str = Field(description="Why, in words.")
    still_used: list[LeftoverView] = Field(description="Who still names what is gone: this breaks.")
    users: list[UserView] = Field(description="Who uses it, without tests; the nearest first, at most 10.")
    total_users: int
    tests: int = Field(description="How many tests reach it.")


class TestView(Result):
    symbol: str
    path: str
    reaches: int = Field(description="How many of the definitions that were touched.")


class DiffImpactResult(Result):
    base: str | None = Field(description="The commit before.")
    head: str | None = Field(description="The commit after; null for the work tree.")
    files: list[ChangedFileView]
    changes: list[TouchedView] = Field(description="The riskiest first; what is gone and still used before all else.")
    tests: list[TestView] = Field(description="Tests that reach what was touched, those that reach most first.")
    total_files: int
    total_changes: int
    total_tests: int
    unread: list[str] = Field(description="Changed files that were not looked into.")
    truncated: Truncated
    freshness: Freshness


@tool("code", read_only=True, core=False)
async def diff_impact(
    request: DiffImpactRequest, code: CodeService, projects: ProjectService, context: CallContext
) -> DiffImpactResult:
    """Tell what a change may break: which definitions it touches, who uses these, and which tests reach them.

    Ask before committing (the work tree against HEAD), or for a branch (base and head). Users are those of the index:
    when head is not what is indexed, they are those of the index's moment. Nothing in the work tree is touched.
    """
    from scrubjay.code_index.diff.files import difference
    from scrubjay.code_index.diff.risk import consequences_of, reaching_tests

    loaded, freshness = await chosen_index(request.index_id, request.project, code, projects, context)
    base, head = _revisions(request)
    options = IndexOptions.of(loaded.record.options)
    changed = await difference(code, loaded.record.root, base, head, options)
    found = await consequences_of(changed, code, loaded, request.max_hops)
    to_run = reaching_tests(found.found, loaded)
    answer = DiffImpactResult(
        base=changed.base,
        head=changed.head,
        files=[],
        changes=[],
        tests=[],
        total_files=len(changed.files),
        total_changes=len(found.found),
        total_tests=len(to_run),
        unread=[printable_path(path) for path in changed.unread[:MOST_HUNKS]],
        truncated=False,
        freshness=freshness,
    )
    budget = Budget(request.token_budget, answer)
    files = budget.fitting((_file(one) for one in changed.files), FILES_SHARE)
    tests = budget.fitting((_test(node, count, loaded) for node, count in to_run.items()), TESTS_SHARE)
    changes = budget.fitting(_touched(one, loaded) for one in found.found)
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
        raise InvalidRequest(f"base: {request.base!r} is not two revisions", hint="give `a..b`, or base and head")
    return first, second


def _file(one: FileChange) -> ChangedFileView:
    return ChangedFileView(
        path=printable_path(one.path or one.old_path),
        old_path=printable_path(one.old_path) if one.status is Status.RENAMED else None,
        status=one.status,
        hunks=[HunkView(**hunk._asdict()) for hunk in one.hunks[:MOST_HUNKS]],
    )


def _test(node: "Node", reaches: int, loaded: Loaded) -> TestView:
    return TestView(symbol=called(node, loaded), path=_path(node.file, loaded), reaches=reaches)


def _touched(one: "Consequence", loaded: Loaded) -> TouchedView:
    what = one.touched
    return TouchedView(
        symbol=what.name,
        path=printable_path(what.path),
        line=what.line,
        kind=what.kind,
        change=what.touch,
        old_symbol=what.old_name or None,
        old_path=printable_path(what.old_path) if what.old_path else None,
        signature=what.signature,
        old_signature=what.old_signature or None,
        risk=one.risk,
        reason=one.reason,
        still_used=[_leftover(use, loaded) for use in one.still_used[:MOST_USERS]],
        users=[_user(reached, loaded) for reached in one.affected[:MOST_USERS]],
        total_users=len(one.affected),
        tests=len(one.tests),
    )


def _leftover(use: "StillUsed", loaded: Loaded) -> LeftoverView:
    from scrubjay.code_index.questions.traversal import Node

    return LeftoverView(
        symbol=called(Node(use.file, use.symbol), loaded),
        path=_path(use.file, loaded),
        line=use.line,
        use=use.use,
        sure=use.is_sure,
    )


def _user(reached: "Reached", loaded: Loaded) -> UserView:
    return UserView(
        symbol=called(reached.node, loaded),
        path=_path(reached.node.file, loaded),
        line=reached.way.links[-1].line,
        hops=reached.hops,
        confidence=round(reached.way.confidence, 3),
    )


def _path(file: int, loaded: Loaded) -> str:
    return printable_path(loaded.corpus.files[file].path)
