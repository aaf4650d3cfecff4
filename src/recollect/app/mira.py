"""The wiring of Mira's web: which tools it is made of, and what it may look back at."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from recollect.app.application import Application
from recollect.domain.callers import Caller
from recollect.domain.sessions import ToolCall
from recollect.memory.projects import ProjectService

if TYPE_CHECKING:
    from recollect.chatting.keeping import Keeper
    from recollect.chatting.planned import Plans
    from recollect.chatting.talking import Message
    from recollect.domain.callers import Doorkeeper
    from recollect.domain.personas import Persona
    from recollect.gateway.mira.chat import ChatParts
    from recollect.gateway.mira.routes import MiraRoutes
    from recollect.inference.forwarding import Forwarder, UnusableForwarder
    from recollect.toolkit.call_events import CallEvents
    from recollect.toolkit.context import CallContext

# The family of tools whose key may know of files.
CODE = "code"
_EVER = datetime.fromtimestamp(0, UTC)


def mira_web(
    application: Application, doorkeeper: "Doorkeeper", forwarder: "Forwarder | UnusableForwarder | None"
) -> "MiraRoutes":
    """All of it. From now on it hears of every call."""
    from recollect.gateway.mira.event_connection import EventLimits
    from recollect.gateway.mira.event_endpoint import EventStream
    from recollect.gateway.mira.routes import MiraRoutes
    from recollect.toolkit.call_events import CallEvents

    events, chosen = CallEvents(_memories_added()), application.settings.mira
    application.dispatcher.observer = events
    application.on_file_change = partial(events.file_changed, CODE)
    application.agent_events = events
    limits = EventLimits(
        connections=chosen.max_connections, outbox_bytes=chosen.outbox_bytes, slow_seconds=chosen.slow_seconds
    )
    stream = EventStream(events, CallsBefore(application), doorkeeper, limits)
    return MiraRoutes(*_chat(application, events, forwarder), stream)


def _chat(
    application: Application, events: "CallEvents", forwarder: "Forwarder | UnusableForwarder | None"
) -> "tuple[ChatParts, Sequence[Keeper]]":
    """What the chat is made of, and who remembers what is said in it."""
    from recollect.chatting.keeping import Keeper, as_note
    from recollect.chatting.memory_answers import MemoryAnswers
    from recollect.chatting.planned import Planning
    from recollect.chatting.recalling import Recall
    from recollect.chatting.talking import Talk
    from recollect.chatting.tool_belt import ToolBelt
    from recollect.gateway.mira.chat import ChatParts
    from recollect.tools.asking import ask_mimo
    from recollect.tools.memory import recall, remember
    from recollect.tools.memory_list import list_memories
    from recollect.tools.planning import task
    from recollect.tools.turns import add_memory

    dispatcher, openai = application.dispatcher, application.settings.openai
    turns, notes = Keeper(dispatcher, add_memory.name), Keeper(dispatcher, remember.name, as_note)
    keeps = application.settings.mira.remember
    talk = Talk(
        Recall(dispatcher, recall.name, limit=openai.recall_limit, tokens=openai.recall_tokens),
        MemoryAnswers(dispatcher, ask_mimo.name),
        ToolBelt(dispatcher, delegates=application.settings.delegating.in_chat),
        forwarder,
        turns=turns if keeps else None,
        notes=notes if keeps else None,
        planning=Planning(partial(_planned, application), task.family, tokens=openai.recall_tokens),
        persona=partial(_persona, application),
    )
    parts = ChatParts(
        talk=talk, events=events, dispatcher=dispatcher, list_tool=list_memories.name, forwarder=forwarder
    )
    return parts, [turns, notes]


async def _persona(application: Application, message: "Message") -> "Persona":
    """How the chat is to be for whoever asks, in the project that they work in."""
    from recollect.chatting.personas import Personas

    services, context = application.services, message.context
    project = await (await services.get(ProjectService)).active(context.client)
    personas = await services.get(Personas)
    return await personas.get(context.caller, project.id if project else None, message.session_id)


async def _planned(application: Application, context: "CallContext") -> "Plans":
    """What is to be done in the project that a client works in."""
    from recollect.chatting.planned import MOST, Plans
    from recollect.domain.planning import GoalFilter, TaskFilter
    from recollect.domain.scopes import Visibility
    from recollect.storage.store import Store

    services = application.services
    project = await (await services.get(ProjectService)).active(context.client)
    visibility, store = Visibility(project.id if project else None), await services.get(Store)
    return Plans(
        (await store.goals.page(visibility, GoalFilter(), MOST)).goals,
        (await store.tasks.page(visibility, TaskFilter(), MOST)).tasks,
    )


class CallsBefore:
    """Satisfies `Past` with the history of the project that a client works in, for whoever may read that."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(
        self, caller: Caller, client: str, after: datetime | None, until: datetime, limit: int
    ) -> Sequence[ToolCall]:
        from recollect.memory.sessions import SessionService
        from recollect.toolkit.withholding import seen_by
        from recollect.tools.sessions import session_history

        if not caller.may_call(session_history.family, read_only=True):
            return []
        services = self._application.services
        sessions = await services.get(SessionService)
        project = await (await services.get(ProjectService)).active(client)
        calls = await sessions.ended(
            project.id if project else None, after or _EVER, until, newest_first=after is None, limit=limit
        )
        return seen_by(caller, self._application.registry, calls)


def _memories_added() -> Mapping[str, Callable[[Any], int]]:
    """How many memories an answer of each tool says it brought."""
    from recollect.tools.facts import store_fact
    from recollect.tools.memory import remember, remember_many
    from recollect.tools.turns import add_memory

    return {
        remember.name: lambda answer: int(answer.outcome == "stored" and not answer.repeated),
        remember_many.name: lambda answer: answer.stored,
        add_memory.name: lambda answer: 1,
        store_fact.name: lambda answer: 1,
    }
