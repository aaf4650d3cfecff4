"""Assemble Mira's routes: the chat, the event stream and the history that it replays."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from scrubjay.compat.mira.chat import ChatParts
from scrubjay.compat.mira.event_connection import EventLimits
from scrubjay.compat.mira.event_endpoint import EventStreamEndpoint
from scrubjay.compat.mira.routes import MiraRoutes
from scrubjay.compat.mira.settings import MiraSettings
from scrubjay.core.callers import Authenticator, Caller
from scrubjay.core.scopes import Visibility
from scrubjay.features.answers.tools import ask_mimo
from scrubjay.features.chat.exchange_recorder import ExchangeRecorder, note_arguments
from scrubjay.features.chat.llm_tools import ChatTools
from scrubjay.features.chat.memory_answerer import MemoryAnswerer
from scrubjay.features.chat.memory_context import MemoryContextBuilder
from scrubjay.features.chat.persona_models import Persona
from scrubjay.features.chat.persona_service import PersonaService
from scrubjay.features.chat.service import ChatService, UserMessage
from scrubjay.features.chat.task_context import MAX_ITEMS, OpenWork, TaskContextBuilder
from scrubjay.features.code.file_changes import FileChanges
from scrubjay.features.delegation.events import AgentEvents
from scrubjay.features.delegation.settings import DelegationSettings
from scrubjay.features.memory.list_tools import list_memories
from scrubjay.features.memory.tools import recall, remember
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.sessions.models import ToolCall
from scrubjay.features.sessions.redaction import redact_calls
from scrubjay.features.sessions.service import SessionService
from scrubjay.features.sessions.tools import session_history
from scrubjay.features.tasks.goal_store import GoalStore
from scrubjay.features.tasks.models import GoalFilter, TaskFilter
from scrubjay.features.tasks.store import TaskStore
from scrubjay.features.tasks.tools import task
from scrubjay.features.turns.tools import add_memory
from scrubjay.models.chat_proxy import ChatProxy, UnusableChatProxy
from scrubjay.servers.openai.settings import OpenAISettings
from scrubjay.tooling.call_events import CallEvents
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.services import Services

# Callers of tools of this family may see file changes.
CODE = "code"
_EVER = datetime.fromtimestamp(0, UTC)


def mira_web(
    services: Services, authenticator: Authenticator, forwarder: ChatProxy | UnusableChatProxy | None
) -> MiraRoutes:
    """Return all routes, and subscribe their event stream to calls, file changes and agents."""
    events, chosen, bus = CallEvents(), services.ready(MiraSettings), services.ready(Dispatcher).events
    events.subscribe(bus)
    services.ready(FileChanges).subscribe(partial(events.file_changed, CODE))
    services.provide_ready(AgentEvents, events)
    limits = EventLimits(
        connections=chosen.max_connections, outbox_bytes=chosen.outbox_bytes, slow_seconds=chosen.slow_seconds
    )
    stream = EventStreamEndpoint(events, bus, SessionCallHistory(services), authenticator, limits)
    return MiraRoutes(*_chat(services, events, forwarder), stream)


def _chat(
    services: Services, events: CallEvents, forwarder: ChatProxy | UnusableChatProxy | None
) -> tuple[ChatParts, Sequence[ExchangeRecorder]]:
    """Return the services of the chat, and the keepers that store its exchanges."""
    dispatcher, openai = services.ready(Dispatcher), services.ready(OpenAISettings)
    turns, notes = (
        ExchangeRecorder(dispatcher, add_memory.name),
        ExchangeRecorder(dispatcher, remember.name, note_arguments),
    )
    keeps = services.ready(MiraSettings).remember
    talk = ChatService(
        MemoryContextBuilder(dispatcher, recall.name, limit=openai.recall_limit, tokens=openai.recall_tokens),
        MemoryAnswerer(dispatcher, ask_mimo.name),
        ChatTools(dispatcher, allow_delegation=services.ready(DelegationSettings).in_chat),
        forwarder,
        turn_recorder=turns if keeps else None,
        note_recorder=notes if keeps else None,
        task_context=TaskContextBuilder(partial(_planned, services), task.family, tokens=openai.recall_tokens),
        find_persona=partial(_persona, services),
    )
    parts = ChatParts(
        talk=talk, events=events, dispatcher=dispatcher, list_tool=list_memories.name, forwarder=forwarder
    )
    return parts, [turns, notes]


async def _persona(services: Services, message: UserMessage) -> Persona:
    """Return the persona for the caller, project and session of a message."""
    context = message.context
    project = await (await services.get(ProjectService)).active(context.client)
    personas = await services.get(PersonaService)
    return await personas.get(context.caller, project.id if project else None, message.session_id)


async def _planned(services: Services, context: CallContext) -> OpenWork:
    """Return the open goals and tasks of the client's active project."""
    project = await (await services.get(ProjectService)).active(context.client)
    visibility = Visibility(project.id if project else None)
    goals, tasks = await services.get(GoalStore), await services.get(TaskStore)
    return OpenWork(
        (await goals.page(visibility, GoalFilter(), MAX_ITEMS)).goals,
        (await tasks.page(visibility, TaskFilter(), MAX_ITEMS)).tasks,
    )


class SessionCallHistory:
    """Implements `CallHistorySource` for the client's active project; empty if the caller may not read the history."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(
        self, caller: Caller, client: str, after: datetime | None, until: datetime, limit: int
    ) -> Sequence[ToolCall]:
        if session_history.missing_scope(caller, read_only=True) is not None:
            return []
        services = self._services
        sessions = await services.get(SessionService)
        project = await (await services.get(ProjectService)).active(client)
        calls = await sessions.calls_ended_between(
            project.id if project else None, after or _EVER, until, newest_first=after is None, limit=limit
        )
        return redact_calls(caller, services.ready(Registry), calls)
