"""Store the calls of hooks that were spooled while no process had the store open."""

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import anyio

from scrubjay.core.errors import ScrubjayError
from scrubjay.core.lazy import lazy_module
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services

if TYPE_CHECKING:
    from scrubjay.features.hooks import service, spool
else:
    service = lazy_module("scrubjay.features.hooks.service")
    spool = lazy_module("scrubjay.features.hooks.spool")

logger = logging.getLogger("scrubjay.features.hooks")

# Seconds between two reads of the spool folder.
POLL_SECONDS = 2.0


class SpooledCalls:
    """Moves spooled calls into the store, one process at a time per call."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._home = services.ready(Runtime).home
        self._lock = anyio.Lock()

    async def run(self) -> None:
        """Write spooled calls every `POLL_SECONDS` until cancelled."""
        while True:
            await anyio.sleep(POLL_SECONDS)
            await self.write()

    async def write(self) -> None:
        """Write all spooled calls; a call that cannot be stored goes back to the spool and is logged."""
        if not (self._home / spool.FOLDER).exists():  # no hook has run on this store
            return
        async with self._lock:
            for key, at, call in spool.take(self._home):
                try:
                    hooks = await self._services.get(service.HookService)
                    await hooks.record(call, datetime.fromtimestamp(at, UTC), key)
                except ScrubjayError as error:
                    spool.put_back(self._home, key)
                    logger.warning("hook call not stored; it stays in the spool", extra={"problem": error.message})
                    return
