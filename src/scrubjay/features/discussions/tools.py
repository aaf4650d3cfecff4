"""What agents say to each other."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from scrubjay.features.discussions.models import Discussion, Way
from scrubjay.features.discussions.service import Discussions, Speaker
from scrubjay.features.projects.arguments import ProjectReference
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label, shown_client
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

MAX_MESSAGE, MAX_REPLY = 20_000, 100_000
MessageId = Annotated[str, Field(min_length=1, max_length=100)]


class DiscussRequest(Request):
    model_config = examples({"message": "Which of the two migrations should go first, and why?"})

    message: str = Field(
        min_length=1, max_length=MAX_MESSAGE, pattern=r"\S", description="What the other agent is to answer."
    )
    thread_id: Label | None = Field(
        default=None, description="The thread_id of an earlier answer, to go on with the same conversation."
    )
    timeout_seconds: float = Field(
        default=120, ge=1, le=600, description="How long to wait. A reply that comes later is kept: see agent_messages."
    )
    project: ProjectReference = None


class DiscussResult(Result):
    """What the other agent said; nothing is said for it."""

    status: Literal["answered", "partial", "timeout"] = Field(
        description="answered: this is all of it. partial: its agent ended before it said that it had finished. "
        "timeout: no complete reply came in time."
    )
    message_id: str
    thread_id: str
    content: str | None = Field(description="All parts of the reply so far; null when there is none.")
    replied_by: str | None = Field(description="Who replied.")
    way: Way | None = Field(description="called: by reply_to_mira. printed: what the coding agent printed.")
    note: str | None = Field(default=None, description="Of a timeout: what happened, in words.")


class ReplyRequest(Request):
    model_config = examples({"in_reply_to": "msg_01jd8x4v9q2m5n7p3r6s8t0w1y", "content": "The second: it is additive."})

    in_reply_to: MessageId = Field(description="The id of the message.")
    content: str = Field(min_length=1, max_length=MAX_REPLY, pattern=r"\S", description="The reply, or a part of it.")
    complete: bool = Field(default=True, description="False when more parts follow.")


class ReplyResult(Result):
    in_reply_to: str
    complete: bool = Field(description="Whether the reply is complete now.")
    parts: int = Field(description="How many parts it has.")


class AgentMessagesRequest(Request):
    model_config = examples({"wait_seconds": 60}, {"message_id": "msg_01jd8x4v9q2m5n7p3r6s8t0w1y"})

    message_id: MessageId | None = Field(default=None, description="Only this message, answered or not.")
    include_answered: bool = Field(default=False, description="Also messages that have a complete reply.")
    limit: int = Field(default=20, ge=1, le=100, description="How many at most: the last ones.")
    wait_seconds: float = Field(
        default=0, ge=0, le=60, description="When there are none, wait so long for one: so an agent listens."
    )
    project: ProjectReference = None


class ReplyView(Result):
    """A reply, or a part of one."""

    replied_by: str
    content: str
    complete: bool
    way: Way
    created_at: datetime


class MessageView(Result):
    """A message to an agent."""

    message_id: str
    thread_id: str
    sent_by: str
    sent_to: str
    content: str
    project: str | None = Field(description="The id of its project.")
    created_at: datetime
    completed_at: datetime | None = Field(description="When its reply was complete; null while it waits for one.")
    replies: list[ReplyView] = Field(description="In their order.")


class AgentMessagesResult(Result):
    messages: list[MessageView] = Field(description="The oldest first.")


# What they say is nobody else's, and so not in the history of calls.
@tool("agents", core=False, fleeting=True, open_world=True)
async def discuss(
    request: DiscussRequest, discussions: Discussions, projects: ProjectService, context: CallContext
) -> DiscussResult:
    """Ask another agent something, and wait for its reply.

    Where a coding agent is installed and may be started, it is asked; so are agents that listen at /ws or wait by
    agent_messages. Nobody there to answer is an error, and nobody who answered in time is said.
    """
    speaker = await _speaker(request.project, projects, context)
    answer = await discussions.ask(
        request.message,
        speaker,
        thread_id=request.thread_id,
        seconds=request.timeout_seconds,
        reporter=context.reporter,
    )
    replies = answer.discussion.replies
    note = None
    if answer.status == "timeout":
        note = f"Timeout: no complete reply came within {request.timeout_seconds:g} seconds"
    return DiscussResult(
        status=answer.status,
        message_id=answer.discussion.message.id,
        thread_id=answer.discussion.message.thread_id,
        content=answer.discussion.text if replies else None,
        replied_by=replies[-1].sender if replies else None,
        way=replies[-1].way if replies else None,
        note=note,
    )


@tool("agents", core=False, fleeting=True)
async def reply_to_mira(request: ReplyRequest, discussions: Discussions, context: CallContext) -> ReplyResult:
    """Reply to a message that another agent sent by discuss; that agent waits for it.

    A long reply can come in parts, each with complete=false but the last. A message takes one complete reply.
    """
    speaker = Speaker(caller=context.caller, door=context.surface, name=_name(context), client=context.client)
    found = await discussions.reply(request.in_reply_to, request.content, speaker, complete=request.complete)
    return ReplyResult(in_reply_to=request.in_reply_to, complete=request.complete, parts=len(found.replies))


@tool("agents", read_only=True, core=False, fleeting=True)
async def agent_messages(
    request: AgentMessagesRequest, discussions: Discussions, projects: ProjectService, context: CallContext
) -> AgentMessagesResult:
    """List the messages of agents that wait for a reply, or wait for the first one. Reply by reply_to_mira."""
    speaker = await _speaker(request.project, projects, context)
    if request.message_id is not None:
        return AgentMessagesResult(messages=[_view(await discussions.get(request.message_id, speaker))])
    found = await discussions.page(
        speaker, only_open=not request.include_answered, limit=request.limit, wait=request.wait_seconds
    )
    return AgentMessagesResult(messages=[_view(one) for one in found])


async def _speaker(reference: str | None, projects: ProjectService, context: CallContext) -> Speaker:
    if reference is not None:
        project = await projects.find(reference, context.working_directory)
    else:
        project = await projects.active(context.client)
    return Speaker(
        caller=context.caller, door=context.surface, name=_name(context), client=context.client, project=project
    )


def _name(context: CallContext) -> str:
    return shown_client(context.client) or context.caller.name


def _view(discussion: Discussion) -> MessageView:
    message = discussion.message
    return MessageView(
        message_id=message.id,
        thread_id=message.thread_id,
        sent_by=message.sender,
        sent_to=message.recipient,
        content=message.content,
        project=message.project_id,
        created_at=message.created_at,
        completed_at=message.completed_at,
        replies=[
            ReplyView(
                replied_by=one.sender,
                content=one.content,
                complete=one.complete,
                way=one.way,
                created_at=one.created_at,
            )
            for one in discussion.replies
        ],
    )
