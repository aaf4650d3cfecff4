"""What the first questions to a server would wait for, loaded before they come."""

import gc
import logging

from recollect.domain.breakage import place_of
from recollect.domain.memories import MemoryFilter
from recollect.domain.scopes import Visibility
from recollect.memory.answering import Wish
from recollect.memory.models import ModelsInUse
from recollect.memory.service import MemoryService
from recollect.toolkit.services import Services

logger = logging.getLogger("recollect.app")

# Nothing is as close to anything: no memory is found, and so none counts as used.
_NOTHING = Wish(limit=1, threshold=1.0)


async def warm(services: Services) -> None:
    """Open the store and the index, load the model of this machine and what answers hooks. Nobody else is asked."""
    from recollect.agents.hooks import HookService

    try:
        await services.get(HookService)
        model = (await (await services.get(ModelsInUse)).now()).answering
        if model.choice.provider == "local":
            await (await services.get(MemoryService)).recall("ready?", Visibility(), MemoryFilter(), _NOTHING)
    except Exception as error:  # whoever asks will be told
        logger.warning("a server could not be warmed up", extra=place_of(error))
    gc.freeze()  # what is loaded by now stays: nobody who asks later waits for a search of garbage among it
