"""Stored records of a process's calls: uses of tools and keys, and the call history of sessions."""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

import anyio

from scrubjay.core.clock import Clock
from scrubjay.core.errors import ScrubjayError
from scrubjay.core.lazy import lazy_module
from scrubjay.features.sessions.call_history import CallRecorder
from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.usage.counter import UsageCounter
from scrubjay.tooling.usage.store import UsageStore

if TYPE_CHECKING:
    from scrubjay.features.keys.authenticator import KeyAuthenticator
    from scrubjay.features.projects import service as projects
    from scrubjay.features.sessions import service as sessions
    from scrubjay.features.sessions import store as session_store
else:
    projects = lazy_module("scrubjay.features.projects.service")
    sessions = lazy_module("scrubjay.features.sessions.service")
    session_store = lazy_module("scrubjay.features.sessions.store")

logger = logging.getLogger("scrubjay.app")

# Seconds between two writes of counts. Losing half a minute of them in a crash is acceptable, a write per call is not.
USAGE_SECONDS = 30.0


class CallRecords:
    """Call counts and call history of one process. A write that fails is logged and retried with the next one."""

    def __init__(self, services: Services, clock: Clock) -> None:
        self._services = services
        self.usage = UsageCounter()
        self.history = CallRecorder(clock)
        self.authenticator: KeyAuthenticator | None = None
        """Counts uses of keys; None where no HTTP server runs."""

    def subscribe(self, events: EventBus, *, history: bool) -> None:
        """Count every finished call, and add it to the history of its session if `history` is true."""
        self.usage.subscribe(events)
        if history:
            self.history.subscribe(events)

    async def uses(self) -> Mapping[str, int]:
        """Return the number of uses by tool; empty if the store cannot be opened, which calls will report."""
        try:
            return await (await self._services.get(UsageStore)).counts()
        except ScrubjayError as error:
            logger.warning("cannot read the use counts of tools", extra={"problem": error.message})
            return {}

    async def write_counts_periodically(self) -> None:
        """Write the counts every `USAGE_SECONDS` until cancelled."""
        while True:
            await anyio.sleep(USAGE_SECONDS)
            await self._write_counts()

    async def write_history_when_due(self) -> None:
        """Write the history each time it is due, until cancelled."""
        while True:
            await self.history.wait_until_due()
            await self.write_history()

    async def close(self) -> None:
        """Write everything that is pending, and end the session of the process's own client."""
        await self._write_counts()
        await self.write_history()
        await self._leave_session()

    async def write_history(self) -> None:
        """Write the calls recorded since the last write."""
        try:
            store = await self._services.get(session_store.SessionStore)
            project = await (await self._services.get(projects.ProjectService)).active(None)
            await self.history.flush(store, project.id if project else None)
        except ScrubjayError as error:
            logger.warning("cannot write the call history", extra={"problem": error.message})

    async def _write_counts(self) -> None:
        try:
            await self.usage.flush(await self._services.get(UsageStore))
            if self.authenticator is not None:
                await self.authenticator.store_uses()
        except ScrubjayError as error:
            logger.warning("cannot write the call counts", extra={"problem": error.message})

    async def _leave_session(self) -> None:
        if (client := self._services.ready(Runtime).own_client) is None:
            return
        try:
            await (await self._services.get(sessions.SessionService)).leave(client)
        except ScrubjayError as error:
            logger.warning("cannot end the session", extra={"problem": error.message})
