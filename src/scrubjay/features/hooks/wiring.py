"""Assemble the hook service and the permission rules that it applies."""

from scrubjay.features.hooks.prompt_store import PromptStore
from scrubjay.features.hooks.service import HookService
from scrubjay.features.hooks.settings import HookSettings
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.permissions.service import PermissionService
from scrubjay.features.permissions.store import PermissionStore
from scrubjay.features.projects.store import ProjectStore
from scrubjay.features.sessions.briefing import BriefingService
from scrubjay.features.sessions.service import SessionService
from scrubjay.features.sessions.settings import SessionSettings
from scrubjay.features.sessions.store import SessionStore
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def permission_service(services: Services) -> PermissionService:
    return PermissionService(
        await services.get(PermissionStore),
        callers_may_allow=services.ready(HookSettings).callers_may_allow,
        clock=services.ready(Runtime).clock,
    )


@WIRING.provides
async def hook_service(services: Services) -> HookService:
    chosen = services.ready(HookSettings)
    return HookService(
        await services.get(PromptStore),
        await services.get(SessionStore),
        await services.get(ProjectStore),
        await services.get(PermissionService),
        await services.get(SessionService),
        await services.get(BriefingService),
        await services.get(MemoryService),
        brief_tokens=chosen.brief_tokens,
        prompt_tokens=chosen.prompt_tokens,
        keep_turns=chosen.keep_turns,
        keep_calls=services.ready(SessionSettings).history,
        clock=services.ready(Runtime).clock,
    )
