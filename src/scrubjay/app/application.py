"""The wiring: which service is made of what, and how long each lives."""

import logging
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anyio
import anyio.abc
import anyio.to_thread

from scrubjay.app.health_checks import Checks
from scrubjay.app.maintenance import Upkeep
from scrubjay.app.observability import Oversight, families_off
from scrubjay.app.settings import Settings
from scrubjay.app.store import Store
from scrubjay.app.tool_catalog import ALL
from scrubjay.compat.profiles import tools_of
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.error_location import place_of
from scrubjay.core.errors import ScrubjayError
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.episodes.wiring import EpisodeServices
from scrubjay.features.knowledge.wiring import KnowledgeServices
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.service import Draft, MemoryService
from scrubjay.features.monitoring.audit.log import AuditLog
from scrubjay.features.projects.service import ProjectService
from scrubjay.features.sessions.call_history import CallHistory
from scrubjay.features.upstream_mcp.paths import are_there
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.health import Health
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.listing import Listing
from scrubjay.tooling.registry import Registry, Toolset
from scrubjay.tooling.security_events import security_event
from scrubjay.tooling.served_tools import Offering
from scrubjay.tooling.services import Services
from scrubjay.tooling.usage.counter import UsageCounter

if TYPE_CHECKING:
    from scrubjay.code_index.reranking.service import CodeEmbedding
    from scrubjay.code_index.service import ChangeKind, CodeService, FileHeard
    from scrubjay.code_index.store import CodeStore
    from scrubjay.core.write_rules import WritingRules
    from scrubjay.features.answers.service import Asker
    from scrubjay.features.chat.personas import Personas
    from scrubjay.features.code.sqlite import SqliteCode
    from scrubjay.features.code_links.linker import Linker
    from scrubjay.features.code_links.service import Grounding
    from scrubjay.features.delegation.events import AgentEvents
    from scrubjay.features.delegation.service import CodingAgents
    from scrubjay.features.discussions.service import Discussions
    from scrubjay.features.embeddings.model_switch import EmbeddingChange
    from scrubjay.features.facts.service import FactExtractor
    from scrubjay.features.forgetting.service import Forgetter
    from scrubjay.features.hooks.models import HookAnswer, HookCall
    from scrubjay.features.hooks.service import HookService
    from scrubjay.features.keys.authenticator import KeyDoorkeeper
    from scrubjay.features.keys.store import KeyStore
    from scrubjay.features.memory.compaction import Compactor
    from scrubjay.features.memory.corrections import Corrections
    from scrubjay.features.memory.erasure import Eraser
    from scrubjay.features.memory.links import CodeLink
    from scrubjay.features.memory.rebuild import Rebuilder
    from scrubjay.features.monitoring.status import Parts
    from scrubjay.features.permissions.service import PermissionService
    from scrubjay.features.sandbox.service import Sandbox
    from scrubjay.features.sessions.briefing import Briefing
    from scrubjay.features.sessions.export import SessionExporter
    from scrubjay.features.sessions.service import SessionService
    from scrubjay.features.summaries.service import Summariser
    from scrubjay.features.summaries.startup import StartupSummaries
    from scrubjay.features.tasks.goals import GoalService
    from scrubjay.features.tasks.service import TaskService
    from scrubjay.features.transfer.exporter import Exporter
    from scrubjay.features.transfer.folders import TransferFolders
    from scrubjay.features.transfer.importer import Importer
    from scrubjay.features.upstream_mcp.catalog import RefusedSkill
    from scrubjay.features.upstream_mcp.schemas import SkillTool
    from scrubjay.features.upstream_mcp.service import Skills
    from scrubjay.features.working_memory.consolidation import Consolidator
    from scrubjay.features.working_memory.service import WorkingMemory
    from scrubjay.features.working_memory.thinking import Thinking
    from scrubjay.features.workspace.files.service import FileService
    from scrubjay.features.workspace.screen.service import Sonar
    from scrubjay.features.workspace.terminal.service import Terminal
    from scrubjay.features.workspace.web.fetcher import Fetcher
    from scrubjay.features.workspace.web.search import WebSearch
    from scrubjay.models.completion import LanguageModel
    from scrubjay.tooling.resources import Resources

logger = logging.getLogger("scrubjay.app")

# Counts of calls are worth little: losing half a minute of them to a crash is fine, a write per call is not.
USAGE_SECONDS = 30.0
# What is kept of repositories; there is no such file until one is indexed.
CODE_DATABASE = "code.db"
# Questions about code whose meaning is not asked for again: some thousand.
QUESTION_CACHE_BYTES = 8 * 1024 * 1024
# How often it is looked whether hooks of agents left something to keep.
TOLD_SECONDS = 2.0


def _report_refused(skill: "RefusedSkill") -> None:
    security_event("skill_refused", tool=skill.name, reason=skill.reason.value)


class Application:
    """One process's services. Nothing heavy is made before it is first needed."""

    def __init__(
        self,
        settings: Settings,
        tasks: anyio.abc.TaskGroup,
        *,
        tools: Iterable[Tool] = ALL,
        adopts_jobs: bool = True,
        own_client: str | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """What goes on beside the calls runs in `tasks`; `close` belongs after its end."""
        self._clock = clock
        self.settings = settings
        self._quota = Quota(
            memories_per_client=settings.quota.memories_per_client,
            writes_per_minute=settings.quota.writes_per_minute,
        )
        self.registry = Registry(tools, families_off(settings))
        self.services = Services()
        self.oversight = Oversight(settings, self.registry, self.services)
        self._usage = UsageCounter()
        self._history = CallHistory(clock)
        self._telling = anyio.Lock()
        self._adopts_jobs = adopts_jobs
        self._own_client = own_client
        self._tasks = tasks
        self._store: Store | None = None
        self._code: CodeStore | None = None
        self._code_embedding: CodeEmbedding | None = None
        self._models: ModelsInUse | None = None
        self._memories: MemoryService | None = None
        self._language_model: LanguageModel | None = None
        self._web_search: WebSearch | None = None
        self._tools_changed: set[Callable[[], Coroutine[Any, Any, None]]] = set()
        self._doorkeeper: KeyDoorkeeper | None = None
        self.on_file_change: FileHeard | None = None
        self.agent_events: AgentEvents | None = None
        """Who is told what agents do; None where nobody can listen."""
        self._provide()
        self._learns_skills = False
        if are_there(self._skills_file):
            self.skills.announce()
        self.dispatcher = Dispatcher(self.registry, self.services)
        self._usage.subscribe(self.dispatcher.events)
        if settings.sessions.history:
            self._history.subscribe(self.dispatcher.events)
        if self.oversight.tracer is not None:
            self.oversight.tracer.subscribe(self.dispatcher.events)
        shown = tools_of(settings.profile, self.registry) if settings.profile else settings.tools
        self.listing = Listing(self.registry, Toolset(shown), self._uses)

    def doorkeeper(self, *, open_without_keys: bool) -> "KeyDoorkeeper":
        """Who lets callers in; the store is opened when the first one comes."""
        from scrubjay.features.keys.authenticator import KeyDoorkeeper

        async def keys() -> "KeyStore":
            return (await self.services.get(Store)).keys

        settings = self.settings
        self._doorkeeper = KeyDoorkeeper(
            keys,
            settings_key=settings.api_key.get_secret_value() if settings.api_key else None,
            open_without_keys=open_without_keys,
            in_production=settings.environment == "production",
            clock=self._clock,
        )
        return self._doorkeeper

    @property
    def offering(self) -> Offering:
        return Offering(self.dispatcher, self.listing, lambda: self.resources)

    @cached_property
    def resources(self) -> "Resources":
        from scrubjay.features.code.resources import RESOURCES
        from scrubjay.tooling.resources import Resources

        return Resources(RESOURCES, self.services)

    def store_states(self) -> "dict[str, Literal['healthy', 'pending']]":
        """Which of Mimo's stores are open. There are no procedures yet; relations are kept beside memories."""
        memories = "healthy" if self._store is not None else "pending"
        return {"episodic": memories, "semantic": memories, "procedural": "pending"}

    async def close(self) -> None:
        """Keep the counts and close what was opened."""
        try:
            await self._close()
        finally:
            await anyio.to_thread.run_sync(self.oversight.close)

    async def _close(self) -> None:
        if self._models is not None:
            await self._models.close()
        if self._language_model is not None and self._language_model.completer is not None:
            await self._language_model.completer.close()
        if self._web_search is not None:
            await self._web_search.close()
        if self._code_embedding is not None:
            await self._code_embedding.close()
        if self._code is not None:
            await self._code.close()
        if self._store is None:
            return
        await self._write_counts(self._store)
        await self._write_history()
        await self._leave_session()
        if self._memories is not None:
            await self._memories.uses.flush()
        await self._store.close()

    async def open(self) -> Store:
        """Open the store now, and let this process take over unfinished jobs."""
        store = await self.services.get(Store)
        await self.services.get(JobService)
        return store

    async def answer_hook(self, call: "HookCall") -> "HookAnswer":
        """What to answer an agent's program at a moment that it tells of."""
        from scrubjay.features.hooks.service import HookService

        return await (await self.services.get(HookService)).answer(call)

    def when_tools_change(self, tell: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have this called whenever the tools are others; to ask for it again changes nothing."""
        self._tools_changed.add(tell)

    @cached_property
    def skills(self) -> "Skills":
        """Other servers whose tools are ours; none of them runs before it is needed."""
        from scrubjay.features.upstream_mcp.configuration import COMMANDS, OTHER_COMMANDS, VARIABLES, Policy
        from scrubjay.features.upstream_mcp.process import Surroundings
        from scrubjay.features.upstream_mcp.service import SkillRules, Skills
        from scrubjay.isolation.limits import Bounds

        chosen, home = self.settings.skills, self.settings.home
        rules = SkillRules(
            file=self._skills_file,
            cache_folder=home / "derived" / "skills",
            policy=Policy(
                {**dict.fromkeys(chosen.commands, OTHER_COMMANDS), **COMMANDS}, VARIABLES | set(chosen.variables)
            ),
            surroundings=Surroundings(home, Bounds(memory_bytes=chosen.memory_bytes), self.settings.max_body_bytes),
            max_processes=chosen.max_processes,
            pause_seconds=chosen.pause_seconds,
        )
        return Skills(rules, self._tasks, self._publish_skills, report=_report_refused, clock=self._clock)

    def warm_up(self) -> None:
        """Load what the first questions would wait for, while others are answered."""
        from scrubjay.app.warmup import warm

        self._tasks.start_soon(warm, self.services)

    def learn_skills(self) -> None:
        """Ask those skills for their tools that never told them, once."""
        if not self._learns_skills and are_there(self._skills_file):
            self._learns_skills = True
            self._tasks.start_soon(self.skills.learn)

    @property
    def _skills_file(self) -> Path:
        return self.settings.home / self.settings.skills.file

    async def _get_skills(self) -> "Skills":
        return self.skills

    def _publish_skills(self, found: "Sequence[SkillTool]") -> "Sequence[SkillTool]":
        from scrubjay.features.upstream_mcp.forwarded_tools import tools_of_skills

        guests = tools_of_skills(found, self._get_skills)
        taken = {id(guest) for guest in self.registry.welcome(guests)}
        for tell in self._tools_changed:
            self._tasks.start_soon(self._tell_tools_changed, tell)
        return [tool for tool, guest in zip(found, guests, strict=True) if id(guest) in taken]

    async def _tell_tools_changed(self, tell: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await tell()
        except Exception as error:  # a client that is just leaving must not end the server
            logger.warning("clients were not told of other tools", extra=place_of(error))

    # -- how each service is made --------------------------------------------------------------------

    def _provide(self) -> None:
        provide, provide_named = self.services.provide, self.services.provide_named
        provide(Dispatcher, self._dispatcher)
        provide(Store, self._open_store)
        provide(JobService, self._start_jobs)
        provide(MemoryService, self._memory)
        KnowledgeServices(self.services, self._tasks, self._writing_rules, self._clock).provide()
        EpisodeServices(self.services, self._tasks, self._writing_rules, self._clock).provide()
        provide_named("scrubjay.features.memory.corrections.Corrections", self._corrections)
        provide_named("scrubjay.features.memory.erasure.Eraser", self._eraser)
        provide(ProjectService, self._projects)
        provide_named("scrubjay.features.sessions.service.SessionService", self._sessions)
        provide_named("scrubjay.features.sessions.briefing.Briefing", self._briefing)
        provide_named("scrubjay.features.sessions.export.SessionExporter", self._session_exporter)
        provide_named("scrubjay.features.memory.rebuild.Rebuilder", self._rebuilder)
        provide_named("scrubjay.features.memory.compaction.Compactor", self._compactor)
        provide(ModelsInUse, self._models_in_use)
        provide_named("scrubjay.features.embeddings.model_switch.EmbeddingChange", self._embedding_change)
        provide_named("scrubjay.features.forgetting.service.Forgetter", self._forgetter)
        provide_named("scrubjay.models.completion.LanguageModel", self._make_language_model)
        provide_named("scrubjay.features.facts.service.FactExtractor", self._fact_extractor)
        provide_named("scrubjay.features.summaries.service.Summariser", self._summariser)
        provide_named("scrubjay.features.summaries.startup.StartupSummaries", self._startup_summaries)
        provide_named("scrubjay.features.transfer.exporter.Exporter", self._exporter)
        provide_named("scrubjay.features.transfer.importer.Importer", self._importer)
        provide_named("scrubjay.features.working_memory.consolidation.Consolidator", self._consolidator)
        provide_named("scrubjay.features.working_memory.service.WorkingMemory", self._working)
        provide_named("scrubjay.features.working_memory.thinking.Thinking", self._thinking)
        provide_named("scrubjay.features.answers.service.Asker", self._asker)
        provide_named("scrubjay.code_index.service.CodeService", self._code_service)
        provide_named("scrubjay.features.code_links.linker.Linker", self._linker)
        provide_named("scrubjay.features.code_links.service.Grounding", self._grounding)
        provide_named("scrubjay.features.memory.link_review.LinkReviewer", self._link_reviewer)
        provide_named("scrubjay.features.tasks.service.TaskService", self._task_service)
        provide_named("scrubjay.features.tasks.goals.GoalService", self._goal_service)
        provide_named("scrubjay.features.permissions.service.PermissionService", self._permissions)
        provide_named("scrubjay.features.hooks.service.HookService", self._hooks)
        provide_named("scrubjay.features.delegation.service.CodingAgents", self._coding_agents)
        provide_named("scrubjay.features.discussions.service.Discussions", self._discussions)
        provide_named("scrubjay.features.chat.personas.Personas", self._personas)
        provide_named("scrubjay.features.upstream_mcp.service.Skills", self._get_skills)
        provide_named("scrubjay.features.workspace.files.service.FileService", self._files)
        provide_named("scrubjay.features.workspace.terminal.service.Terminal", self._terminal)
        provide_named("scrubjay.features.workspace.screen.service.Sonar", self._sonar)
        provide_named("scrubjay.features.workspace.web.fetcher.Fetcher", self._fetcher)
        provide_named("scrubjay.features.sandbox.service.Sandbox", self._sandbox)
        provide_named("scrubjay.features.workspace.web.search.WebSearch", self._make_web_search)
        self.services.provide_ready(AuditLog, self.oversight.audit)
        self.services.provide_ready(Registry, self.registry)
        provide_named("scrubjay.features.monitoring.status.Parts", self._parts)
        self.services.provide_ready(Health, Checks(self.services, self.settings.home).health())

    async def _files(self) -> "FileService":
        from scrubjay.features.workspace.wiring import file_service

        return file_service(self.settings)

    async def _terminal(self) -> "Terminal":
        from scrubjay.features.workspace.wiring import terminal

        return terminal(self.settings, self._tasks, self._clock)

    async def _sonar(self) -> "Sonar":
        from scrubjay.features.workspace.screen.service import Sonar

        return Sonar(os.environ)

    async def _fetcher(self) -> "Fetcher":
        from scrubjay.features.workspace.wiring import fetcher

        return fetcher(self.settings)

    async def _sandbox(self) -> "Sandbox":
        from scrubjay.features.sandbox.wiring import sandbox

        return sandbox(self.settings, self._tasks)

    async def _make_web_search(self) -> "WebSearch":
        from scrubjay.features.workspace.web.search import web_search

        chosen = self.settings.web
        self._web_search = web_search(chosen.search_url, chosen.search_key, os.environ, self.oversight.breakers)
        return self._web_search

    async def _models_in_use(self) -> ModelsInUse:
        from scrubjay.models.embedding_cache import VectorCache
        from scrubjay.models.providers import embedder_for

        chosen = self.settings.embedding
        make = partial(
            embedder_for,
            environment=os.environ,
            cache=VectorCache(chosen.cache_bytes),
            breakers=self.oversight.breakers,
        )
        store = await self.services.get(Store)
        self._models = ModelsInUse(store.embeddings, chosen.choice(), make, rights=chosen.caller_rights())
        return self._models

    async def _make_language_model(self) -> "LanguageModel":
        from scrubjay.models.completion import LanguageModel, UnusableCompleter

        self._language_model = LanguageModel(None)
        if (choice := self.settings.llm.choice()) is not None:
            from scrubjay.models.chat_completions import completer_for

            try:
                self._language_model = LanguageModel(completer_for(choice, os.environ, self.oversight.breakers))
            except ScrubjayError as problem:
                self._language_model = LanguageModel(UnusableCompleter(choice.model, problem))
        return self._language_model

    async def _summariser(self) -> "Summariser":
        from scrubjay.features.facts.service import FactExtractor
        from scrubjay.features.summaries.service import Summariser
        from scrubjay.models.completion import LanguageModel

        store, memories = await self.services.get(Store), await self.services.get(MemoryService)
        completer = (await self.services.get(LanguageModel)).completer
        composer = None
        if completer is not None:
            from scrubjay.features.summaries.llm_summaries import Composer

            composer = Composer(completer)
        facts = await self.services.get(FactExtractor)
        return Summariser(store.summaries, store.memories, memories, composer, facts=facts, clock=self._clock)

    async def _fact_extractor(self) -> "FactExtractor":
        from scrubjay.features.facts.service import FactExtractor
        from scrubjay.models.completion import LanguageModel

        store, memories = await self.services.get(Store), await self.services.get(MemoryService)
        completer = (await self.services.get(LanguageModel)).completer
        reader = None
        if completer is not None:
            from scrubjay.features.facts.llm_facts import FactReader

            reader = FactReader(completer)
        return FactExtractor(store.summaries, store.memories, memories, reader)

    async def _startup_summaries(self) -> "StartupSummaries":
        from scrubjay.features.summaries.service import Summariser
        from scrubjay.features.summaries.startup import StartupSummaries

        return StartupSummaries(
            await self.services.get(JobService),
            await self.services.get(Summariser),
            off_because=self._why_no_summaries(),
        )

    def _why_no_summaries(self) -> str | None:
        """Why this server makes no summaries by itself; None when it does."""
        match self.settings.summaries.automatic:
            case "off":
                return "the setting summaries.automatic is off"
            case "auto" if self.settings.llm.choice() is None:
                return "no language model is set; summarize_sessions makes extractive summaries when it is called"
            case _:
                return None

    async def _embedding_change(self) -> "EmbeddingChange":
        from scrubjay.features.embeddings.model_switch import EmbeddingChange

        store = await self.services.get(Store)
        return EmbeddingChange(store.embeddings, await self.services.get(ModelsInUse))

    async def _parts(self) -> "Parts":
        from scrubjay.native.library import use_library

        use_library(self.settings.features.rust_nifs)
        return self.oversight.parts()

    async def _dispatcher(self) -> Dispatcher:
        return self.dispatcher

    async def _open_store(self) -> Store:
        from scrubjay.app.sqlite_store import SqliteStore

        lease_seconds = self.settings.jobs.lease_seconds
        self._store = await SqliteStore.open(self.settings.home, clock=self._clock, lease_seconds=lease_seconds)
        self._tasks.start_soon(self._keep_counts, self._store)
        self._tasks.start_soon(self._keep_history)
        self._tasks.start_soon(self._keep_told)
        upkeep = Upkeep(self.settings, self.services, self.dispatcher, self._clock, self._has_code)
        self._tasks.start_soon(upkeep.fade_history, self._store)
        self._tasks.start_soon(upkeep.keep_compact)
        self._tasks.start_soon(upkeep.keep_forgetting)
        self._tasks.start_soon(upkeep.tend_working_memory)
        self._tasks.start_soon(upkeep.tend_knowledge, self._store)
        if self._adopts_jobs and self._why_no_summaries() is None:
            self._tasks.start_soon(upkeep.keep_summaries)
        if self._adopts_jobs and self.settings.code.embedding_choice(self.settings.embedding.choice()) is not None:
            self._tasks.start_soon(upkeep.keep_code_embedded)
        self._tasks.start_soon(self.services.get, JobService)
        return self._store

    async def _start_jobs(self) -> JobService:
        store = await self.services.get(Store)
        return JobService(
            store.jobs,
            self.dispatcher.job_handlers(),
            self._tasks,
            lease_seconds=self.settings.jobs.lease_seconds,
            adopts=self._adopts_jobs,
        )

    async def _memory(self) -> MemoryService:
        store = await self.services.get(Store)
        models = await self.services.get(ModelsInUse)
        self._memories = MemoryService(
            store.memories,
            models,
            clock=self._clock,
            secrets=self.settings.secrets,
            quota=self._quota,
            linker=self._links,
        )
        self._tasks.start_soon(self._memories.uses.keep)
        return self._memories

    async def _code_service(self) -> "CodeService":
        from scrubjay.code_index.discovery.limits import Limits
        from scrubjay.code_index.index.indexer import Indexer
        from scrubjay.code_index.index.relink_scheduler import Settling
        from scrubjay.code_index.index.worker_pool import Workers
        from scrubjay.code_index.service import CodeService
        from scrubjay.features.code.sqlite import SqliteCode
        from scrubjay.native.library import use_library

        chosen, home = self.settings.code, self.settings.home
        use_library(self.settings.features.rust_nifs)
        self._code = await SqliteCode.open(home)
        limits = Limits(
            max_file_bytes=chosen.max_file_bytes,
            max_files=chosen.max_files,
            seconds=chosen.seconds,
            stage_seconds=chosen.stage_seconds,
        )
        workers = Workers(chosen.workers, file_seconds=chosen.file_seconds, memory_bytes=chosen.worker_bytes)
        indexer = Indexer(self._code, home / "code", limits, workers, self._clock, chosen.graph_bytes)
        self._tasks.start_soon(Settling(indexer).keep)
        self._code_embedding = self._make_code_embedding(self._code)
        service = CodeService(self._code, indexer, chosen.roots, self._code_embedding)
        service.on_change = self._file_changed
        return service

    def _file_changed(self, path: str, kind: "ChangeKind") -> None:
        if self.on_file_change is not None:
            self.on_file_change(path, kind)

    def _make_code_embedding(self, code: "SqliteCode") -> "CodeEmbedding | None":
        """The model that the owner chose for code beside the bundled one, if there is one."""
        chosen = self.settings.code
        if (choice := chosen.embedding_choice(self.settings.embedding.choice())) is None:
            return None
        from scrubjay.code_index.reranking.service import CodeEmbedding
        from scrubjay.models.embedding_cache import VectorCache
        from scrubjay.models.providers import batches_for, embedder_for, known_dimensions, name_of
        from scrubjay.models.unavailable import UnusableEmbedder

        home, batches = self.settings.home, None
        try:
            # Of its own: what is kept of code must not drive out what is kept of memories.
            cache = VectorCache(QUESTION_CACHE_BYTES)
            embedder = embedder_for(
                choice,
                environment=os.environ,
                cache=cache,
                breakers=self.oversight.breakers,
                service="code_embedding",
            )
            if chosen.batch_api:
                batches = batches_for(choice, os.environ, self.oversight.breakers)
        except ScrubjayError as problem:
            embedder = UnusableEmbedder(name_of(choice), known_dimensions(choice) or 0, problem)
        return CodeEmbedding(
            code,
            code.vectors,
            embedder,
            home / "code",
            self._tasks,
            seconds=chosen.embedding_seconds,
            batch_size=choice.pace.batch_size,
            batches=batches,
        )

    async def _linker(self) -> "Linker":
        from scrubjay.features.code_links.current_code import CodeNow
        from scrubjay.features.code_links.linker import Linker

        async def code() -> "CodeService":
            from scrubjay.code_index.service import CodeService

            return await self.services.get(CodeService)

        projects = (await self.services.get(Store)).projects
        return Linker(CodeNow(code, self._has_code), projects, self._clock)

    async def _link_reviewer(self) -> "Grounding":
        from scrubjay.features.code_links.service import Grounding

        return await self.services.get(Grounding)

    async def _grounding(self) -> "Grounding":
        from scrubjay.features.code_links.service import Grounding

        return Grounding((await self.services.get(Store)).links, self._get_linker)

    async def _get_linker(self) -> "Linker":
        from scrubjay.features.code_links.linker import Linker

        return await self.services.get(Linker)

    async def _links(self, drafts: Sequence[Draft], project_id: str | None) -> "Sequence[tuple[CodeLink, ...]]":
        """What drafts are about in code; where no code is indexed or named, nothing is loaded to find that out."""
        if not self._has_code() and not any(draft.about for draft in drafts):
            return [()] * len(drafts)
        return await (await self._get_linker()).links(drafts, project_id)

    def _has_code(self) -> bool:
        return (self.settings.home / CODE_DATABASE).exists()

    async def _corrections(self) -> "Corrections":
        from scrubjay.features.memory.corrections import Corrections

        return Corrections(await self.services.get(MemoryService))

    async def _eraser(self) -> "Eraser":
        from scrubjay.features.facts.fact_sources import FactSources
        from scrubjay.features.memory.erasure import Eraser
        from scrubjay.features.summaries.summary_sources import SummarySources

        kept = (await self.services.get(Store)).memories
        return Eraser(await self.services.get(MemoryService), kept, [FactSources(kept), SummarySources(kept)])

    async def _projects(self) -> ProjectService:
        store = await self.services.get(Store)
        return ProjectService(store.projects, default_path=self.settings.project, own_client=self._own_client)

    async def _sessions(self) -> "SessionService":
        from scrubjay.features.sessions.service import SessionService

        return SessionService((await self.services.get(Store)).sessions, self._write_noted)

    async def _briefing(self) -> "Briefing":
        from scrubjay.features.sessions.briefing import Briefing
        from scrubjay.features.sessions.service import SessionService

        store = await self.services.get(Store)
        sessions = await self.services.get(SessionService)
        return Briefing(sessions, store.memories, store.tasks, store.goals, clock=self._clock)

    async def _task_service(self) -> "TaskService":
        from scrubjay.features.tasks.service import TaskService

        store = await self.services.get(Store)
        return TaskService(store.tasks, self._writing_rules(), clock=self._clock)

    async def _goal_service(self) -> "GoalService":
        from scrubjay.features.tasks.goals import GoalService

        store = await self.services.get(Store)
        return GoalService(store.goals, self._writing_rules(), clock=self._clock)

    def _writing_rules(self) -> "WritingRules":
        """What holds for memories holds for all else that is kept."""
        from scrubjay.core.write_rules import WritingRules
        from scrubjay.features.memory.secret_policy import guard, guard_data

        return WritingRules(
            guard=partial(guard, policy=self.settings.secrets),
            guard_data=partial(guard_data, policy=self.settings.secrets),
            admit=self._quota.admit,
            allowance=self._quota.allowance,
        )

    async def _permissions(self) -> "PermissionService":
        from scrubjay.features.permissions.service import PermissionService

        store, may_allow = await self.services.get(Store), self.settings.hooks.callers_may_allow
        return PermissionService(store.permissions, callers_may_allow=may_allow, clock=self._clock)

    async def _hooks(self) -> "HookService":
        from scrubjay.features.hooks.service import HookService
        from scrubjay.features.permissions.service import PermissionService
        from scrubjay.features.sessions.briefing import Briefing
        from scrubjay.features.sessions.service import SessionService

        chosen = self.settings.hooks
        return HookService(
            await self.services.get(Store),
            await self.services.get(PermissionService),
            await self.services.get(SessionService),
            await self.services.get(Briefing),
            await self.services.get(MemoryService),
            brief_tokens=chosen.brief_tokens,
            prompt_tokens=chosen.prompt_tokens,
            keep_turns=chosen.keep_turns,
            keep_calls=self.settings.sessions.history,
            clock=self._clock,
        )

    async def _coding_agents(self) -> "CodingAgents":
        from scrubjay.features.delegation.service import CodingAgents
        from scrubjay.features.delegation.wiring import coding_agent

        return CodingAgents(coding_agent(self.settings), self._tasks, self._agent_events(), self._clock)

    async def _discussions(self) -> "Discussions":
        from scrubjay.features.delegation.wiring import coding_agent
        from scrubjay.features.discussions.service import Discussions

        return Discussions(
            (await self.services.get(Store)).discussions,
            coding_agent(self.settings),
            self._agent_events(),
            self._writing_rules(),
            home=str(self.settings.home),
            clock=self._clock,
        )

    def _agent_events(self) -> "AgentEvents":
        from scrubjay.features.delegation.events import NobodyListens

        return self.agent_events if self.agent_events is not None else NobodyListens()

    async def _personas(self) -> "Personas":
        from scrubjay.features.chat.personas import Personas

        store = await self.services.get(Store)
        return Personas(store.personas, self._writing_rules(), base=self.settings.mira.persona, clock=self._clock)

    async def _session_exporter(self) -> "SessionExporter":
        from scrubjay.features.sessions.export import SessionExporter
        from scrubjay.features.sessions.service import SessionService

        memories = (await self.services.get(Store)).memories
        return SessionExporter(await self.services.get(SessionService), memories, clock=self._clock)

    async def _rebuilder(self) -> "Rebuilder":
        from scrubjay.features.memory.rebuild import Rebuilder

        store = await self.services.get(Store)
        return Rebuilder(store.memories, await self.services.get(MemoryService))

    async def _forgetter(self) -> "Forgetter":
        from scrubjay.features.forgetting.service import Forgetter

        store = await self.services.get(Store)
        return Forgetter(store.memories, store.forgetting, self.settings.forgetting.rules(), clock=self._clock)

    async def _compactor(self) -> "Compactor":
        from scrubjay.features.memory.compaction import Compactor

        return Compactor((await self.services.get(Store)).memories)

    async def _consolidator(self) -> "Consolidator":
        from scrubjay.features.working_memory.consolidation import Consolidator

        store = await self.services.get(Store)
        threshold = self.settings.working.threshold
        memory = partial(self.services.get, MemoryService)
        return Consolidator(store.working, memory, threshold=threshold, clock=self._clock)

    async def _working(self) -> "WorkingMemory":
        from scrubjay.features.working_memory.consolidation import Consolidator
        from scrubjay.features.working_memory.service import WorkingMemory

        chosen = self.settings.working
        store, consolidator = await self.services.get(Store), await self.services.get(Consolidator)
        return WorkingMemory(
            store.working,
            consolidator,
            capacity=chosen.capacity,
            ttl_seconds=chosen.ttl_seconds,
            secrets=self.settings.secrets,
            clock=self._clock,
        )

    async def _thinking(self) -> "Thinking":
        from scrubjay.features.working_memory.service import WorkingMemory
        from scrubjay.features.working_memory.thinking import Thinking

        return Thinking(await self.services.get(WorkingMemory))

    async def _asker(self) -> "Asker":
        from scrubjay.features.answers.service import Asker
        from scrubjay.features.knowledge.mentions import Mentions
        from scrubjay.features.working_memory.service import WorkingMemory
        from scrubjay.models.completion import LanguageModel

        memories, working = await self.services.get(MemoryService), await self.services.get(WorkingMemory)
        relations = await self.services.get(Mentions) if self.settings.features.semantic_store else None
        return Asker(memories, working, relations, (await self.services.get(LanguageModel)).completer)

    def _transfer_folders(self) -> "TransferFolders":
        from scrubjay.features.transfer.folders import TransferFolders

        return TransferFolders(self.settings.home / "backups", self.settings.transfer.folders)

    async def _exporter(self) -> "Exporter":
        from scrubjay.features.transfer.exporter import Exporter

        return Exporter((await self.services.get(Store)).transfer, self._transfer_folders())

    async def _importer(self) -> "Importer":
        from scrubjay.features.transfer.importer import Importer

        store = await self.services.get(Store)
        memories, models = await self.services.get(MemoryService), await self.services.get(ModelsInUse)
        folders, secrets = self._transfer_folders(), self.settings.secrets
        return Importer(store.transfer, memories, models, store.projects, folders, secrets=secrets, quota=self._quota)

    # -- what goes on beside the calls ---------------------------------------------------------------

    async def _uses(self) -> Mapping[str, int]:
        """How often tools were used; unknown when the store cannot be opened, which calls will then tell."""
        try:
            return await (await self.services.get(Store)).usage.counts()
        except ScrubjayError as error:
            logger.warning("tools are listed without their use", extra={"problem": error.message})
            return {}

    async def _keep_counts(self, store: Store) -> None:
        while True:
            await anyio.sleep(USAGE_SECONDS)
            await self._write_counts(store)

    async def _write_counts(self, store: Store) -> None:
        """Write how often tools and keys were used; what cannot be written now is written next time."""
        try:
            await self._usage.flush(store.usage)
            if self._doorkeeper is not None:
                await self._doorkeeper.keep_uses()
        except ScrubjayError as error:
            logger.warning("counts of calls could not be kept", extra={"problem": error.message})

    async def _keep_history(self) -> None:
        while True:
            await self._history.due()
            await self._write_history()

    async def _keep_told(self) -> None:
        """Keep what hooks of agents left since the last time."""
        while True:
            await anyio.sleep(TOLD_SECONDS)
            await self._write_told()

    async def _write_told(self) -> None:
        from scrubjay.features.hooks.spool import FOLDER

        if not (self.settings.home / FOLDER).exists():  # no agent here has hooks
            return
        from scrubjay.features.hooks.service import HookService
        from scrubjay.features.hooks.spool import give_back, take

        async with self._telling:
            for key, at, call in take(self.settings.home):
                try:
                    hooks = await self.services.get(HookService)
                    await hooks.keep(call, datetime.fromtimestamp(at, UTC), key)
                except ScrubjayError as error:
                    give_back(self.settings.home, key)
                    logger.warning("what an agent told was not kept", extra={"problem": error.message})
                    return

    async def _write_noted(self) -> None:
        """Write all that is known of sessions and not written yet."""
        await self._write_told()
        await self._write_history()

    async def _write_history(self) -> None:
        """Write the calls that were noted; what cannot be written now is written next time."""
        try:
            store = await self.services.get(Store)
            project = await (await self.services.get(ProjectService)).active(None)
            await self._history.flush(store.sessions, project.id if project else None)
        except ScrubjayError as error:
            logger.warning("calls could not be kept in the history", extra={"problem": error.message})

    async def _leave_session(self) -> None:
        """The client that this process was started for is gone with it."""
        from scrubjay.features.sessions.service import SessionService

        if self._own_client is None:
            return
        try:
            await (await self.services.get(SessionService)).leave(self._own_client)
        except ScrubjayError as error:
            logger.warning("the session could not be ended", extra={"problem": error.message})
