"""Code that memories are about, and memories about code, as tools show them."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from scrubjay.core.errors import NotFound
from scrubjay.core.scopes import Visibility
from scrubjay.features.code_links.link_state import Comparison, Standing
from scrubjay.features.code_links.service import Grounding, Part, Remembered, Reviewed
from scrubjay.features.memory.links import CodeLink, LinkOrigin
from scrubjay.features.memory.models import Memory
from scrubjay.features.projects.arguments import project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Result
from scrubjay.tooling.optional_fields import is_nothing

# So much of a memory is told beside code.
SHOWN_CHARACTERS = 200


class CodeView(Result):
    """Code that a memory is about."""

    name: str = Field(description="As it was written.")
    origin: LinkOrigin = Field(description="named: in about. mentioned: in the memory's words.")
    state: Standing = Field(
        description="Compared with what it was when the memory was written or last confirmed. moved: the same text, "
        "elsewhere. pending: the repository was not indexed yet. unknown: it is not here, or not indexed any more."
    )
    path: str | None = Field(description="Where it is, or was before it went; null while it is pending.")
    symbol: str | None = Field(description="Its qualified name; empty for the whole file.")
    lines: list[int] | None = Field(description="The first line and the last.")
    commit: str | None = Field(description="The commit that was checked out when the memory was linked to it.")


class StaleView(Result):
    """Why a memory may not be true any more."""

    reason: Literal[Standing.CHANGED, Standing.GONE] = Field(description="What became of the code.")
    symbol: str = Field(description="Its qualified name; empty for the whole file.")
    path: str
    commit_then: str | None = Field(description="The commit at which the memory was written or last confirmed.")
    commit_now: str | None = Field(description="The commit that is checked out; there may be changes on top of it.")
    diff: str | None = Field(description="What changed, shortened; null when what it was is not kept.")


class AboutCode(Result):
    """A memory about this code."""

    id: str
    content: str = Field(description="Its beginning.")
    score: float = Field(
        description="How directly: 1 about this very definition, 0.8 about a part of it or what it is in, 0.6 about "
        "its file."
    )


Memories = Annotated[
    list[AboutCode],
    Field(default_factory=list[AboutCode], exclude_if=is_nothing, description="What is remembered about it, if any."),
]


Degraded = Annotated[
    str | None,
    Field(
        default=None,
        exclude_if=is_nothing,
        description="Why the model that SCRUBJAY_CODE_EMBEDDINGS names was not heard of all results, if it was not.",
    ),
]


async def repository_root(given: str | None, grounding: Grounding, context: CallContext) -> str | None:
    """The folder of the repository that somebody names, by its path or by the id of an index of it."""
    if given is None:
        return None
    from scrubjay.features.code.repository_tools import (
        resolved_root,  # most memories name no repository, and it takes a while
    )

    code = await grounding.code()
    if (record := await code.store.index(given)) is not None:
        return record.root
    return resolved_root(given, context, code)


def linked_views(links: Iterable[CodeLink]) -> list[CodeView]:
    """Links that were just made."""
    return [code_view(Comparison(link, Standing.CURRENT if link.code else Standing.PENDING)) for link in links]


def code_view(compared: Comparison) -> CodeView:
    link, code = compared.link, compared.now or compared.link.code
    return CodeView(
        name=link.name,
        origin=link.origin,
        state=compared.standing,
        path=code.path if code else None,
        symbol=code.symbol if code else None,
        lines=[code.first_line, code.last_line] if code else None,
        commit=link.code.commit if link.code else None,
    )


def stale_view(reviewed: Reviewed) -> StaleView | None:
    """The first of its code that is not what it was."""
    return next((_stale(one) for one in reviewed.comparisons if one.is_stale), None)


def stale_views(reviewed: Reviewed) -> list[StaleView]:
    return [_stale(one) for one in reviewed.comparisons if one.is_stale]


def _stale(compared: Comparison) -> StaleView:
    then = compared.link.code
    return StaleView(
        reason=Standing.GONE if compared.standing is Standing.GONE else Standing.CHANGED,
        symbol=then.symbol if then else "",
        path=then.path if then else "",
        commit_then=then.commit if then else None,
        commit_now=compared.commit,
        diff=compared.diff(),
    )


async def remembered_about(
    root: str,
    parts: Sequence[Part],
    grounding: Grounding,
    projects: ProjectService,
    context: CallContext,
    project: str | None = None,
) -> list[list[AboutCode]]:
    """What the caller may know about each of these parts of a repository."""
    try:
        visibility = Visibility(await project_id_of(project, projects, context))
    except NotFound:  # a folder that is indexed and no project
        visibility = Visibility(None)
    return [[_about(one) for one in found] for found in await grounding.remembered(root, parts, visibility)]


def _about(one: Remembered) -> AboutCode:
    return AboutCode(id=one.memory.id, content=shortened(one.memory), score=one.score)


def shortened(memory: Memory) -> str:
    content = memory.content
    return content if len(content) <= SHOWN_CHARACTERS else content[: SHOWN_CHARACTERS - 1].rstrip() + "…"
