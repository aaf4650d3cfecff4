"""Import from a file of ours or of another program."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal

import anyio.to_thread

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Conflict, InvalidRequest
from scrubjay.core.ids import deterministic_id
from scrubjay.core.policies import SecretsPolicy
from scrubjay.core.progress import Reporter
from scrubjay.core.scopes import Scope
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.forgetting.service import VERSION_PREFIX
from scrubjay.features.memory.links import CodeLink
from scrubjay.features.memory.models import Memory, MemoryKind
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.secret_policy import guard, guard_data
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.memory.writes import SearchData
from scrubjay.features.projects.store import ProjectStore
from scrubjay.features.tasks.models import Goal
from scrubjay.features.transfer.folders import TransferFolders
from scrubjay.features.transfer.format_detection import MakeFormat, detect_format
from scrubjay.features.transfer.formats import OwnFormat
from scrubjay.features.transfer.models import PlanKind, TransferMemory, TransferPlan
from scrubjay.features.transfer.plan_records import ImportPlan, mask_plan
from scrubjay.features.transfer.records import Format, ImportRecord, ProjectRef
from scrubjay.features.transfer.source_file import ImportSource
from scrubjay.features.transfer.store import ImportProgress, TransferStore
from scrubjay.features.transfer.thread_progress import ThreadProgress, run_with_progress

Mode = Literal["merge", "replace"]

# Small enough that cancelling takes effect quickly and other writers do not wait long.
BATCH = 500
BATCH_CHARACTERS = 2_000_000
# Records between two checks for cancellation.
STEP = 1_000
# Tasks and goals per transaction.
PLAN_BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """Outcome of an import."""

    path: Path
    format: str | None
    """Detected format; None for an empty file."""
    progress: ImportProgress = ImportProgress()
    ignored: Mapping[str, int]
    """Number of ignored entries by type."""
    masked: int = 0
    """Number of memories in which a secret was masked."""
    other_model: bool = False
    """True if the embedding model changed during the import, so that vectors may be missing."""


@dataclass(frozen=True, slots=True)
class _Survey:
    """Result of the first pass over a file."""

    records: int
    complete_kinds: frozenset[MemoryKind]
    checksum: str
    ignored: Mapping[str, int]
    masked: int = 0
    plans: int = 0
    """Number of tasks and goals."""
    complete_plans: frozenset[PlanKind] = frozenset()


_NOTHING = _Survey(0, frozenset(), "", {})


class Importer:
    """Imports files. Every file is read to its end and validated before anything changes."""

    def __init__(
        self,
        store: TransferStore,
        memories: MemoryService,
        models: ModelRegistry,
        projects: ProjectStore,
        folders: TransferFolders,
        *,
        secrets: SecretsPolicy,
        quota: Quota | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._store = store
        self._memories = memories
        self._models = models
        self._projects = projects
        self._folders = folders
        self._secrets = secrets
        self._quota = quota or Quota()
        self._clock = clock

    async def import_file(
        self,
        given: str,
        mode: Mode,
        reporter: Reporter,
        *,
        import_id: str,
        project_id: str | None = None,
        override_project: bool = False,
        client: str | None = None,
        resume: bool = False,
    ) -> ImportResult:
        """Import a file; a later call with the same `import_id` continues after a crash.

        Memories of other programs go to the project that the file names, or with `override_project` to `project_id`;
        without either they are global. Their client is `client`; our own files name the client of each memory. A file
        counts as one write, regardless of its size.
        """
        if not resume:
            self._quota.admit(client)
        file, path = self._folders.open(given)
        with file:
            make = await anyio.to_thread.run_sync(detect_format, file, path.name)
            reader = None if make is None else make(self._clock())
            survey = _NOTHING if reader is None else await self._survey(file, path.name, reader, reporter)
            if mode == "replace":
                _require_replaceable(path.name, survey)
            if make is None or reader is None or not (survey.records or survey.plans):
                return ImportResult(path=path, format=reader.name if reader else None, ignored=survey.ignored)
            models = await self._models.current()
            destination = _Destination(self._projects, project_id, client, override_project=override_project)
            run = _ImportRun(file, path.name, make, survey, mode, import_id, destination, reporter)
            progress = await self._write_records(run)
            return ImportResult(
                path=path,
                format=reader.name,
                progress=progress,
                ignored=survey.ignored,
                masked=survey.masked,
                other_model=await self._models.current() is not models,
            )

    async def _survey(self, file: BinaryIO, name: str, reader: Format, reporter: Reporter) -> _Survey:
        source = ImportSource(file, name)
        progress = ThreadProgress("checking the file", os.fstat(file.fileno()).st_size)

        def read() -> _Survey:
            records = masked = 0
            for records, (_, was_masked) in enumerate(self._masked_records(reader, source), start=1):
                masked += was_masked
                if records % STEP == 0:
                    progress.reach(file.tell())
            plans, sorts = 0, frozenset[PlanKind]()
            checksum = source.checksum
            if isinstance(reader, OwnFormat) and reader.complete_plans():
                sorts = reader.complete_plans()
                for plans, (_, was_masked) in enumerate(self._masked_plans(reader, ImportSource(file, name)), start=1):
                    masked += was_masked
                    if plans % STEP == 0:
                        progress.reach(file.tell())
            return _Survey(records, reader.complete_kinds(), checksum, dict(reader.ignored), masked, plans, sorts)

        return await run_with_progress(lambda: anyio.to_thread.run_sync(read), progress, reporter)

    async def _check_quota(self, run: "_ImportRun") -> None:
        """Raise `QuotaExceeded` before any change if a client would exceed its number of memories."""
        if self._quota.allowance(None) is None:
            return
        coming: Counter[str] = Counter()
        counted = 0
        batches = _batches(self._records(run, run.source()), 0)
        while batch := await anyio.to_thread.run_sync(lambda: next(batches, None)):
            memories = [await run.destination.preview(record) for record in batch]
            ids = [memory.id for memory in memories if memory.id]
            known = await self._store.known(ids) if run.mode == "merge" else ()
            coming.update(
                str(memory.provenance.get("client") or "")
                for memory in memories
                if memory.id not in known and not memory.id.startswith(VERSION_PREFIX)
            )
            counted += len(batch)
            await run.reporter.report(counted, run.survey.records, "counting new memories")
        if run.mode == "merge":  # a replacement removes the existing ones
            coming.update(await self._store.count_by_client(coming.keys()))
        for client, memories in coming.items():
            if (allowance := self._quota.allowance(client)) is not None:
                allowance.check_count(memories)

    async def _write_records(self, run: "_ImportRun") -> ImportProgress:
        survey = run.survey
        progress = await self._store.begin(run.import_id, f"{run.mode} {survey.checksum}")
        if progress.finished:
            return progress
        # Checked once at the start: an import that fits must not fail half-way because of other writers.
        if not (progress.read or progress.plans_read):
            await self._check_quota(run)
            await self._check_plan_quota(run)
        source = run.source()
        batches = _batches(self._records(run, source), progress.read)
        try:
            while batch := await anyio.to_thread.run_sync(lambda: next(batches, None)):
                transfer = [await run.destination.resolve(record) for record in batch]
                read = progress.read + len(batch)
                if run.mode == "merge":
                    known = await self._store.known([one.memory.id for one in transfer])
                    unknown = await self._derived([one for one in transfer if one.memory.id not in known])
                    progress = await self._store.insert(run.import_id, read, unknown, skipped=len(batch) - len(unknown))
                else:
                    progress = await self._store.stage(run.import_id, read, await self._derived(transfer))
                await run.reporter.report(
                    progress.read, survey.records, f"read {progress.read} of {survey.records} records"
                )
            progress = await self._write_plans(run, progress)
            if source.checksum != survey.checksum:
                raise Conflict(
                    f"{run.name} was changed while it was imported",
                    hint="import it again, and do not change it during the import",
                )
            if run.mode == "replace":
                allowance = self._quota.allowance(None)
                most = 0 if allowance is None else allowance.limit
                progress = await self._store.replace_all(
                    run.import_id, survey.complete_kinds, most=most, plans=survey.complete_plans
                )
        except Exception:  # not on cancellation at shutdown: the next process continues this import
            await self._store.end(run.import_id)
            raise
        return progress

    def _records(self, run: "_ImportRun", source: ImportSource) -> Iterator[ImportRecord]:
        """Yield the records of the file with secrets masked."""
        return (record for record, _ in self._masked_records(run.make(self._clock()), source))

    def _masked_records(self, reader: Format, source: ImportSource) -> Iterator[tuple[ImportRecord, bool]]:
        """Yield each record with secrets masked, and True if something was masked."""
        for record in reader.records(source):
            memory = record.transfer.memory
            try:
                content = guard(memory.content, self._secrets).text
                metadata = guard_data(memory.metadata, self._secrets)
                details = guard_data(memory.details, self._secrets)
                provenance = guard_data(memory.provenance, self._secrets)
                links = tuple(_masked_link(link, self._secrets) for link in memory.links)
            except InvalidRequest:
                reader.ignored["memory refused because it contains a secret"] += 1
                continue
            cleaned = replace(
                memory, content=content, metadata=metadata, details=details, provenance=provenance, links=links
            )
            if cleaned == memory:
                yield record, False
            else:
                yield replace(record, transfer=replace(record.transfer, memory=cleaned)), True

    async def _write_plans(self, run: "_ImportRun", progress: ImportProgress) -> ImportProgress:
        """Write tasks and goals, each to the project of its path."""
        if not run.survey.plans:
            return progress
        records = self._plans(run)
        rest = islice(records, progress.plans_read, None)
        while batch := await anyio.to_thread.run_sync(lambda: list(islice(rest, PLAN_BATCH))):
            plans = [await run.destination.resolve_plan(record) for record in batch]
            read = progress.plans_read + len(plans)
            write = self._store.insert_plans if run.mode == "merge" else self._store.stage_plans
            progress = await write(run.import_id, read, plans)
            await run.reporter.report(
                progress.plans_read, run.survey.plans, f"read {read} of {run.survey.plans} tasks and goals"
            )
        return progress

    async def _check_plan_quota(self, run: "_ImportRun") -> None:
        """Raise `QuotaExceeded` before any change if a client would exceed its number of tasks and goals."""
        if not run.survey.plans or self._quota.allowance(None) is None:
            return
        coming: Counter[str] = Counter()
        records = self._plans(run)
        while batch := await anyio.to_thread.run_sync(lambda: list(islice(records, PLAN_BATCH))):
            known = await self._store.known_plans([one.plan.id for one in batch]) if run.mode == "merge" else ()
            for one in batch:
                if one.plan.id not in known:
                    milestones = one.plan.milestones if isinstance(one.plan, Goal) else ()
                    coming.update(client or "" for client in (one.plan.client, *(each.client for each in milestones)))
        if run.mode == "merge":
            coming.update(await self._store.count_plans_by_client(coming.keys()))
        for client, plans in coming.items():
            if (allowance := self._quota.allowance(client)) is not None:
                allowance.check_count(plans, "tasks, goals and milestones")

    def _plans(self, run: "_ImportRun") -> Iterator[ImportPlan]:
        """Yield the tasks and goals of the file with secrets masked."""
        reader = run.make(self._clock())
        if isinstance(reader, OwnFormat):
            yield from (record for record, _ in self._masked_plans(reader, run.source()))

    def _masked_plans(self, reader: OwnFormat, source: ImportSource) -> Iterator[tuple[ImportPlan, bool]]:
        """Yield each task and goal with secrets masked, and True if something was masked."""
        for record in reader.plans(source):
            try:
                cleaned = mask_plan(record.plan, self._secrets)
            except InvalidRequest:
                reader.ignored["task or goal refused because it contains a secret"] += 1
                continue
            yield replace(record, plan=cleaned), cleaned != record.plan

    async def _derived(self, transfer: Sequence[TransferMemory]) -> Sequence[tuple[TransferMemory, SearchData]]:
        derived = await self._memories.derive([one.memory for one in transfer])
        return list(zip(transfer, derived, strict=True))


@dataclass(frozen=True, slots=True)
class _ImportRun:
    """One import of a file that was surveyed."""

    file: BinaryIO
    name: str
    make: MakeFormat
    survey: _Survey
    mode: Mode
    import_id: str
    destination: "_Destination"
    reporter: Reporter

    def source(self) -> ImportSource:
        """Return the file, read from its start."""
        return ImportSource(self.file, self.name)


class _Destination:
    """Decides project and id of each imported memory."""

    def __init__(
        self, projects: ProjectStore, project_id: str | None, client: str | None, *, override_project: bool
    ) -> None:
        self._projects = projects
        self._project_id = project_id
        self._client = client
        self._override_project = override_project
        self._known: dict[ProjectRef, str] = {}
        self._missing: set[ProjectRef] = set()

    async def preview(self, record: ImportRecord) -> Memory:
        """Return the memory that `resolve` would return, without an id if its project does not exist yet."""
        project = None if record.origin is None or self._override_project else record.project
        if project is not None and project not in self._known:
            if project not in self._missing and await self._projects.get_by_path(project.path) is None:
                self._missing.add(project)
            if project in self._missing:
                return self._with_client(record.transfer.memory)
        return (await self.resolve(record)).memory if record.origin is not None else record.transfer.memory

    async def resolve(self, record: ImportRecord) -> TransferMemory:
        transfer, memory = record.transfer, record.transfer.memory
        if record.origin is None:
            if record.project is None:
                return transfer
            return replace(transfer, memory=replace(memory, project_id=await self._project_at(record.project)))
        project_id = self._project_id
        if record.project is not None and not self._override_project:
            project_id = await self._project_at(record.project)
        happened = 0 if memory.occurred_at is None else round(memory.occurred_at.timestamp() * 1000)
        # Deterministic per project and origin, so that a repeated import adds nothing.
        memory_id = deterministic_id("mem", max(happened, 0), f"{project_id or ''}\n{record.origin}")
        scope = Scope.PROJECT if project_id else Scope.GLOBAL
        memory = self._with_client(memory)
        return replace(transfer, memory=replace(memory, id=memory_id, scope=scope, project_id=project_id))

    async def resolve_plan(self, record: ImportPlan) -> TransferPlan:
        if record.project is None:
            return record.plan
        return replace(record.plan, project_id=await self._project_at(record.project))

    def _with_client(self, memory: Memory) -> Memory:
        """Set the importing client as the origin of another program's memory."""
        return replace(memory, provenance={**memory.provenance, "client": self._client}) if self._client else memory

    async def _project_at(self, project: ProjectRef) -> str:
        if project not in self._known:
            found = await self._projects.get_by_path(project.path) or await self._projects.ensure(
                project.path, project.name
            )
            self._known[project] = found.id
        return self._known[project]


def _masked_link(link: CodeLink, policy: SecretsPolicy) -> CodeLink:
    """Return the link with secrets in its code masked."""
    if link.code is None:
        return link
    return replace(link, code=replace(link.code, text=guard(link.code.text, policy).text))


def _batches(records: Iterator[ImportRecord], skipped: int) -> Iterator[list[ImportRecord]]:
    """Yield batches of records after the first `skipped`."""
    batch: list[ImportRecord] = []
    characters = 0
    for number, record in enumerate(records):
        if number < skipped:
            continue
        batch.append(record)
        characters += len(record.transfer.memory.content)
        if len(batch) >= BATCH or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _require_replaceable(name: str, survey: _Survey) -> None:
    if not (survey.records or survey.plans):
        raise InvalidRequest(
            f"No records found in {name}", hint="nothing was changed, because replacing would only erase"
        )
    if not (survey.complete_kinds or survey.complete_plans):
        raise InvalidRequest(
            f"{name} is not a complete copy, so it cannot replace the store's memories",
            hint="nothing was changed; import it with mode merge",
        )
