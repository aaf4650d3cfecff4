"""Memories whose code is not what it was."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.scopes import Visibility
from scrubjay.features.code_links.service import Grounding
from scrubjay.features.memory.corrections import Corrections
from scrubjay.features.memory.erasure import Eraser
from scrubjay.features.memory.link_review import Reviewed
from scrubjay.features.memory.link_state import Standing
from scrubjay.features.memory.link_views import CodeView, StaleView, code_view, stale_views
from scrubjay.features.memory.models import Kind
from scrubjay.features.memory.service import Draft
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
        description="list: what is stale, with what changed. confirm: these memories are true of the code as it is "
        "now. correct: this memory says content from now on. forget: erase these memories for good.",
    )
    ids: list[Label] = Field(
        default_factory=list[str], max_length=100, description="The memories to confirm, correct (one) or forget."
    )
    content: Annotated[str, Field(min_length=1, max_length=MAX_CONTENT)] | None = Field(
        default=None, description="With correct: what is true now. What the memory said before stays in its history."
    )
    limit: int = Field(default=20, ge=1, le=100, description="How many stale memories to list at most.")
    offset: int = Field(default=0, ge=0, description="How many of them to pass over.")
    session_id: Label | None = Field(default=None, description="The session, to review its private memories too.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _says_what_to_do(self) -> "ReviewStaleRequest":
        if (self.action == "list") == bool(self.ids):
            raise ValueError("ids: needed for confirm, correct and forget, and only for these")
        if (self.action == "correct") != (self.content is not None):
            raise ValueError("content: needed for correct, and only for it")
        if self.action == "correct" and len(self.ids) != 1:
            raise ValueError("ids: correct takes one memory at a time")
        return self


class ReviewedMemory(Result):
    """A memory about code."""

    id: str
    content: str
    kind: Kind
    about: list[CodeView] = Field(description="The code that it is about, and what became of that.")
    stale: list[StaleView] = Field(description="Of this code all that is not what it was, with what changed.")


class ReviewStaleResult(Result):
    memories: list[ReviewedMemory] = Field(
        description="What is stale, that kept first before the others; after confirm and correct what was dealt with."
    )
    total: int = Field(description="How many memories are stale, on all pages.")
    checked: int = Field(description="How many memories about code were looked at.")
    unknown: int = Field(description="How many of them are about code that is not on this machine or not indexed yet.")
    forgotten: list[str] = Field(description="The ids of what was erased, with what was made of it.")


@tool("memory", destructive=True)
async def review_stale(
    request: ReviewStaleRequest,
    grounding: Grounding,
    corrections: Corrections,
    eraser: Eraser,
    projects: ProjectService,
    context: CallContext,
) -> ReviewStaleResult:
    """List the project's memories whose code has changed or gone, with what changed; then confirm, correct or forget.

    A memory is about code when remember said so (about), or when its words name a path or symbol of the project.
    """
    project_id = await project_id_of(request.project, projects, context)
    visibility = Visibility(project_id, request.session_id)
    if request.action == "list":
        page = slice(request.offset, request.offset + request.limit)
        return _told(await grounding.review_all(visibility), page=page)
    # Nothing is done unless all of them are there.
    reviewed = await grounding.review_all(visibility, request.ids)
    if request.action == "forget":
        forgotten: list[str] = []
        for memory_id in request.ids:
            if memory_id not in forgotten:
                done = await eraser.forget(memory_id, visibility)
                forgotten += [done.memory.id, *done.also]
        return ReviewStaleResult(memories=[], total=0, checked=len(reviewed), unknown=0, forgotten=forgotten)
    if request.action == "correct":
        if request.content is None:
            raise InvalidRequest("content: needed for correct")
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
            ),
            project_id=project_id,
        )
        return _told(await grounding.renew([memory_id], visibility))
    return _told(await grounding.confirm(request.ids, visibility))


def _told(reviewed: list[Reviewed], *, page: slice | None = None) -> ReviewStaleResult:
    """What was reviewed, or a page of what of it is stale."""
    stale = [one for one in reviewed if one.is_stale]
    not_known = (Standing.PENDING, Standing.UNKNOWN)
    return ReviewStaleResult(
        memories=[_view(one) for one in (reviewed if page is None else stale[page])],
        total=len(stale),
        checked=len(reviewed),
        unknown=sum(any(link.standing in not_known for link in one.comparisons) for one in reviewed),
        forgotten=[],
    )


def _view(one: Reviewed) -> ReviewedMemory:
    return ReviewedMemory(
        id=one.memory.id,
        content=one.memory.content,
        kind=one.memory.kind,
        about=[code_view(link) for link in one.comparisons],
        stale=stale_views(one),
    )
