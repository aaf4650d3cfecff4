"""Agents that talk to each other: one asks and waits, another answers, and what they say is kept."""

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
from scrubjay.features.delegation.one_shot import Printed, ask_once
from scrubjay.features.discussions.models import AgentMessage, AgentReply, Discussion, Way
from scrubjay.features.discussions.store import DiscussionStore
from scrubjay.features.projects.models import Project

MOST_OPEN: Final = 1_000
MOST_WAITING: Final = 50
MOST_ANSWER: Final = 200_000
# Another process may have kept an answer: so often it is looked.
LOOK_SECONDS: Final = 0.25
# Who waits is told so often that it still does: some clients give up otherwise.
REPORT_SECONDS: Final = 5.0
_QUESTION: Final = """\
{sender} asks you something through Scrubjay. The id of the message is {id}.

If you have the tool reply_to_mira of the MCP server scrubjay, answer by calling it with in_reply_to="{id}" and your \
answer as content; with complete=false more parts can follow. If you do not have it, print your answer and nothing else.

The message:

{content}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Who asks or answers."""

    caller: Caller
    door: str
    name: str
    client: str | None
    project: Project | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a message."""

    status: Literal["answered", "partial", "timeout"]
    """partial: its agent ended without saying that it had finished."""
    discussion: Discussion


class Discussions:
    """Messages and their answers. Each is seen by whoever sent it, and by those who may do everything."""

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
        """Agents of who works in no project are started in `home`."""
        self._store = store
        self._agent = agent
        self._events = events
        self._rules = rules
        self._home = home
        self._clock = clock
        self._news = anyio.Event()
        self._waiting: Counter[str] = Counter()
        self._asking = self._started = 0

    # -- asking --------------------------------------------------------------------------------------

    async def ask(
        self, content: str, speaker: Speaker, *, thread_id: str | None, seconds: float, reporter: Reporter
    ) -> Answer:
        """Send a message, and wait for all of its answer. `Unavailable` when there is nobody to answer it."""
        program = self._program(speaker)
        if program is None and not self._is_heard(speaker.caller):
            raise Unavailable(
                "there is nobody to answer: no coding agent may be started, and no other agent listens",
                hint=f"install {self._agent.name!r}, or let an agent listen at /ws or by agent_messages with wait",
                details={"reason": "nobody_answers"},
            )
        if self._asking >= MOST_WAITING:
            raise Busy("too many messages wait for an answer", hint="try again in a moment")
        writing = Writing(self._rules, speaker.client)
        message_id = new_id("msg")
        message = AgentMessage(
            id=message_id,
            owner=speaker.caller.owns_as,
            project_id=speaker.project.id if speaker.project else None,
            thread_id=thread_id or message_id,
            sender=speaker.name,
            recipient=self._agent.name,
            content=writing.text(content) or content,
            created_at=self._clock(),
        )
        self._asking += 1
        try:
            await self._store.add(message, most=MOST_OPEN)
            self._tell_message(message, speaker.caller)
            return await self._answer(message, program, speaker, seconds, reporter)
        finally:
            self._asking -= 1

    async def _answer(
        self, message: AgentMessage, program: str | None, speaker: Speaker, seconds: float, reporter: Reporter
    ) -> Answer:
        printed: list[Printed | ScrubjayError] = []
        status: Literal["answered", "partial", "timeout"] = "timeout"
        started, problem = anyio.current_time(), None
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as talking:
                if program is not None:
                    talking.start_soon(self._let_answer, message, program, speaker, printed)
                try:
                    status = await self._completed(message, speaker, printed, started, seconds, reporter)
                except ScrubjayError as error:  # as it is, and not in a group of one
                    problem = error
                talking.cancel_scope.cancel()
        if problem is not None:
            raise problem
        discussion = await self._found(message.owner, message.id)
        return Answer("answered" if discussion.message.completed_at else status, discussion)

    async def _completed(
        self,
        message: AgentMessage,
        speaker: Speaker,
        printed: Sequence[Printed | ScrubjayError],
        started: float,
        seconds: float,
        reporter: Reporter,
    ) -> Literal["answered", "partial"]:
        """Wait until the answer is complete, or nobody is there who could complete it."""
        reported = started
        while True:
            news = self._news
            ended = printed[0] if printed else None
            discussion = await self._found(message.owner, message.id)
            if discussion.message.completed_at is not None:
                return "answered"
            if ended is not None and not self._is_heard(speaker.caller):
                if discussion.replies:
                    return "partial"
                raise self._silence(ended, message.id)
            if anyio.current_time() - reported >= REPORT_SECONDS:
                reported = anyio.current_time()
                await reporter.report(reported - started, seconds, "waiting for an answer")
            with anyio.move_on_after(LOOK_SECONDS):
                await news.wait()

    async def _let_answer(
        self, message: AgentMessage, program: str, speaker: Speaker, outcome: list[Printed | ScrubjayError]
    ) -> None:
        """Let a coding agent answer: by calling us, or else by what it prints."""
        question = _QUESTION.format(sender=message.sender, id=message.id, content=message.content)
        self._started += 1
        try:
            printed = await ask_once(
                self._agent, program, question, speaker.project.path if speaker.project else self._home
            )
            if printed.status == 0 and printed.text:
                await self._keep_printed(message, printed.text, speaker.caller)
            outcome.append(printed)
        except ScrubjayError as error:
            outcome.append(error)
        finally:
            self._started -= 1
            self._wake()

    async def _keep_printed(self, message: AgentMessage, text: str, caller: Caller) -> None:
        if (await self._found(message.owner, message.id)).replies:
            return  # what it prints besides is not for the one who asked
        reply = AgentReply(
            sender=self._agent.name,
            content=self._guarded(text[:MOST_ANSWER], None),
            created_at=self._clock(),
            way=Way.PRINTED,
        )
        try:
            await self._store.reply(message.owner, message.id, reply, most_characters=MOST_ANSWER)
        except Conflict:  # somebody else was faster
            return
        self._tell_reply(message.id, reply, caller)

    def _silence(self, ended: Printed | ScrubjayError, message_id: str) -> Unavailable:
        details = {"reason": "agent_failed", "message_id": message_id}
        if isinstance(ended, ScrubjayError):
            return Unavailable(f"the coding agent could not answer: {ended.message}", hint=ended.hint, details=details)
        said = f": {ended.complaints}" if ended.complaints else ""
        return Unavailable(
            f"the coding agent ended with {ended.status} and answered nothing{said}",
            hint=f"try `{self._agent.name}` by hand in the folder of the project",
            details=details,
        )

    def _program(self, speaker: Speaker) -> str | None:
        """The coding agent that may be started for this speaker, if there is one and it is not too much."""
        if not self._agent.may_be_let_work(speaker.caller, speaker.door) or self._started >= self._agent.most:
            return None
        return self._agent.program

    def _is_heard(self, caller: Caller) -> bool:
        return bool(self._waiting[caller.owns_as] or self._waiting[EVERYTHING]) or self._events.is_heard_by(caller)

    # -- answering -----------------------------------------------------------------------------------

    async def reply(self, message_id: str, content: str, speaker: Speaker, *, complete: bool) -> Discussion:
        """Answer a message, or give a part of the answer."""
        reply = AgentReply(
            sender=speaker.name,
            content=self._guarded(content, speaker.client),
            created_at=self._clock(),
            complete=complete,
        )
        owner = _seen_by(speaker.caller)
        found = await self._store.reply(owner, message_id, reply, most_characters=MOST_ANSWER)
        if found is None:
            raise _unknown(message_id)
        # Whoever asked is to hear it, and not only those who see what the answering one does.
        whose = speaker.caller if found.message.owner == speaker.caller.owns_as else _key(found.message.owner)
        self._tell_reply(message_id, reply, whose)
        return found

    async def get(self, message_id: str, speaker: Speaker) -> Discussion:
        return await self._found(_seen_by(speaker.caller), message_id)

    async def page(self, speaker: Speaker, *, only_open: bool, limit: int, wait: float) -> Sequence[Discussion]:
        """The messages that this speaker sees, the oldest first; when there are none, those that come in so long."""
        owner, visibility = _seen_by(speaker.caller), Visibility(speaker.project.id if speaker.project else None)
        place = EVERYTHING if owner is None else owner
        found = await self._store.page(owner, visibility, only_open=only_open, limit=limit)
        if found or not wait:
            return found
        self._waiting[place] += 1
        try:
            with anyio.move_on_after(wait):
                while not found:
                    news = self._news
                    found = await self._store.page(owner, visibility, only_open=only_open, limit=limit)
                    if not found:
                        with anyio.move_on_after(LOOK_SECONDS):
                            await news.wait()
        finally:
            self._waiting[place] -= 1
        return found

    # -- what both need ------------------------------------------------------------------------------

    async def _found(self, owner: str | None, message_id: str) -> Discussion:
        found = await self._store.get(owner, message_id)
        if found is None:
            raise _unknown(message_id)
        return found

    def _guarded(self, text: str, client: str | None) -> str:
        return Writing(self._rules, client).text(text) or text

    def _tell_message(self, message: AgentMessage, caller: Caller) -> None:
        event = {
            "type": "agent_message",
            "message_id": message.id,
            "from": message.sender,
            "to": message.recipient,
            "content": message.content,
            "thread_id": message.thread_id,
        }
        self._events.tell(event, caller)
        self._wake()

    def _tell_reply(self, message_id: str, reply: AgentReply, whose: Caller) -> None:
        event = {
            "type": "agent_response",
            "in_reply_to": message_id,
            "from": reply.sender,
            "content": reply.content,
            "complete": reply.complete,
        }
        self._events.tell(event, whose)
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()


def _seen_by(caller: Caller) -> str | None:
    """Whose messages a caller sees; None for everybody's, as with calls."""
    return None if EVERYTHING in caller.scopes else caller.owns_as


def _key(owner: str) -> Caller:
    return Caller(owner, frozenset(), owner)


def _unknown(message_id: str) -> NotFound:
    return NotFound(
        f"there is no message {message_id[:80]!r} that you could answer",
        hint="agent_messages shows those that wait for an answer",
    )
