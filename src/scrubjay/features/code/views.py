"""Result fields shared by the code tools: related memories and the `degraded` notice."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from scrubjay.core.errors import NotFound
from scrubjay.core.scopes import Visibility
from scrubjay.features.code_links.service import CodeLinkService, CodeRange, RelatedMemory
from scrubjay.features.memory.models import Memory
from scrubjay.features.projects.arguments import project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Result
from scrubjay.tooling.optional_fields import is_empty

# Tool family whose read scope allows reading memories.
MEMORIES = "memory"
# Longer memories are shortened beside code.
MAX_MEMORY_CHARACTERS = 200


class CodeMemoryView(Result):
    """A memory about this code."""

    id: str
    content: str = Field(description="The first 200 characters.")
    score: float = Field(
        description="How directly the memory is about this code: 1 the same definition, 0.8 a part of it or its "
        "container, 0.6 its file."
    )


Memories = Annotated[
    list[CodeMemoryView],
    Field(
        default_factory=list[CodeMemoryView],
        exclude_if=is_empty,
        description="Memories about this code, if any. Needs the scope memory:read.",
    ),
]


Degraded = Annotated[
    str | None,
    Field(
        default=None,
        exclude_if=is_empty,
        description="Why some results were not reranked by the model set in SCRUBJAY_CODE_EMBEDDINGS, if so.",
    ),
]


async def memories_about(
    root: str,
    parts: Sequence[CodeRange],
    code_links: CodeLinkService,
    projects: ProjectService,
    context: CallContext,
    project: str | None = None,
) -> list[list[CodeMemoryView]]:
    """Return the memories about each of these parts of a repository; none for a caller who may not read memories."""
    if not context.caller.may_read(MEMORIES):
        return [[] for _ in parts]
    try:
        visibility = Visibility(await project_id_of(project, projects, context))
    except NotFound:  # an indexed folder that is no project
        visibility = Visibility(None)
    return [[_about(one) for one in found] for found in await code_links.related_memories(root, parts, visibility)]


def _about(one: RelatedMemory) -> CodeMemoryView:
    return CodeMemoryView(id=one.memory.id, content=shortened(one.memory), score=one.score)


def shortened(memory: Memory) -> str:
    content = memory.content
    return content if len(content) <= MAX_MEMORY_CHARACTERS else content[: MAX_MEMORY_CHARACTERS - 1].rstrip() + "…"
