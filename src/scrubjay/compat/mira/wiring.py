"""The wiring of Mira's web: which tools it is made of, and what it may look back at."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from scrubjay.app.application import Application
from scrubjay.core.callers import Caller
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.sessions.models import ToolCall

if TYPE_CHECKING:
    from scrubjay.compat.mira.chat import ChatParts
    from scrubjay.compat.mira.routes import MiraRoutes
    from scrubjay.core.callers import Doorkeeper
    from scrubjay.features.chat.exchange_recorder import Keeper
    from scrubjay.features.chat.persona_models import Persona
    from scrubjay.features.chat.service import Message
    from scrubjay.features.chat.task_context import Plans
    from scrubjay.models.chat_proxy import Forwarder, UnusableForwarder
    from scrubjay.tooling.call_events import CallEvents
    from scrubjay.tooling.context import CallContext

# The family of tools whose key may know of files.
CODE = "code"
_EVER = datetime.fromtimestamp(0, UTC)


def mira_web(
    application: Application, doorkeeper: "Doorkeeper", forwarder: "Forwarder | UnusableForwarder | None"
) -> "MiraRoutes":
    """All of it. From now on it hears of every call."""
    from scrubjay.compat.mira.event_connection import EventLimits
    from scrubjay.compat.mira.event_endpoint import EventStream
    from scrubjay.compat.mira.routes import MiraRoutes
    from scrubjay.tooling.call_events import CallEvents

    events, chosen = CallEvents(_memories_added()), application.settings.mira
    events.subscribe(application.dispatcher.events)
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
    from scrubjay.compat.mira.chat import ChatParts
    from scrubjay.features.answers.tools import ask_mimo
    from scrubjay.features.chat.exchange_recorder import Keeper, as_note
    from scrubjay.features.chat.llm_tools import ToolBelt
    from scrubjay.features.chat.memory_answers import MemoryAnswers
    from scrubjay.features.chat.recall_context import Recall
    from scrubjay.features.chat.service import Talk
    from scrubjay.features.chat.task_context import Planning
    from scrubjay.features.memory.list_tools import list_memories
    from scrubjay.features.memory.tools import recall, remember
    from scrubjay.features.tasks.tools import task
    from scrubjay.features.turns.tools import add_memory

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
    from scrubjay.features.chat.personas import Personas

    services, context = application.services, message.context
    project = await (await services.get(ProjectService)).active(context.client)
    personas = await services.get(Personas)
    return await personas.get(context.caller, project.id if project else None, message.session_id)


async def _planned(application: Application, context: "CallContext") -> "Plans":
    """What is to be done in the project that a client works in."""
    from scrubjay.app.store import Store
    from scrubjay.core.scopes import Visibility
    from scrubjay.features.chat.task_context import MOST, Plans
    from scrubjay.features.tasks.models import GoalFilter, TaskFilter

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
        from scrubjay.features.sessions.redaction import seen_by
        from scrubjay.features.sessions.service import SessionService
        from scrubjay.features.sessions.tools import session_history

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
    from scrubjay.features.facts.tools import store_fact
    from scrubjay.features.memory.tools import remember, remember_many
    from scrubjay.features.turns.tools import add_memory

    return {
        remember.name: lambda answer: int(answer.outcome == "stored" and not answer.repeated),
        remember_many.name: lambda answer: answer.stored,
        add_memory.name: lambda answer: 1,
        store_fact.name: lambda answer: 1,
    }
