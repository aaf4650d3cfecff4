"""Assemble the links between memories and code."""

from functools import partial

from scrubjay.code_index import CodeService
from scrubjay.core.paths import has_code_index
from scrubjay.features.code_links.current_code import CurrentCode
from scrubjay.features.code_links.linker import CodeLinker
from scrubjay.features.projects.store import ProjectStore
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def linker(services: Services) -> CodeLinker:
    runtime = services.ready(Runtime)
    code = CurrentCode(partial(services.get, CodeService), partial(has_code_index, runtime.home))
    return CodeLinker(code, await services.get(ProjectStore), runtime.clock)
