"""Inferring what follows without being asked, shortly after something was taught."""

import logging
from time import monotonic

import anyio

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.error_location import place_of
from scrubjay.core.errors import ScrubjayError
from scrubjay.features.knowledge.inference import Inferred, infer
from scrubjay.features.knowledge.models import Generation, GraphScope
from scrubjay.features.knowledge.store import Edges, KnowledgeStore

logger = logging.getLogger("scrubjay.features.knowledge")

# It begins when nothing was taught for so long, or after so long in any case.
QUIET_SECONDS = 0.5
LONGEST_WAIT = 5.0
# It may take a tenth of the time: after a long run it rests for longer.
REST = 9.0
# Another process may teach meanwhile; then it is done anew, so often at most.
TRIES = 3


class BackgroundInference:
    """Keeps what follows in step with what is stored.

    What was inferred is written only when the graph is still the one that it was inferred from, so that several
    processes may do this at once: none can leave something that does not follow.
    """

    def __init__(self, store: KnowledgeStore, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._clock = clock
        self._taught = anyio.Event()
        self.running = False

    def wake(self) -> None:
        """Something was taught or forgotten."""
        self._taught.set()

    async def keep(self) -> None:
        """Go on until it is cancelled; what fails is told, and tried again the next time."""
        while True:
            await self._taught.wait()
            await self._quiet()
            started = monotonic()
            try:
                await self.catch_up()
            except ScrubjayError as error:
                logger.warning("nothing was inferred", extra={"problem": error.message})
            except Exception as error:  # a bug: it must not end the server
                logger.error("inferring broke", extra=place_of(error))
            await anyio.sleep(REST * (monotonic() - started))

    async def catch_up(self) -> int:
        """Infer for all graphs that changed; how many these were."""
        behind = await self._store.behind()
        self.running = True
        try:
            for scope in behind:
                await self.renew(scope)
        finally:
            self.running = False
        return len(behind)

    async def renew(self, scope: GraphScope) -> Inferred | None:
        """Infer for one graph and keep it; None when it changed again and again meanwhile."""

        def work(edges: Edges) -> tuple[Generation, Inferred]:
            return edges.generation, infer(edges, scope)

        for _ in range(TRIES):
            now = self._clock()
            made_of, inferred = await self._store.walk(scope, work, now)
            if await self._store.keep_inferred(scope, made_of, inferred.inferences, inferred.problem, now):
                return inferred
        return None

    async def _quiet(self) -> None:
        """Wait until nothing has been taught for a while."""
        with anyio.move_on_after(LONGEST_WAIT):
            while self._taught.is_set():
                self._taught = anyio.Event()
                with anyio.move_on_after(QUIET_SECONDS):
                    await self._taught.wait()
        self._taught = anyio.Event()
