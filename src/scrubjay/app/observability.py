"""Putting together what looks after a process: the audit log, the breakers, the numbers, the spans, the switches."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from scrubjay import __version__
from scrubjay.app.setting_sources import PREFIX
from scrubjay.app.settings import Settings
from scrubjay.app.store import Store
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.monitoring.audit.log import AuditLog
from scrubjay.features.monitoring.status import Parts, ServiceStatus, status_of
from scrubjay.models.breakers import Breakers
from scrubjay.models.choices import IN_PROCESS
from scrubjay.models.completion import LanguageModel, UnusableCompleter
from scrubjay.models.unavailable import UnusableEmbedder
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.services import Services

if TYPE_CHECKING:
    from scrubjay.features.monitoring.metrics import Metrics, StoreCounts
    from scrubjay.features.monitoring.tracing import CallTracer

# Which families of tools a switch is for. Those that are not there yet will obey it as soon as they are.
SEMANTIC_FAMILY, PROCEDURAL_FAMILY = "knowledge", "procedures"
WEBSOCKET_PATH = "/cortex/websocket"


def _setting(feature: str) -> str:
    return f"{PREFIX}FEATURES_{feature.upper()}=true"


def families_off(settings: Settings) -> Mapping[str, str]:
    """The families of tools that are switched off, each with what would switch it on."""
    features = settings.features
    switches = {
        SEMANTIC_FAMILY: (features.semantic_store, "semantic_store"),
        PROCEDURAL_FAMILY: (features.procedural_store, "procedural_store"),
    }
    off = {family: _setting(name) for family, (is_on, name) in switches.items() if not is_on}
    for family, is_on in _workbench(settings).items():
        if not is_on:
            off[family] = f"{PREFIX}{family.upper()}_ENABLED=true"
    return off


def _workbench(settings: Settings) -> Mapping[str, bool]:
    return {
        "files": settings.files.enabled,
        "terminal": settings.terminal.enabled,
        "web": settings.web.enabled,
        "sandbox": settings.sandbox.enabled,
    }


def doors_off(settings: Settings) -> Mapping[str, str]:
    """The paths that are switched off, each with what would switch it on."""
    return {} if settings.features.websocket_synapse else {WEBSOCKET_PATH: _setting("websocket_synapse")}


class Oversight:
    """What one process knows of itself."""

    def __init__(self, settings: Settings, registry: Registry, services: Services) -> None:
        self._settings = settings
        self._registry = registry
        self._services = services
        self._metrics: Metrics | None = None
        self.count_connections: Callable[[], int] | None = None
        """How many are connected by the WebSocket; None where there is none, as who serves it says."""
        self.breakers = Breakers(settings.upstreams.limits())
        chosen = settings.audit
        self.audit = AuditLog(
            settings.home, max_bytes=chosen.max_bytes, keep_files=chosen.keep_files, enabled=chosen.enabled
        )
        self.audit.subscribe()
        self.tracer = self._make_tracer()

    def close(self) -> None:
        """Write what is left to write; for another thread than that of the event loop."""
        self.audit.close()
        if self._metrics is not None:
            self._metrics.close()

    @property
    def metrics(self) -> "Metrics":
        """The numbers of this process, counted from the first time that somebody asks for this."""
        if self._metrics is None:
            from scrubjay.features.monitoring.metrics import Metrics

            self._metrics = Metrics(
                self._registry,
                version=__version__,
                breakers=lambda: self.breakers,
                count=self._count,
                audited=lambda: self.audit.is_written,
            )
            self._metrics.subscribe()
        return self._metrics

    def parts(self) -> Parts:
        features, families = self._settings.features, self._registry.families
        return Parts(
            compiled_wanted=features.rust_nifs,
            compiled_loaded=_compiled_is_loaded,
            semantic_store=features.semantic_store and SEMANTIC_FAMILY in families,
            procedural_store=features.procedural_store and PROCEDURAL_FAMILY in families,
            websocket=lambda: features.websocket_synapse and self.count_connections is not None,
            connections=lambda: self.count_connections() if self.count_connections is not None else 0,
            breakers=self.breakers,
            services=self._service_states,
            audited=lambda: self.audit.is_written,
            traced=self.tracer is not None,
        )

    def _make_tracer(self) -> "CallTracer | None":
        if not self._settings.tracing.enabled:
            return None
        from scrubjay.features.monitoring.tracing import call_tracer

        return call_tracer(__version__)

    async def _count(self) -> "StoreCounts":
        from scrubjay.features.monitoring.metrics import StoreCounts

        store = await self._services.get(Store)
        jobs = await store.jobs.counts()
        return StoreCounts((await store.memories.counts()).memories, {str(state): n for state, n in jobs.items()})

    async def _service_states(self) -> Mapping[str, ServiceStatus]:
        return {"embedding": await self._embedding(), "code_embedding": self._code(), "llm": await self._llm()}

    async def _embedding(self) -> ServiceStatus:
        model = (await (await self._services.get(ModelsInUse)).now()).answering
        embedder = model.embedder
        return status_of(
            "embedding",
            self.breakers,
            model=embedder.model,
            instead="memories are found by their words, and what lacks its meaning gets it later",
            is_local=model.choice.provider in IN_PROCESS,
            unusable=embedder.problem.message if isinstance(embedder, UnusableEmbedder) else None,
        )

    def _code(self) -> ServiceStatus:
        from scrubjay.models.providers import name_of

        instead = "code is ranked by its words and by the bundled model"
        choice = self._settings.code.embedding_choice(self._settings.embedding.choice())
        if choice is None:
            return ServiceStatus(status="local", model=None, instead=instead)
        is_local = choice.provider in IN_PROCESS
        return status_of("code_embedding", self.breakers, model=name_of(choice), instead=instead, is_local=is_local)

    async def _llm(self) -> ServiceStatus:
        instead = "summaries, facts and answers are made of the memories' own words"
        completer = (await self._services.get(LanguageModel)).completer
        if completer is None:
            return ServiceStatus(status="off", model=None, instead=instead)
        unusable = completer.problem.message if isinstance(completer, UnusableCompleter) else None
        return status_of("llm", self.breakers, model=completer.model, instead=instead, unusable=unusable)


def _compiled_is_loaded() -> bool:
    from scrubjay.native.library import library

    return library() is not None
