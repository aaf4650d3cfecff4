"""Handle the hook events of coding agents."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import anyio

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.scopes import Visibility
from scrubjay.features.hooks.context_text import (
    BRIEF_HEADING,
    HINTS_HEADING,
    format_context,
    format_note,
    redact_call,
    response_text,
)
from scrubjay.features.hooks.models import HookAnswer, HookCall, HookEvent
from scrubjay.features.hooks.prompt_store import PromptStore
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.models import MemoryFilter, MemoryKind
from scrubjay.features.memory.recall import RecallOptions
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.permissions.models import Effect, PermissionVerdict
from scrubjay.features.permissions.paths import paths_of
from scrubjay.features.permissions.service import PermissionService
from scrubjay.features.projects.models import Project
from scrubjay.features.projects.store import ProjectStore
from scrubjay.features.sessions.briefing import BriefingService
from scrubjay.features.sessions.models import ClientCall, ToolCall
from scrubjay.features.sessions.service import SessionService
from scrubjay.features.sessions.store import SessionStore

# Memories added to a prompt: few, and only with a high score.
MAX_HINTS = 5
HINT_THRESHOLD = 0.3
MAX_QUERY_CHARACTERS = 2_000
# Without turns, which are in the agent's context already, and summaries, which are long.
HINT_KINDS = tuple(kind for kind in MemoryKind if kind not in (MemoryKind.TURN, MemoryKind.SUMMARY))
# As for the command: the agent waits.
MAX_PERMISSION_SECONDS = 2.0
# An older prompt will never be answered; its agent has ended.
MAX_PROMPT_AGE = timedelta(days=1)


class HookService:
    """Answers hook calls and records prompts, tool calls and turns."""

    def __init__(
        self,
        prompts: PromptStore,
        session_store: SessionStore,
        projects: ProjectStore,
        permissions: PermissionService,
        sessions: SessionService,
        briefing: BriefingService,
        memories: MemoryService,
        *,
        brief_tokens: int,
        prompt_tokens: int,
        keep_turns: bool,
        keep_calls: bool,
        clock: Clock = system_clock,
    ) -> None:
        self._prompts = prompts
        self._session_store = session_store
        self._projects = projects
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
        """Record a hook call and return the answer to it."""
        match call.event:
            case HookEvent.PERMISSION:
                return HookAnswer(await self._judge(call))
            case HookEvent.SESSION_START:
                return HookAnswer(context=await self._brief(call))
            case HookEvent.USER_PROMPT_SUBMIT:
                await self.record(call, self._clock())
                return HookAnswer(context=await self._hints(call))
            case HookEvent.POST_TOOL_USE | HookEvent.STOP:
                await self.record(call, self._clock())
                return HookAnswer()

    async def _judge(self, call: HookCall) -> PermissionVerdict:
        """Return the verdict of the rules; ask the user if they cannot be read, because one may deny the call."""
        try:
            with anyio.fail_after(MAX_PERMISSION_SECONDS):
                return await self._permissions.judge(call.tool_name, call.tool_input, call.folders)
        except Exception as error:  # the agent would make the call after any other answer
            return PermissionVerdict(Effect.ASK, f"the permission rules cannot be evaluated: {error}")

    async def record(self, call: HookCall, at: datetime, key: str | None = None) -> None:
        """Store the prompt, tool call or turn of a hook call. A turn with the same `key` is stored once."""
        call = redact_call(call)
        match call.event:
            case HookEvent.USER_PROMPT_SUBMIT if self._keep_turns and call.client and call.prompt:
                await self._prompts.put(call.client, call.prompt, at)
                await self._prompts.delete_before(self._clock() - MAX_PROMPT_AGE)
            case HookEvent.POST_TOOL_USE if self._keep_calls and call.client:
                await self._record_call(call, call.client, at)
            case HookEvent.STOP if self._keep_turns and call.client and call.session_id:
                await self._record_turn(call, call.client, call.session_id, at, key)
            case _:
                pass

    async def _brief(self, call: HookCall) -> str | None:
        project = await self._project(call, create=True)
        if project is None:
            return None
        session, _ = await self._sessions.start(project, call.client, call.session_id)
        tokens = self._brief_tokens - len(BRIEF_HEADING) // 4 - 1
        brief = await self._briefing.create(project, session, tokens, with_plans=call.with_plans)
        recap = brief.recap
        if not (brief.preferences or brief.memories or recap.sessions or recap.tasks or recap.goals):
            return None
        return f"{BRIEF_HEADING}\n{brief.text}"

    async def _hints(self, call: HookCall) -> str | None:
        if not self._prompt_tokens or not call.prompt.strip():
            return None
        project = await self._project(call, create=False)
        found = await self._memories.recall(
            call.prompt[:MAX_QUERY_CHARACTERS],
            Visibility(project.id if project else None, call.session_id),
            MemoryFilter(kinds=HINT_KINDS),
            RecallOptions(limit=MAX_HINTS, threshold=HINT_THRESHOLD, code_reader=call.code_reader),
        )
        lines = [
            format_note(hit.memory.category, hit.text, hit.review.warning if hit.review else None)
            for hit in found.hits
            if hit.confirmed
        ]
        return format_context(HINTS_HEADING, lines, self._prompt_tokens)

    async def _record_call(self, call: HookCall, client: str, at: datetime) -> None:
        await self._enter_session(call, client)
        # A spooled call can be older than its session, because the session starts when the first call is recorded.
        # It is dated to the start of the session; otherwise it would belong to none.
        current = await self._session_store.current(client)
        at = max(at, current.started_at) if current else at
        tool_call = ToolCall(
            tool=call.tool_name[:200],
            arguments=call.tool_input,
            result="" if call.tool_response is None else response_text(call.tool_response),
            success=call.succeeded,
            milliseconds=call.milliseconds,
            called_at=at - timedelta(milliseconds=call.milliseconds),
        )
        await self._session_store.add_calls([ClientCall(client, tool_call)], None)

    async def _record_turn(self, call: HookCall, client: str, session_id: str, at: datetime, key: str | None) -> None:
        prompt = await self._prompts.take(client) or ""
        if not prompt and not call.response:
            return
        project = await self._enter_session(call, client)
        details: Mapping[str, Any] = {"prompt": prompt, "thought": "", "response": call.response}
        draft = Draft(
            content=f"User Prompt: {prompt}\nAgent Thought: \nAgent Response: {call.response}",
            session_id=session_id,
            kind=MemoryKind.TURN,
            details=dict(details),
            provenance={"surface": "hook", "client": client},
            occurred_at=at,
        )
        project_id = project.id if project else None
        if key is None:
            await self._memories.remember([draft], project_id)
        else:
            await self._memories.remember_once([draft], project_id, client, key)

    async def _enter_session(self, call: HookCall, client: str) -> Project | None:
        """Return the agent's project; make the agent's session the current one there."""
        project = await self._project(call, create=True)
        if project is not None:
            current = await self._session_store.current(client)
            if current is None or current.id != call.session_id or current.project_id != project.id:
                await self._session_store.start(project.id, client, call.session_id)
        return project

    async def _project(self, call: HookCall, *, create: bool) -> Project | None:
        """Return the nearest project around the agent's folders; with `create`, make the folder a project if needed."""
        for folder in call.folders:
            paths = paths_of([folder])
            for path in paths[:-1]:  # without the root folder, which would contain every project
                if project := await self._projects.get_by_path(path):
                    return await self._activate(call, project)
            if create and len(paths) > 1:
                return await self._activate(call, await self._projects.ensure(paths[0], None))
        return None

    async def _activate(self, call: HookCall, project: Project) -> Project:
        if call.client is not None:
            await self._projects.activate(call.client, project.id)
        return project
