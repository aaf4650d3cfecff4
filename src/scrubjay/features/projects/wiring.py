"""Assemble the project service."""

from scrubjay.features.projects.service import ProjectService
from scrubjay.features.projects.store import ProjectStore
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def project_service(services: Services) -> ProjectService:
    runtime = services.ready(Runtime)
    store = await services.get(ProjectStore)
    return ProjectService(store, default_path=runtime.default_project, own_client=runtime.own_client)
