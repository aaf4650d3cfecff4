"""Tools for messages between agents."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from scrubjay.features.discussions.models import Discussion, ReplyWay
from scrubjay.features.discussions.service import DiscussionService, Participant
from scrubjay.features.projects.arguments import ProjectReference
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label, visible_client
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool

MAX_MESSAGE, MAX_REPLY = 20_000, 100_000
MessageId = Annotated[str, Field(min_length=1, max_length=100)]


class DiscussRequest(Request):
    model_config = examples({"message": "Which of the two migrations should go first, and why?"})

    message: str = Field(
        min_length=1, max_length=MAX_MESSAGE, pattern=r"\S", description="The question for the other agent."
    )
    thread_id: Label | None = Field(
        default=None, description="thread_id of an earlier result, to continue its conversation."
    )
    timeout_seconds: float = Field(
        default=120, ge=1, le=600, description="Seconds to wait. A later reply is stored; see agent_messages."
    )
    project: ProjectReference = None


class DiscussResult(Result):
    """The reply of the other agent."""

    status: Literal["answered", "partial", "timeout"] = Field(
        description="answered: the reply is complete. partial: the coding agent exited before it completed its reply. "
        "timeout: there was no complete reply in time."
    )
    message_id: str
    thread_id: str
    content: str | None = Field(description="All parts of the reply so far; null without any.")
    replied_by: str | None = Field(description="The agent that replied.")
    way: ReplyWay | None = Field(description="called: by reply_to_mira. printed: from the output of the coding agent.")
    note: str | None = Field(default=None, description="For a timeout: an explanation.")


class ReplyRequest(Request):
    model_config = examples({"in_reply_to": "msg_01jd8x4v9q2m5n7p3r6s8t0w1y", "content": "The second: it is additive."})

    in_reply_to: MessageId = Field(description="Id of the message.")
    content: str = Field(min_length=1, max_length=MAX_REPLY, pattern=r"\S", description="The reply, or a part of it.")
    complete: bool = Field(default=True, description="False if more parts follow.")


class ReplyResult(Result):
    in_reply_to: str
    complete: bool = Field(description="True if the reply is complete now.")
    parts: int = Field(description="Number of parts of the reply.")


class AgentMessagesRequest(Request):
    model_config = examples({"wait_seconds": 60}, {"message_id": "msg_01jd8x4v9q2m5n7p3r6s8t0w1y"})

    message_id: MessageId | None = Field(default=None, description="Return only this message, answered or not.")
    include_answered: bool = Field(default=False, description="Include messages that have a complete reply.")
    limit: int = Field(
        default=20, ge=1, le=100, description="Maximum number of messages; the newest ones are returned."
    )
    wait_seconds: float = Field(
        default=0,
        ge=0,
        le=60,
        description="Seconds to wait for a message if there are none. An agent listens this way.",
    )
    project: ProjectReference = None


class ReplyView(Result):
    """A reply, or a part of reply."""

    replied_by: str
    content: str
    complete: bool
    way: ReplyWay
    created_at: datetime


class MessageView(Result):
    """A message to an agent."""

    message_id: str
    thread_id: str
    sent_by: str
    sent_to: str
    content: str
    project: str | None = Field(description="Id of its project.")
    created_at: datetime
    completed_at: datetime | None = Field(description="When the reply was completed; null until then.")
    replies: list[ReplyView] = Field(description="Oldest first.")


class AgentMessagesResult(Result):
    messages: list[MessageView] = Field(description="Oldest first.")


# Messages are private to the caller, so they stay out of the call history.
@tool("agents", core=False, log_payload=False, open_world=True)
async def discuss(
    request: DiscussRequest, discussions: DiscussionService, projects: ProjectService, context: CallContext
) -> DiscussResult:
    """Send a question to another agent and wait for its reply.

    Starts the coding agent of this machine if that is installed and allowed; agents that listen at /ws or wait with
    agent_messages can answer too. If no agent can answer, the call fails; without a reply in time, `status` is timeout.
    """
    participant = await _participant(request.project, projects, context)
    answer = await discussions.ask(
        request.message,
        participant,
        thread_id=request.thread_id,
        seconds=request.timeout_seconds,
        reporter=context.reporter,
    )
    replies = answer.discussion.replies
    note = None
    if answer.status == "timeout":
        note = f"Timeout: no complete reply within {request.timeout_seconds:g} seconds"
    return DiscussResult(
        status=answer.status,
        message_id=answer.discussion.message.id,
        thread_id=answer.discussion.message.thread_id,
        content=answer.discussion.text if replies else None,
        replied_by=replies[-1].sender if replies else None,
        way=replies[-1].way if replies else None,
        note=note,
    )


@tool("agents", core=False, log_payload=False)
async def reply_to_mira(request: ReplyRequest, discussions: DiscussionService, context: CallContext) -> ReplyResult:
    """Reply to a message that another agent sent with discuss and is waiting for.

    A long reply can be sent in parts, all but the last with complete=false. A message accepts one complete reply.
    """
    participant = Participant(
        caller=context.caller, surface=context.surface, name=_name(context), client=context.client
    )
    found = await discussions.reply(request.in_reply_to, request.content, participant, complete=request.complete)
    return ReplyResult(in_reply_to=request.in_reply_to, complete=request.complete, parts=len(found.replies))


@tool("agents", read_only=True, core=False, log_payload=False)
async def agent_messages(
    request: AgentMessagesRequest, discussions: DiscussionService, projects: ProjectService, context: CallContext
) -> AgentMessagesResult:
    """List messages of agents that wait for a reply, or wait for the first one. Answer with reply_to_mira."""
    participant = await _participant(request.project, projects, context)
    if request.message_id is not None:
        return AgentMessagesResult(messages=[_view(await discussions.get(request.message_id, participant))])
    found = await discussions.page(
        participant, only_open=not request.include_answered, limit=request.limit, wait=request.wait_seconds
    )
    return AgentMessagesResult(messages=[_view(discussion) for discussion in found])


async def _participant(reference: str | None, projects: ProjectService, context: CallContext) -> Participant:
    if reference is not None:
        project = await projects.find(reference, context.working_directory)
    else:
        project = await projects.active(context.client)
    return Participant(
        caller=context.caller, surface=context.surface, name=_name(context), client=context.client, project=project
    )


def _name(context: CallContext) -> str:
    return visible_client(context.client) or context.caller.name


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
                replied_by=reply.sender,
                content=reply.content,
                complete=reply.complete,
                way=reply.way,
                created_at=reply.created_at,
            )
            for reply in discussion.replies
        ],
    )
