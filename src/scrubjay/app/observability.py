"""Assemble what observes a process: audit log, circuit breakers, metrics, traces and status."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from scrubjay import __version__
from scrubjay.app.setting_sources import PREFIX
from scrubjay.app.settings import Settings
from scrubjay.app.store import Store
from scrubjay.core.lazy import lazy_module
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.monitoring.audit.log import AuditLog
from scrubjay.features.monitoring.status import ServiceStatus, StatusSources, status_of
from scrubjay.models.breakers import BreakerRegistry
from scrubjay.models.choices import IN_PROCESS
from scrubjay.models.completion import LanguageModel, UnusableCompleter
from scrubjay.models.unavailable import UnusableEmbedder
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.services import Services

if TYPE_CHECKING:
    from scrubjay.features.monitoring import metrics as metrics_module
    from scrubjay.features.monitoring import tracing
    from scrubjay.features.monitoring.metrics import Metrics, StoreCounts
    from scrubjay.features.monitoring.tracing import CallTracer
    from scrubjay.models import providers
    from scrubjay.native import library as native_library
else:
    metrics_module = lazy_module("scrubjay.features.monitoring.metrics")
    tracing = lazy_module("scrubjay.features.monitoring.tracing")
    providers = lazy_module("scrubjay.models.providers")
    native_library = lazy_module("scrubjay.native.library")

# Families of tools that a setting switches. "procedures" has no tools yet.
SEMANTIC_FAMILY, PROCEDURAL_FAMILY = "knowledge", "procedures"
WEBSOCKET_PATH = "/cortex/websocket"


def _setting(feature: str) -> str:
    return f"{PREFIX}FEATURES_{feature.upper()}=true"


def families_off(settings: Settings) -> Mapping[str, str]:
    """Return the families of tools that are switched off, each with the setting that switches it on."""
    features = settings.features
    switches = {
        SEMANTIC_FAMILY: (features.semantic_store, "semantic_store"),
        PROCEDURAL_FAMILY: (features.procedural_store, "procedural_store"),
    }
    off = {family: _setting(name) for family, (is_on, name) in switches.items() if not is_on}
    for family, is_on in _family_switches(settings).items():
        if not is_on:
            off[family] = f"{PREFIX}{family.upper()}_ENABLED=true"
    return off


def _family_switches(settings: Settings) -> Mapping[str, bool]:
    return {
        "code": settings.code.enabled,
        "files": settings.files.enabled,
        "terminal": settings.terminal.enabled,
        "web": settings.web.enabled,
        "sandbox": settings.sandbox.enabled,
    }


def paths_off(settings: Settings) -> Mapping[str, str]:
    """Return the HTTP paths that are switched off, each with the setting that switches it on."""
    return {} if settings.features.websocket_synapse else {WEBSOCKET_PATH: _setting("websocket_synapse")}


class Observability:
    """Audit log, circuit breakers, metrics and traces of one process, and the sources of its status."""

    def __init__(self, settings: Settings, registry: Registry, services: Services) -> None:
        self._settings = settings
        self._registry = registry
        self._services = services
        self._metrics: Metrics | None = None
        self.count_connections: Callable[[], int] | None = None
        """Return the open connections of the Synapse WebSocket; None while no server offers it."""
        self.breakers = BreakerRegistry(settings.upstreams.limits())
        chosen = settings.audit
        self.audit = AuditLog(
            settings.home, max_bytes=chosen.max_bytes, keep_files=chosen.keep_files, enabled=chosen.enabled
        )
        self.audit.subscribe()
        self.tracer = self._make_tracer()

    def close(self) -> None:
        """Write everything that is buffered. Blocks: call it in a thread."""
        self.audit.close()
        if self._metrics is not None:
            self._metrics.close()

    @property
    def metrics(self) -> "Metrics":
        """The metrics of this process, counted from the first access."""
        if self._metrics is None:
            self._metrics = metrics_module.Metrics(
                self._registry,
                version=__version__,
                breakers=lambda: self.breakers,
                count=self._count,
                audited=lambda: self.audit.is_written,
            )
            self._metrics.subscribe()
        return self._metrics

    def status_sources(self) -> StatusSources:
        features, families = self._settings.features, self._registry.families
        return StatusSources(
            compiled_enabled=features.native_extension,
            compiled_loaded=_compiled_is_loaded,
            semantic_store=features.semantic_store and SEMANTIC_FAMILY in families,
            procedural_store=features.procedural_store and PROCEDURAL_FAMILY in families,
            websocket=lambda: features.websocket_synapse and self.count_connections is not None,
            connections=lambda: self.count_connections() if self.count_connections is not None else 0,
            breakers=self.breakers,
            services=self._service_states,
            is_audit_written=lambda: self.audit.is_written,
            is_traced=self.tracer is not None,
        )

    def _make_tracer(self) -> "CallTracer | None":
        if not self._settings.tracing.enabled:
            return None
        return tracing.call_tracer(__version__)

    async def _count(self) -> "StoreCounts":
        store = await self._services.get(Store)
        jobs = await store.jobs.counts()
        memories = (await store.memories.counts()).memories
        return metrics_module.StoreCounts(memories, {str(state): n for state, n in jobs.items()})

    async def _service_states(self) -> Mapping[str, ServiceStatus]:
        return {"embedding": await self._embedding(), "code_embedding": self._code(), "llm": await self._llm()}

    async def _embedding(self) -> ServiceStatus:
        model = (await (await self._services.get(ModelRegistry)).current()).active
        embedder = model.embedder
        return status_of(
            "embedding",
            self.breakers,
            model=embedder.model,
            fallback="memories are found by keyword only; missing embeddings are computed later",
            is_local=model.choice.provider in IN_PROCESS,
            configuration_problem=embedder.problem.message if isinstance(embedder, UnusableEmbedder) else None,
        )

    def _code(self) -> ServiceStatus:
        fallback = "code is ranked by keyword and by the bundled model"
        choice = self._settings.code.embedding_choice(self._settings.embedding.choice())
        if choice is None:
            return ServiceStatus(status="local", model=None, fallback=fallback)
        is_local = choice.provider in IN_PROCESS
        model = providers.name_of(choice)
        return status_of("code_embedding", self.breakers, model=model, fallback=fallback, is_local=is_local)

    async def _llm(self) -> ServiceStatus:
        fallback = "summaries, facts and answers quote the memories"
        completer = (await self._services.get(LanguageModel)).completer
        if completer is None:
            return ServiceStatus(status="off", model=None, fallback=fallback)
        unusable = completer.problem.message if isinstance(completer, UnusableCompleter) else None
        return status_of("llm", self.breakers, model=completer.model, fallback=fallback, configuration_problem=unusable)


def _compiled_is_loaded() -> bool:
    return native_library.library() is not None
