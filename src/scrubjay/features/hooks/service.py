"""What is done at the moments that agents' programs tell us of."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from scrubjay.app.store import Store
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.scopes import Visibility
from scrubjay.features.hooks.context_text import BRIEF, HINTS, as_context, note_line, response_text, without_secrets
from scrubjay.features.hooks.models import HookAnswer, HookCall, HookEvent
from scrubjay.features.memory.models import Kind, MemoryFilter
from scrubjay.features.memory.recall import Wish
from scrubjay.features.memory.service import Draft, MemoryService
from scrubjay.features.permissions.paths import paths_of
from scrubjay.features.permissions.service import PermissionService
from scrubjay.features.projects.models import Project
from scrubjay.features.sessions.briefing import Briefing
from scrubjay.features.sessions.models import ClientCall, ToolCall
from scrubjay.features.sessions.service import SessionService

# What is added to a prompt: few things, and only those that say what is asked about.
MOST_HINTS = 5
HINT_THRESHOLD = 0.3
QUESTION_CHARACTERS = 2_000
# Not turns, which the agent has before it, and not summaries, which are long.
HINT_KINDS = tuple(kind for kind in Kind if kind not in (Kind.TURN, Kind.SUMMARY))
# What was asked and not answered by then never will be.
UNANSWERED = timedelta(days=1)


class HookService:
    """Answers agents' programs, and keeps what they tell."""

    def __init__(
        self,
        store: Store,
        permissions: PermissionService,
        sessions: SessionService,
        briefing: Briefing,
        memories: MemoryService,
        *,
        brief_tokens: int,
        prompt_tokens: int,
        keep_turns: bool,
        keep_calls: bool,
        clock: Clock = system_clock,
    ) -> None:
        self._store = store
        self._permissions = permissions
        self._sessions = sessions
        self._briefing = briefing
        self._memories = memories
        self._brief_tokens = brief_tokens
        self._prompt_tokens = prompt_tokens
        self._keep_turns = keep_turns
        self._keep_calls = keep_calls
        self._clock = clock

    async def answer(self, call: HookCall) -> HookAnswer:
        """What to answer an agent at this moment; what it tells is kept."""
        match call.event:
            case HookEvent.PERMISSION:
                return HookAnswer(await self._permissions.judge(call.tool_name, call.tool_input, call.folders))
            case HookEvent.SESSION_START:
                return HookAnswer(context=await self._brief(call))
            case HookEvent.USER_PROMPT_SUBMIT:
                await self.keep(call, self._clock())
                return HookAnswer(context=await self._hints(call))
            case HookEvent.POST_TOOL_USE | HookEvent.STOP:
                await self.keep(call, self._clock())
                return HookAnswer()

    async def keep(self, call: HookCall, at: datetime, key: str | None = None) -> None:
        """Keep what an agent told at that moment; a turn under the same key is kept once."""
        call = without_secrets(call)
        match call.event:
            case HookEvent.USER_PROMPT_SUBMIT if self._keep_turns and call.client and call.prompt:
                await self._store.prompts.put(call.client, call.prompt, at)
                await self._store.prompts.forget_before(self._clock() - UNANSWERED)
            case HookEvent.POST_TOOL_USE if self._keep_calls and call.client:
                await self._keep_call(call, call.client, at)
            case HookEvent.STOP if self._keep_turns and call.client and call.session_id:
                await self._keep_turn(call, call.client, call.session_id, at, key)
            case _:
                pass

    async def _brief(self, call: HookCall) -> str | None:
        project = await self._project(call, make=True)
        if project is None:
            return None
        session, _ = await self._sessions.start(project, call.client, call.session_id)
        brief = await self._briefing.brief(project, session, self._brief_tokens - len(BRIEF) // 4 - 1)
        recap = brief.recap
        if not (brief.preferences or brief.memories or recap.sessions or recap.tasks or recap.goals):
            return None
        return f"{BRIEF}\n{brief.text}"

    async def _hints(self, call: HookCall) -> str | None:
        if not self._prompt_tokens or not call.prompt.strip():
            return None
        project = await self._project(call, make=False)
        found = await self._memories.recall(
            call.prompt[:QUESTION_CHARACTERS],
            Visibility(project.id if project else None, call.session_id),
            MemoryFilter(kinds=HINT_KINDS),
            Wish(limit=MOST_HINTS, threshold=HINT_THRESHOLD),
        )
        memories = [hit.memory for hit in found.hits if hit.confirmed]
        lines = [note_line(memory.category, memory.content) for memory in memories]
        return as_context(HINTS, lines, self._prompt_tokens)

    async def _keep_call(self, call: HookCall, client: str, at: datetime) -> None:
        await self._enter(call, client)
        # Left by a hook before anybody knew of the session: it is kept as of its beginning, else it would be in none.
        current = await self._store.sessions.current(client)
        at = max(at, current.started_at) if current else at
        made = ToolCall(
            tool=call.tool_name[:200],
            arguments=call.tool_input,
            result="" if call.tool_response is None else response_text(call.tool_response),
            success=call.succeeded,
            milliseconds=call.milliseconds,
            called_at=at - timedelta(milliseconds=call.milliseconds),
        )
        await self._store.sessions.keep([ClientCall(client, made)], None)

    async def _keep_turn(self, call: HookCall, client: str, session_id: str, at: datetime, key: str | None) -> None:
        prompt = await self._store.prompts.take(client) or ""
        if not prompt and not call.response:
            return
        project = await self._enter(call, client)
        details: Mapping[str, Any] = {"prompt": prompt, "thought": "", "response": call.response}
        draft = Draft(
            content=f"User Prompt: {prompt}\nAgent Thought: \nAgent Response: {call.response}",
            session_id=session_id,
            kind=Kind.TURN,
            details=dict(details),
            provenance={"surface": "hook", "client": client},
            occurred_at=at,
        )
        project_id = project.id if project else None
        if key is None:
            await self._memories.remember([draft], project_id)
        else:
            await self._memories.remember_once([draft], project_id, client, key)

    async def _enter(self, call: HookCall, client: str) -> Project | None:
        """The agent's project; from now on the agent is in its session there."""
        project = await self._project(call, make=True)
        if project is not None:
            current = await self._store.sessions.current(client)
            if current is None or current.id != call.session_id or current.project_id != project.id:
                await self._store.sessions.start(project.id, client, call.session_id)
        return project

    async def _project(self, call: HookCall, *, make: bool) -> Project | None:
        """The nearest project around where the agent works; its folder becomes one when there is none."""
        for folder in call.folders:
            paths = paths_of([folder])
            for path in paths[:-1]:  # not the root, which would be everybody's
                if project := await self._store.projects.at(path):
                    return await self._active(call, project)
            if make and len(paths) > 1:
                return await self._active(call, await self._store.projects.ensure(paths[0], None))
        return None

    async def _active(self, call: HookCall, project: Project) -> Project:
        if call.client is not None:
            await self._store.projects.activate(call.client, project.id)
        return project
