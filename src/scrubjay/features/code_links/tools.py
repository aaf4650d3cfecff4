"""The `review_stale` tool: memories whose linked code has changed or is gone."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from scrubjay.core.callers import Caller
from scrubjay.core.errors import InvalidRequest
from scrubjay.core.scopes import Visibility
from scrubjay.features.code_links.service import CodeLinkService
from scrubjay.features.memory.corrections import MemoryCorrector
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.erasure import Eraser
from scrubjay.features.memory.link_review import LinkReview
from scrubjay.features.memory.link_state import CodeLinkStatus
from scrubjay.features.memory.link_views import CodeView, StaleView, code_view, stale_views
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label, provenance_of
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

MAX_CONTENT = 100_000


class ReviewStaleRequest(Request):
    model_config = examples(
        {"limit": 10},
        {"action": "confirm", "ids": ["mem_01jd3v5k2q8x4m7w9y0z6t1b5c"]},
        {
            "action": "correct",
            "ids": ["mem_01jd3v5k2q8x4m7w9y0z6t1b5c"],
            "content": "login takes a token since the rewrite.",
        },
    )

    action: Literal["list", "confirm", "correct", "forget"] = Field(
        default="list",
        description="list: stale memories, with what changed. confirm: mark these memories as true of the current "
        "code. correct: replace the text of one memory with `content`. forget: erase these memories permanently.",
    )
    ids: list[Label] = Field(
        default_factory=list[str],
        max_length=100,
        description="Ids of the memories to confirm, correct (one only) or forget.",
    )
    content: Annotated[str, Field(min_length=1, max_length=MAX_CONTENT)] | None = Field(
        default=None, description="For correct: the new text. The previous text stays in the memory's history."
    )
    limit: int = Field(default=20, ge=1, le=100, description="Maximum number of stale memories to list.")
    offset: int = Field(default=0, ge=0, description="Number of stale memories to skip.")
    session_id: Label | None = Field(default=None, description="Session id, to include its private memories.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _check_arguments(self) -> "ReviewStaleRequest":
        if (self.action == "list") == bool(self.ids):
            raise ValueError("ids: required for confirm, correct and forget, and not allowed for list")
        if (self.action == "correct") != (self.content is not None):
            raise ValueError("content: required for correct, and not allowed otherwise")
        if self.action == "correct" and len(self.ids) != 1:
            raise ValueError("ids: correct takes one memory at a time")
        return self


class ReviewedMemory(Result):
    """A memory about code."""

    id: str
    content: str
    kind: MemoryKind
    about: list[CodeView] = Field(description="The linked code and its current state.")
    stale: list[StaleView] = Field(description="The linked code that has changed or is gone, with what changed.")


class ReviewStaleResult(Result):
    memories: list[ReviewedMemory] = Field(
        description="Stale memories, oldest first; after confirm and correct, the memories concerned."
    )
    total: int = Field(description="Number of stale memories on all pages.")
    checked: int = Field(description="Number of memories about code that were checked.")
    unknown: int = Field(description="Number of those whose code is not on this machine or not indexed yet.")
    forgotten: list[str] = Field(description="Ids of the erased memories, including those derived from them.")


@tool("memory", destructive=True, withholds=("code",))
async def review_stale(
    request: ReviewStaleRequest,
    code_links: CodeLinkService,
    corrections: MemoryCorrector,
    eraser: Eraser,
    projects: ProjectService,
    context: CallContext,
) -> ReviewStaleResult:
    """List the project's memories whose linked code has changed or is gone; then confirm, correct or forget them.

    A memory is linked to code if `remember` named it in `about`, or if its text names a path or symbol of the project.
    """
    project_id = await project_id_of(request.project, projects, context)
    visibility = Visibility(project_id, request.session_id)
    if request.action == "list":
        page = slice(request.offset, request.offset + request.limit)
        return _review_result(await code_links.review_all(visibility, context.caller), context.caller, page=page)
    # Raises before anything is changed if one is missing.
    reviewed = await code_links.review_all(visibility, context.caller, request.ids)
    if request.action == "forget":
        forgotten: list[str] = []
        for memory_id in request.ids:
            if memory_id not in forgotten:
                done = await eraser.forget(memory_id, visibility)
                forgotten += [done.memory.id, *done.derived]
        return ReviewStaleResult(memories=[], total=0, checked=len(reviewed), unknown=0, forgotten=forgotten)
    if request.action == "correct":
        if request.content is None:
            raise InvalidRequest("content: required for correct")
        (memory_id,) = request.ids
        await corrections.correct(
            wrong=reviewed[0].memory.content,
            right=request.content,
            memory_id=memory_id,
            draft=Draft(
                content=request.content,
                session_id=request.session_id,
                category="code",
                provenance=provenance_of(context, "review_stale"),
                code_reader=context.caller,
            ),
            project_id=project_id,
        )
        renewed = await code_links.renew([memory_id], visibility)
        return _review_result(await code_links.review(renewed, visibility, context.caller), context.caller)
    confirmed = await code_links.confirm(request.ids, visibility, context.caller)
    return _review_result(confirmed, context.caller)


def _review_result(reviewed: list[LinkReview], caller: Caller, *, page: slice | None = None) -> ReviewStaleResult:
    """Return all reviewed memories, or one page of the stale ones."""
    stale = [one for one in reviewed if one.is_stale]
    unverifiable = (CodeLinkStatus.PENDING, CodeLinkStatus.UNKNOWN)
    return ReviewStaleResult(
        memories=[_view(one, caller) for one in (reviewed if page is None else stale[page])],
        total=len(stale),
        checked=len(reviewed),
        unknown=sum(any(link.status in unverifiable for link in one.comparisons) for one in reviewed),
        forgotten=[],
    )


def _view(one: LinkReview, caller: Caller) -> ReviewedMemory:
    return ReviewedMemory(
        id=one.memory.id,
        content=one.memory.content,
        kind=one.memory.kind,
        about=[code_view(link) for link in one.comparisons],
        stale=stale_views(one, caller),
    )
