"""Warm-up of a server: loads in advance what the first requests would wait for."""

import gc
import logging

from scrubjay.core.error_location import error_fields
from scrubjay.core.scopes import Visibility
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.hooks.service import HookService
from scrubjay.features.memory.models import MemoryFilter
from scrubjay.features.memory.recall import RecallOptions
from scrubjay.features.memory.service import MemoryService
from scrubjay.models.choices import IN_PROCESS
from scrubjay.tooling.services import Services

logger = logging.getLogger("scrubjay.app")

# No memory scores this high, so the warm-up finds none and counts none as used.
_MATCH_NOTHING = RecallOptions(limit=1, threshold=1.0)


async def warm(services: Services) -> None:
    """Open the store and its index, load the hook service and an in-process model. Makes no network request."""
    try:
        await services.get(HookService)
        model = (await (await services.get(ModelRegistry)).current()).active
        if model.choice.provider in IN_PROCESS:
            await (await services.get(MemoryService)).recall("ready?", Visibility(), MemoryFilter(), _MATCH_NOTHING)
    except Exception as error:  # the first request that needs it will report it
        logger.warning("warm-up failed", extra=error_fields(error))
    gc.freeze()  # what is loaded by now lives as long as the process: later collections need not traverse it
