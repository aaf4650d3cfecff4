"""Code that memories are about, and memories about code, as tools show them."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from scrubjay.core.errors import NotFound
from scrubjay.core.scopes import Visibility
from scrubjay.features.code_links.service import Grounding, Part, Remembered
from scrubjay.features.memory.models import Memory
from scrubjay.features.projects.arguments import project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Result
from scrubjay.tooling.optional_fields import is_nothing

# So much of a memory is told beside code.
SHOWN_CHARACTERS = 200


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
