"""The application: settings, services and tools of a process. Features assemble themselves in `wiring.py`."""

from collections.abc import Callable, Coroutine, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import anyio
import anyio.abc
import anyio.to_thread
from pydantic import BaseModel

from scrubjay.app.call_records import CallRecords
from scrubjay.app.health_checks import HealthChecks
from scrubjay.app.maintenance import Maintenance
from scrubjay.app.observability import Observability, families_off
from scrubjay.app.settings import Settings
from scrubjay.app.store import Store, find_store
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.app.wiring_catalog import WIRING_CATALOG
from scrubjay.compat.profiles import flat_jobs_of, tools_of
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.lazy import lazy_module
from scrubjay.core.policies import SecretsPolicy
from scrubjay.features.chat.persona_models import BasePersona
from scrubjay.features.code.file_changes import FileChanges
from scrubjay.features.hooks.spooled_calls import SpooledCalls
from scrubjay.features.monitoring.audit.log import AuditLog
from scrubjay.features.monitoring.status import StatusSources
from scrubjay.features.sessions.pending_writes import PendingWrites
from scrubjay.features.upstream_mcp.host import SkillHost
from scrubjay.models.breakers import BreakerRegistry
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.health import Health
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.jobs.store import JobStore
from scrubjay.tooling.key_watch import KeyWatch
from scrubjay.tooling.listing import Listing
from scrubjay.tooling.registry import Registry, Toolset
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.served_tools import ServedTools
from scrubjay.tooling.services import Services

if TYPE_CHECKING:
    from scrubjay.app import sqlite_store, warmup
    from scrubjay.features.code import resources as code_resources
    from scrubjay.features.hooks import service as hooks
    from scrubjay.features.hooks.models import HookAnswer, HookCall
    from scrubjay.features.keys import wiring as keys
    from scrubjay.features.keys.authenticator import KeyAuthenticator
    from scrubjay.features.upstream_mcp.service import Skills
    from scrubjay.native import library
    from scrubjay.tooling import resources
else:
    sqlite_store = lazy_module("scrubjay.app.sqlite_store")
    warmup = lazy_module("scrubjay.app.warmup")
    code_resources = lazy_module("scrubjay.features.code.resources")
    hooks = lazy_module("scrubjay.features.hooks.service")
    keys = lazy_module("scrubjay.features.keys.wiring")
    library = lazy_module("scrubjay.native.library")
    resources = lazy_module("scrubjay.tooling.resources")


class Application:
    """The services of one process. No feature is imported, and no file opened, before it is first needed."""

    def __init__(
        self,
        settings: Settings,
        tasks: anyio.abc.TaskGroup,
        *,
        tools: Iterable[Tool] = TOOL_CATALOG,
        adopts_jobs: bool = True,
        own_client: str | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """Background work runs in `tasks`; call `close` after the group has ended."""
        self.settings = settings
        self.registry = Registry(tools, families_off(settings))
        self.services = Services(find_store, WIRING_CATALOG)
        self._runtime = Runtime(
            home=settings.home,
            tasks=tasks,
            clock=clock,
            adopts_jobs=adopts_jobs,
            own_client=own_client,
            default_project=settings.project,
            max_message_bytes=settings.max_body_bytes,
        )
        self.services.provide_ready(Runtime, self._runtime)
        self.observability = Observability(settings, self.registry, self.services)
        self._records = CallRecords(self.services, clock)
        self._spooled = SpooledCalls(self.services)
        self._skill_host = SkillHost(self.services)
        self._key_watch = KeyWatch()
        self._store: Store | None = None
        self._provide()
        self._skill_host.announce()
        self.dispatcher = Dispatcher(self.registry, self.services)
        self._records.subscribe(self.dispatcher.events, history=settings.sessions.history)
        if self.observability.tracer is not None:
            self.observability.tracer.subscribe(self.dispatcher.events)
        self.services.provide_ready(Dispatcher, self.dispatcher)
        shown = tools_of(settings.profile, self.registry) if settings.profile else settings.tools
        self.listing = Listing(self.registry, Toolset(shown), self._records.uses)

    def _provide(self) -> None:
        """Provide the services that only the process can make; the catalogs provide all others."""
        provide_ready = self.services.provide_ready
        for name in Settings.model_fields:
            if isinstance(section := getattr(self.settings, name), BaseModel):
                provide_ready(type(section), section)
        provide_ready(SecretsPolicy, self.settings.secrets)
        provide_ready(BasePersona, BasePersona(self.settings.mira.persona))
        provide_ready(Registry, self.registry)
        provide_ready(BreakerRegistry, self.observability.breakers)
        provide_ready(AuditLog, self.observability.audit)
        provide_ready(Health, HealthChecks(self.services, self.settings.home).health())
        provide_ready(FileChanges, FileChanges())
        provide_ready(SkillHost, self._skill_host)
        provide_ready(KeyWatch, self._key_watch)
        provide_ready(PendingWrites, PendingWrites(self._write_pending))
        # Provided by a factory, because its constructor checks that all services of tools, itself included, exist.
        self.services.provide(Dispatcher, self._dispatcher)
        self.services.provide(Store, self._open_store)
        self.services.provide(JobService, self._start_jobs)
        self.services.provide(StatusSources, self._status_sources)

    async def open(self) -> Store:
        """Open the store now, and take over unfinished jobs if the process adopts them."""
        store = await self.services.get(Store)
        await self.services.get(JobService)
        return store

    async def close(self) -> None:
        """Write pending counts and history, and close everything that was opened."""
        try:
            await self.services.close()
        finally:
            await anyio.to_thread.run_sync(self.observability.close)

    def warm_up(self) -> None:
        """Load in the background what the first requests would otherwise wait for."""
        self._runtime.tasks.start_soon(self._warm)

    async def _warm(self) -> None:
        await warmup.warm(self.services)

    def authenticator(self, *, open_without_keys: bool) -> "KeyAuthenticator":
        """Return the authenticator of HTTP callers; the store is opened by the first request."""
        self._records.authenticator = keys.key_authenticator(
            self.services,
            self.settings.api_key,
            open_without_keys=open_without_keys,
            in_production=self.settings.environment == "production",
        )
        self._key_watch.authenticator = self._records.authenticator
        return self._records.authenticator

    @property
    def served_tools(self) -> ServedTools:
        flat_jobs = flat_jobs_of(self.settings.profile)
        return ServedTools(self.dispatcher, self.listing, lambda: self.resources, flat_jobs)

    @cached_property
    def resources(self) -> "resources.Resources":
        offered = code_resources.RESOURCES if self.settings.code.enabled else ()
        return resources.Resources(offered, self.services)

    @property
    def skills(self) -> "Skills":
        """The upstream MCP servers whose tools are offered. Each is started on first use."""
        return self._skill_host.skills

    def learn_skills(self) -> None:
        """Ask the upstream servers for tools that are not cached, in the background. Later calls do nothing."""
        self._skill_host.discover_tools()

    def on_tools_change(self, notify: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Call `notify` whenever the list of tools changes. Subscribing twice has no effect."""
        self._skill_host.subscribers.add(notify)

    async def answer_hook(self, call: "HookCall") -> "HookAnswer":
        """Return the answer to a hook of an agent."""
        return await (await self.services.get(hooks.HookService)).answer(call)

    def store_states(self) -> "dict[str, Literal['healthy', 'pending', 'error']]":
        """Return the state of Mimo's three stores. Relations are stored with memories; procedures do not exist yet."""
        memories: Literal["healthy", "pending", "error"] = "pending"
        if self._store is not None:
            memories = "healthy" if self._store.problem() is None else "error"
        return {"episodic": memories, "semantic": memories, "procedural": "pending"}

    async def _dispatcher(self) -> Dispatcher:
        return self.dispatcher

    async def _open_store(self) -> Store:
        settings, start_soon = self.settings, self._runtime.tasks.start_soon
        self._store = await sqlite_store.SqliteStore.open(
            settings.home, clock=self._runtime.clock, lease_seconds=settings.jobs.lease_seconds
        )
        self.services.on_close(self._store.close)
        self.services.on_close(self._records.close)
        start_soon(self._records.write_counts_periodically)
        start_soon(self._records.write_history_when_due)
        start_soon(self._spooled.run)
        Maintenance(settings, self.services, self.dispatcher, self._runtime).start(self._store)
        start_soon(self.services.get, JobService)
        return self._store

    async def _start_jobs(self) -> JobService:
        return JobService(
            await self.services.get(JobStore),
            self.dispatcher.job_handlers(),
            self._runtime.tasks,
            lease_seconds=self.settings.jobs.lease_seconds,
            adopts=self._runtime.adopts_jobs,
        )

    async def _status_sources(self) -> StatusSources:
        library.use_library(self.settings.features.native_extension)
        return self.observability.status_sources()

    async def _write_pending(self) -> None:
        await self._spooled.write()
        await self._records.write_history()
