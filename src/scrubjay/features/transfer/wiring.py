"""Assemble export and import."""

from scrubjay.core.policies import SecretsPolicy
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.projects.store import ProjectStore
from scrubjay.features.transfer.exporter import Exporter
from scrubjay.features.transfer.folders import TransferFolders
from scrubjay.features.transfer.importer import Importer
from scrubjay.features.transfer.settings import TransferSettings
from scrubjay.features.transfer.store import TransferStore
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def transfer_folders(services: Services) -> TransferFolders:
    return TransferFolders(services.ready(Runtime).home / "backups", services.ready(TransferSettings).folders)


@WIRING.provides
async def exporter(services: Services) -> Exporter:
    return Exporter(await services.get(TransferStore), await services.get(TransferFolders))


@WIRING.provides
async def importer(services: Services) -> Importer:
    return Importer(
        await services.get(TransferStore),
        await services.get(MemoryService),
        await services.get(ModelRegistry),
        await services.get(ProjectStore),
        await services.get(TransferFolders),
        secrets=services.ready(SecretsPolicy),
        quota=await services.get(Quota),
    )
