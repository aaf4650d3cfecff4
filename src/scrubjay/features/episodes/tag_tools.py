"""The tags of episodes, and finding episodes by them."""

from typing import Annotated, Literal

from pydantic import Field

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import EpisodeChange, normal_tags
from scrubjay.features.episodes.service import EpisodeService
from scrubjay.features.episodes.tools import SOME_ID, Masked, Tags
from scrubjay.features.episodes.views import EpisodeId, EpisodeRequest, told
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Result, examples, tool

SomeTags = Annotated[Tags, Field(min_length=1)]


class TagsRequest(EpisodeRequest):
    model_config = examples({"episode_id": SOME_ID, "tags": ["security"]})

    episode_id: EpisodeId
    tags: SomeTags = Field(description="Labels; trimmed and written in small letters.")
    project: ProjectReference = None


class SetTagsRequest(EpisodeRequest):
    model_config = examples({"episode_id": SOME_ID, "tags": ["auth", "security"]})

    episode_id: EpisodeId
    tags: Tags = Field(description="All that it is to have; an empty list removes all.")
    project: ProjectReference = None


class GetTagsRequest(EpisodeRequest):
    model_config = examples({"episode_id": SOME_ID})

    episode_id: EpisodeId
    project: ProjectReference = None


class TagsResult(Result):
    success: Literal[True] = True
    episode_id: str
    tags: list[str] = Field(description="Those that the episode has now.")
    masked: Masked = None


class SearchByTagsRequest(EpisodeRequest):
    model_config = examples({"tags": ["auth"]}, {"tags": ["auth", "security"], "require_all": True, "limit": 5})

    tags: SomeTags = Field(description="Labels, whatever their capitals.")
    require_all: bool = Field(default=False, description="Whether an episode must have all of them, or one.")
    limit: Annotated[int, Field(ge=1, le=100)] = Field(default=100, description="How many to return at most.")
    project: ProjectReference = None


class SearchByTagsResult(Result):
    success: Literal[True] = True
    count: int
    episodes: list[dict[str, object]] = Field(
        description="Episodes without their steps, also open ones, the one that was begun last first."
    )


@tool("episodes", core=False, idempotent=True, fleeting=True)
async def add_episode_tags(
    request: TagsRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> TagsResult:
    """Give an episode more tags."""
    change = EpisodeChange(add_tags=_given(request.tags))
    return await _changed(request, change, episodes, projects, context)


@tool("episodes", core=False, idempotent=True, fleeting=True)
async def remove_episode_tags(
    request: TagsRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> TagsResult:
    """Take tags from an episode; those that it does not have are passed over."""
    change = EpisodeChange(remove_tags=_given(request.tags))
    return await _changed(request, change, episodes, projects, context)


@tool("episodes", core=False, idempotent=True, fleeting=True)
async def set_episode_tags(
    request: SetTagsRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> TagsResult:
    """Give an episode these tags instead of those that it has."""
    return await _changed(request, EpisodeChange(set_tags=tuple(request.tags)), episodes, projects, context)


@tool("episodes", core=False, read_only=True, fleeting=True)
async def get_episode_tags(
    request: GetTagsRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> TagsResult:
    """The tags of an episode."""
    visibility = Visibility(await project_id_of(request.project, projects, context))
    episode = await episodes.get(visibility, request.episode_id)
    return TagsResult(episode_id=episode.episode_id, tags=list(episode.context.tags))


@tool("episodes", core=False, read_only=True, fleeting=True)
async def search_episodes_by_tags(
    request: SearchByTagsRequest, episodes: EpisodeService, projects: ProjectService, context: CallContext
) -> SearchByTagsResult:
    """Find episodes that have one of these tags, or all of them."""
    visibility = Visibility(await project_id_of(request.project, projects, context))
    found = await episodes.tagged(visibility, _given(request.tags), request.limit, every=request.require_all)
    views = [{name: value for name, value in told(one).items() if name != "steps"} for one in found]
    return SearchByTagsResult(count=len(views), episodes=views)


def _given(tags: list[str]) -> tuple[str, ...]:
    found = normal_tags(tags)
    if not found:
        raise InvalidRequest("there is no tag in this", hint="give one that is not empty")
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
