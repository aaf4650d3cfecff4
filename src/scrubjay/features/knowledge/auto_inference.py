"""Run inference in the background after the graph changed."""

import logging
from time import monotonic

import anyio

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import ScrubjayError
from scrubjay.features.knowledge.inference import InferenceResult, infer
from scrubjay.features.knowledge.models import GraphGeneration, GraphScope
from scrubjay.features.knowledge.store import GraphReader, KnowledgeStore

logger = logging.getLogger("scrubjay.features.knowledge")

# Debounce: a run starts after this long without a change, but at the latest after MAX_WAIT_SECONDS.
DEBOUNCE_SECONDS = 0.5
MAX_WAIT_SECONDS = 5.0
# Pause after a run, as a multiple of its duration: inference uses at most a tenth of the time.
REST_RATIO = 9.0
# Attempts for one graph when another process changes it during inference.
MAX_ATTEMPTS = 3


class BackgroundInference:
    """Keeps the inferred triples up to date with the stored ones.

    A result is written only if the graph still has the generation it was derived from. Several processes can therefore
    run this at the same time without storing a triple that does not follow.
    """

    def __init__(self, store: KnowledgeStore, *, clock: Clock = system_clock) -> None:
        self._store = store
        self._clock = clock
        self._changed = anyio.Event()
        self.running = False

    def wake(self) -> None:
        """Schedule a run, because triples were stored or deleted."""
        self._changed.set()

    async def run(self) -> None:
        """Run until cancelled. A failed run is logged and retried after the next change."""
        while True:
            await self._changed.wait()
            await self._debounce()
            started = monotonic()
            try:
                await self.catch_up()
            except ScrubjayError as error:
                logger.warning("inference failed", extra={"problem": error.message})
            except Exception as error:  # a bug must not end the server
                logger.error("inference failed unexpectedly", extra=error_fields(error))
            await anyio.sleep(REST_RATIO * (monotonic() - started))

    async def catch_up(self) -> int:
        """Run inference for all changed graphs; return their number."""
        outdated = await self._store.outdated_graphs()
        self.running = True
        try:
            for scope in outdated:
                await self.infer_graph(scope)
        finally:
            self.running = False
        return len(outdated)

    async def infer_graph(self, scope: GraphScope) -> InferenceResult | None:
        """Run inference for one graph and store the result; None when the graph changed during every attempt."""

        def work(graph: GraphReader) -> tuple[GraphGeneration, InferenceResult]:
            return graph.generation, infer(graph, scope)

        for _ in range(MAX_ATTEMPTS):
            now = self._clock()
            generation, inferred = await self._store.read_graph(scope, work, now)
            if await self._store.replace_inferred(scope, generation, inferred.inferences, inferred.problem, now):
                return inferred
        return None

    async def _debounce(self) -> None:
        """Wait until the graph has not changed for `DEBOUNCE_SECONDS`, at most `MAX_WAIT_SECONDS`."""
        with anyio.move_on_after(MAX_WAIT_SECONDS):
            while self._changed.is_set():
                self._changed = anyio.Event()
                with anyio.move_on_after(DEBOUNCE_SECONDS):
                    await self._changed.wait()
        self._changed = anyio.Event()
