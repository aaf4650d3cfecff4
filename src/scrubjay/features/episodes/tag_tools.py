"""Tools for the tags of episodes."""

from typing import Annotated, Literal

from pydantic import Field

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import EpisodeChange, normal_tags
from scrubjay.features.episodes.service import EpisodeService
from scrubjay.features.episodes.tools import EXAMPLE_ID, Masked, Tags
from scrubjay.features.episodes.views import EpisodeId, EpisodeRequest, episode_fields
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Result, examples, tool

SomeTags = Annotated[Tags, Field(min_length=1)]


class TagsRequest(EpisodeRequest):
    model_config = examples({"episode_id": EXAMPLE_ID, "tags": ["security"]})

    episode_id: EpisodeId
    tags: SomeTags = Field(description="Tags; trimmed and converted to lowercase.")
    project: ProjectReference = None


class SetTagsRequest(EpisodeRequest):
    model_config = examples({"episode_id": EXAMPLE_ID, "tags": ["auth", "security"]})

    episode_id: EpisodeId
    tags: Tags = Field(description="All tags of the episode; an empty list removes all.")
    project: ProjectReference = None


class GetTagsRequest(EpisodeRequest):
    model_config = examples({"episode_id": EXAMPLE_ID})

    episode_id: EpisodeId
    project: ProjectReference = None


class TagsResult(Result):
    success: Literal[True] = True
    episode_id: str
    tags: list[str] = Field(description="Current tags of the episode.")
    masked: Masked = None


class SearchByTagsRequest(EpisodeRequest):
    model_config = examples({"tags": ["auth"]}, {"tags": ["auth", "security"], "require_all": True, "limit": 5})

    tags: SomeTags = Field(description="Tags (case-insensitive).")
    require_all: bool = Field(default=False, description="Require all tags instead of any.")
    limit: Annotated[int, Field(ge=1, le=100)] = Field(default=100, description="Maximum number of episodes to return.")
    project: ProjectReference = None


class SearchByTagsResult(Result):
    success: Literal[True] = True
    count: int
    episodes: list[dict[str, object]] = Field(
        description="Open and completed episodes without their steps, most recently created first."
    )


@tool("episodes", core=False, idempotent=True, log_payload=False)
async def add_episode_tags(
    request: TagsRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> TagsResult:
    """Add tags to an episode."""
    change = EpisodeChange(add_tags=_normal_tags(request.tags))
    return await _changed(request, change, episodes, projects, context)


@tool("episodes", core=False, idempotent=True, log_payload=False)
async def remove_episode_tags(
    request: TagsRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> TagsResult:
    """Remove tags from an episode; tags that it does not have are ignored."""
    change = EpisodeChange(remove_tags=_normal_tags(request.tags))
    return await _changed(request, change, episodes, projects, context)


@tool("episodes", core=False, idempotent=True, log_payload=False)
async def set_episode_tags(
    request: SetTagsRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> TagsResult:
    """Replace the tags of an episode."""
    return await _changed(request, EpisodeChange(set_tags=tuple(request.tags)), episodes, projects, context)


@tool("episodes", core=False, read_only=True, log_payload=False)
async def get_episode_tags(
    request: GetTagsRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> TagsResult:
    """Return the tags of an episode."""
    visibility = Visibility(await project_id_of(request.project, projects, context))
    episode = await episodes.get(visibility, request.episode_id)
    return TagsResult(episode_id=episode.episode_id, tags=list(episode.context.tags))


@tool("episodes", core=False, read_only=True, log_payload=False)
async def search_episodes_by_tags(
    request: SearchByTagsRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> SearchByTagsResult:
    """Find episodes that have any or all of the given tags."""
    visibility = Visibility(await project_id_of(request.project, projects, context))
    found = await episodes.tagged(visibility, _normal_tags(request.tags), request.limit, every=request.require_all)
    views = [{name: value for name, value in episode_fields(one).items() if name != "steps"} for one in found]
    return SearchByTagsResult(count=len(views), episodes=views)


def _normal_tags(tags: list[str]) -> tuple[str, ...]:
    found = normal_tags(tags)
    if not found:
        raise InvalidRequest("all tags are empty", hint="pass at least one tag that is not blank")
    return found


async def _changed(
    request: TagsRequest | SetTagsRequest,
    change: EpisodeChange,
    episodes: EpisodeService,
    projects: ProjectService,
    context: CallContext,
) -> TagsResult:
    visibility = Visibility(await project_id_of(request.project, projects, context))
    written = await episodes.change(visibility, request.episode_id, change, context.client)
    return TagsResult(
        episode_id=request.episode_id, tags=list(written.episode.context.tags), masked=list(written.masked)
    )
