"""Give memories their links to code. Separate from `wiring`, so that `remember` imports no code index without need."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.core.lazy import lazy_module
from scrubjay.core.paths import has_code_index
from scrubjay.features.code_links.service import CodeLinkService
from scrubjay.features.memory.drafts import Draft, DraftLinker
from scrubjay.features.memory.link_review import LinkReviewer
from scrubjay.features.memory.link_store import LinkStore
from scrubjay.features.memory.links import CodeLink
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

if TYPE_CHECKING:
    from scrubjay.features.code_links import linker
else:
    linker = lazy_module("scrubjay.features.code_links.linker")

WIRING = Wiring()


class IndexedCodeLinker:
    """Satisfies `DraftLinker`. Imports nothing of the code index where no code is indexed or named."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def links(self, drafts: Sequence[Draft], project_id: str | None) -> Sequence[tuple[CodeLink, ...]]:
        """Return the links of each draft."""
        if not has_code_index(self._services.ready(Runtime).home) and not any(draft.about for draft in drafts):
            return [()] * len(drafts)
        return await (await self.linker()).links(drafts, project_id)

    async def linker(self) -> "linker.CodeLinker":
        return await self._services.get(linker.CodeLinker)


@WIRING.provides
async def draft_linker(services: Services) -> DraftLinker:
    return IndexedCodeLinker(services)


@WIRING.provides
async def grounding(services: Services) -> CodeLinkService:
    return CodeLinkService(await services.get(LinkStore), IndexedCodeLinker(services).linker)


@WIRING.provides
async def link_reviewer(services: Services) -> LinkReviewer:
    return await services.get(CodeLinkService)
