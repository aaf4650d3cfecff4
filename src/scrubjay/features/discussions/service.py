"""Send messages between agents, wait for replies, and store both."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import anyio

from scrubjay.core.callers import EVERYTHING, Caller
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Busy, Conflict, NotFound, ScrubjayError, Unavailable
from scrubjay.core.ids import new_id
from scrubjay.core.progress import Reporter
from scrubjay.core.scopes import Visibility
from scrubjay.core.write_rules import Writing, WritingRules
from scrubjay.features.delegation.coding_agent import CodingAgent
from scrubjay.features.delegation.events import AgentEvents
from scrubjay.features.delegation.one_shot import AgentOutput, ask_once
from scrubjay.features.discussions.models import AgentMessage, AgentReply, Discussion, ReplyWay
from scrubjay.features.discussions.store import DiscussionStore
from scrubjay.features.projects.models import Project

MAX_OPEN_MESSAGES: Final = 1_000
MAX_WAITING_CALLS: Final = 50
MAX_ANSWER_CHARACTERS: Final = 200_000
# A reply can be stored by another process, so the store is polled.
POLL_SECONDS: Final = 0.25
# Seconds between progress reports; without them some clients time out.
REPORT_SECONDS: Final = 5.0
_QUESTION: Final = """\
{sender} asks you something through Scrubjay. The id of the message is {id}.

If you have the tool reply_to_mira of the MCP server scrubjay, answer by calling it with in_reply_to="{id}" and your \
answer as content; with complete=false more parts can follow. If you do not have it, print your answer and nothing else.

The message:

{content}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """The agent that asks or replies."""

    caller: Caller
    surface: str
    name: str
    client: str | None
    project: Project | None = None


@dataclass(frozen=True, slots=True)
class DiscussionAnswer:
    """The outcome of a message."""

    status: Literal["answered", "partial", "timeout"]
    """partial: the coding agent exited before it completed its reply."""
    discussion: Discussion


class DiscussionService:
    """Messages and replies. Callers see the messages of their own key; callers with all scopes see all."""

    def __init__(
        self,
        store: DiscussionStore,
        agent: CodingAgent,
        events: AgentEvents,
        rules: WritingRules,
        *,
        home: str,
        clock: Clock = system_clock,
    ) -> None:
        """Without a project, coding agents are started in the folder `home`."""
        self._store = store
        self._agent = agent
        self._events = events
        self._rules = rules
        self._home = home
        self._clock = clock
        self._changed = anyio.Event()
        self._listeners: Counter[str] = Counter()
        self._waiting_calls = self._running_agents = 0

    # -- asking --------------------------------------------------------------------------------------

    async def ask(
        self, content: str, participant: Participant, *, thread_id: str | None, seconds: float, reporter: Reporter
    ) -> DiscussionAnswer:
        """Send a message and wait for the complete reply; raise `Unavailable` if no agent can answer."""
        program = self._program(participant)
        if program is None and not self._has_listener(participant.caller):
            raise Unavailable(
                "no agent can answer: no coding agent may be started, and no other agent is listening",
                hint=f"install {self._agent.name!r}, or let an agent listen at /ws or wait with agent_messages",
                details={"reason": "no_agent"},
            )
        if self._waiting_calls >= MAX_WAITING_CALLS:
            raise Busy("too many calls are waiting for a reply", hint="try again in a moment")
        writing = Writing(self._rules, participant.client)
        message_id = new_id("msg")
        message = AgentMessage(
            id=message_id,
            owner=participant.caller.owner_id,
            project_id=participant.project.id if participant.project else None,
            thread_id=thread_id or message_id,
            sender=participant.name,
            recipient=self._agent.name,
            content=writing.text(content) or content,
            created_at=self._clock(),
        )
        self._waiting_calls += 1
        try:
            await self._store.add(message, max_open=MAX_OPEN_MESSAGES)
            self._publish_message(message, participant.caller)
            return await self._answer(message, program, participant, seconds, reporter)
        finally:
            self._waiting_calls -= 1

    async def _answer(
        self, message: AgentMessage, program: str | None, participant: Participant, seconds: float, reporter: Reporter
    ) -> DiscussionAnswer:
        output: list[AgentOutput | ScrubjayError] = []
        status: Literal["answered", "partial", "timeout"] = "timeout"
        started, problem = anyio.current_time(), None
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as agent_tasks:
                if program is not None:
                    agent_tasks.start_soon(self._run_agent, message, program, participant, output)
                try:
                    status = await self._wait_for_completion(message, participant, output, started, seconds, reporter)
                except ScrubjayError as error:  # raised below, outside of the task group, which would wrap it
                    problem = error
                agent_tasks.cancel_scope.cancel()
        if problem is not None:
            raise problem
        discussion = await self._find(message.owner, message.id)
        return DiscussionAnswer("answered" if discussion.message.completed_at else status, discussion)

    async def _wait_for_completion(
        self,
        message: AgentMessage,
        participant: Participant,
        output: Sequence[AgentOutput | ScrubjayError],
        started: float,
        seconds: float,
        reporter: Reporter,
    ) -> Literal["answered", "partial"]:
        """Wait until the reply is complete or no agent is left that could complete it."""
        reported = started
        while True:
            changed = self._changed
            ended = output[0] if output else None
            discussion = await self._find(message.owner, message.id)
            if discussion.message.completed_at is not None:
                return "answered"
            if ended is not None and not self._has_listener(participant.caller):
                if discussion.replies:
                    return "partial"
                raise self._agent_failure(ended, message.id)
            if anyio.current_time() - reported >= REPORT_SECONDS:
                reported = anyio.current_time()
                await reporter.report(reported - started, seconds, "waiting for a reply")
            with anyio.move_on_after(POLL_SECONDS):
                await changed.wait()

    async def _run_agent(
        self, message: AgentMessage, program: str, participant: Participant, outcome: list[AgentOutput | ScrubjayError]
    ) -> None:
        """Run a coding agent; it replies by a tool call, otherwise its output is stored as the reply."""
        question = _QUESTION.format(sender=message.sender, id=message.id, content=message.content)
        self._running_agents += 1
        try:
            output = await ask_once(
                self._agent, program, question, participant.project.path if participant.project else self._home
            )
            if output.status == 0 and output.text:
                await self._store_printed(message, output.text, participant.caller)
            outcome.append(output)
        except ScrubjayError as error:
            outcome.append(error)
        finally:
            self._running_agents -= 1
            self._wake()

    async def _store_printed(self, message: AgentMessage, text: str, caller: Caller) -> None:
        if (await self._find(message.owner, message.id)).replies:
            return  # it replied by a tool call; its output is not part of the reply
        reply = AgentReply(
            sender=self._agent.name,
            content=self._masked(text[:MAX_ANSWER_CHARACTERS], None),
            created_at=self._clock(),
            way=ReplyWay.PRINTED,
        )
        try:
            await self._store.reply(message.owner, message.id, reply, max_characters=MAX_ANSWER_CHARACTERS)
        except Conflict:  # another agent has replied
            return
        self._publish_reply(message.id, reply, caller)

    def _agent_failure(self, ended: AgentOutput | ScrubjayError, message_id: str) -> Unavailable:
        details = {"reason": "agent_failed", "message_id": message_id}
        if isinstance(ended, ScrubjayError):
            return Unavailable(f"the coding agent could not answer: {ended.message}", hint=ended.hint, details=details)
        error_line = f": {ended.error_line}" if ended.error_line else ""
        return Unavailable(
            f"the coding agent exited with status {ended.status} and without an answer{error_line}",
            hint=f"run `{self._agent.name}` manually in the project folder",
            details=details,
        )

    def _program(self, participant: Participant) -> str | None:
        """Return the path of the coding agent if this participant may start one now, otherwise None."""
        if (
            not self._agent.may_be_used_by(participant.caller, participant.surface)
            or self._running_agents >= self._agent.max_instances
        ):
            return None
        return self._agent.program

    def _has_listener(self, caller: Caller) -> bool:
        return bool(self._listeners[caller.owner_id] or self._listeners[EVERYTHING]) or self._events.has_listener_for(
            caller
        )

    # -- answering -----------------------------------------------------------------------------------

    async def reply(self, message_id: str, content: str, participant: Participant, *, complete: bool) -> Discussion:
        """Store a reply, or a part of one, and publish it."""
        reply = AgentReply(
            sender=participant.name,
            content=self._masked(content, participant.client),
            created_at=self._clock(),
            complete=complete,
        )
        owner = _visible_owner(participant.caller)
        found = await self._store.reply(owner, message_id, reply, max_characters=MAX_ANSWER_CHARACTERS)
        if found is None:
            raise _not_found(message_id)
        # The event goes to the listeners of the sender of the message, even if another caller replies.
        owner = (
            participant.caller
            if found.message.owner == participant.caller.owner_id
            else _caller_for(found.message.owner)
        )
        self._publish_reply(message_id, reply, owner)
        return found

    async def get(self, message_id: str, participant: Participant) -> Discussion:
        return await self._find(_visible_owner(participant.caller), message_id)

    async def page(self, participant: Participant, *, only_open: bool, limit: int, wait: float) -> Sequence[Discussion]:
        """Return the visible messages, oldest first; without any, wait up to `wait` seconds for the first."""
        owner, visibility = (
            _visible_owner(participant.caller),
            Visibility(participant.project.id if participant.project else None),
        )
        listener = EVERYTHING if owner is None else owner
        found = await self._store.page(owner, visibility, only_open=only_open, limit=limit)
        if found or not wait:
            return found
        self._listeners[listener] += 1
        try:
            with anyio.move_on_after(wait):
                while not found:
                    changed = self._changed
                    found = await self._store.page(owner, visibility, only_open=only_open, limit=limit)
                    if not found:
                        with anyio.move_on_after(POLL_SECONDS):
                            await changed.wait()
        finally:
            self._listeners[listener] -= 1
        return found

    # -- helpers --------------------------------------------------------------------------------------

    async def _find(self, owner: str | None, message_id: str) -> Discussion:
        found = await self._store.get(owner, message_id)
        if found is None:
            raise _not_found(message_id)
        return found

    def _masked(self, text: str, client: str | None) -> str:
        return Writing(self._rules, client).text(text) or text

    def _publish_message(self, message: AgentMessage, caller: Caller) -> None:
        event = {
            "type": "agent_message",
            "message_id": message.id,
            "from": message.sender,
            "to": message.recipient,
            "content": message.content,
            "thread_id": message.thread_id,
        }
        self._events.publish(event, caller)
        self._wake()

    def _publish_reply(self, message_id: str, reply: AgentReply, owner: Caller) -> None:
        event = {
            "type": "agent_response",
            "in_reply_to": message_id,
            "from": reply.sender,
            "content": reply.content,
            "complete": reply.complete,
        }
        self._events.publish(event, owner)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


def _visible_owner(caller: Caller) -> str | None:
    """Return the owner whose messages a caller sees; None for the messages of all owners."""
    return None if EVERYTHING in caller.scopes else caller.owner_id


def _caller_for(owner: str) -> Caller:
    return Caller(owner, frozenset(), owner)


def _not_found(message_id: str) -> NotFound:
    return NotFound(
        f"message {message_id[:80]!r} not found",
        hint="call agent_messages to list messages that wait for a reply",
    )
