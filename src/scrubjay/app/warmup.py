"""What the first questions to a server would wait for, loaded before they come."""

import gc
import logging

from scrubjay.core.error_location import place_of
from scrubjay.core.scopes import Visibility
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.memory.models import MemoryFilter
from scrubjay.features.memory.recall import Wish
from scrubjay.features.memory.service import MemoryService
from scrubjay.models.choices import IN_PROCESS
from scrubjay.tooling.services import Services

logger = logging.getLogger("scrubjay.app")

# Nothing is as close to anything: no memory is found, and so none counts as used.
_NOTHING = Wish(limit=1, threshold=1.0)


async def warm(services: Services) -> None:
    """Open the store and the index, load the model of this machine and what answers hooks. Nobody else is asked."""
    from scrubjay.features.hooks.service import HookService

    try:
        await services.get(HookService)
        model = (await (await services.get(ModelsInUse)).now()).answering
        if model.choice.provider in IN_PROCESS:
            await (await services.get(MemoryService)).recall("ready?", Visibility(), MemoryFilter(), _NOTHING)
    except Exception as error:  # whoever asks will be told
        logger.warning("a server could not be warmed up", extra=place_of(error))
    gc.freeze()  # what is loaded by now stays: nobody who asks later waits for a search of garbage among it
