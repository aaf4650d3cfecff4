"""Bringing memories in from a file, ours or another program's."""

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
from scrubjay.core.ids import settled_id
from scrubjay.core.policies import SecretsPolicy
from scrubjay.core.progress import Reporter
from scrubjay.core.scopes import Scope
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.forgetting.service import VERSIONS
from scrubjay.features.memory.links import CodeLink
from scrubjay.features.memory.models import Derived, Kind, Memory
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.secret_policy import guard, guard_data
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.projects.store import ProjectStore
from scrubjay.features.tasks.models import Goal
from scrubjay.features.transfer.folders import TransferFolders
from scrubjay.features.transfer.format_detection import MakeFormat, recognise
from scrubjay.features.transfer.formats import OwnFormat
from scrubjay.features.transfer.models import Moved, MovedPlan, PlanSort
from scrubjay.features.transfer.plan_records import PlanArrival, guarded_plan
from scrubjay.features.transfer.records import Arrival, Format, Place
from scrubjay.features.transfer.source_file import SourceFile
from scrubjay.features.transfer.store import Arrived, TransferStore
from scrubjay.features.transfer.thread_progress import Tally, watched

Mode = Literal["merge", "replace"]

# Small enough that cancelling takes effect at once and other writers never wait long.
BATCH = 500
BATCH_CHARACTERS = 2_000_000
# How many records are looked at between looks at whether to stop.
STEP = 1_000
# How many tasks and goals are written at once.
PLAN_BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of a file."""

    path: Path
    format: str | None
    """Who wrote it; None when there was nothing in it."""
    arrived: Arrived = Arrived()
    left_out: Mapping[str, int]
    """What was in it and brings no memory, by what it is."""
    masked: int = 0
    """In how many of its memories a secret was masked."""
    other_model: bool = False
    """Whether another embedding model was chosen meanwhile, of which what was imported may have no vectors."""


@dataclass(frozen=True, slots=True)
class _Survey:
    """What is in a file, all of which was looked at."""

    records: int
    holds: frozenset[Kind]
    checksum: str
    left_out: Mapping[str, int]
    masked: int = 0
    plans: int = 0
    """How many tasks and goals."""
    holds_plans: frozenset[PlanSort] = frozenset()


_NOTHING = _Survey(0, frozenset(), "", {})


class Importer:
    """Moves memories in. Every file is read to its end and found whole before anything is changed."""

    def __init__(
        self,
        store: TransferStore,
        memories: MemoryService,
        models: ModelsInUse,
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

    async def bring_in(
        self,
        given: str,
        mode: Mode,
        reporter: Reporter,
        *,
        import_id: str,
        project_id: str | None = None,
        only_there: bool = False,
        client: str | None = None,
        goes_on: bool = False,
    ) -> Imported:
        """Import a file under an id by which the same import can go on after a crash.

        What another program wrote goes to the project that the file says it is of, unless it is to go `only_there`: to
        the given project. Without either it is global. It comes from the client that imports it; our own files say
        whom a memory comes from. However much there is in it, a file counts as one write.
        """
        if not goes_on:
            self._quota.admit(client)
        file, path = self._folders.open(given)
        with file:
            make = await anyio.to_thread.run_sync(recognise, file, path.name)
            reading = None if make is None else make(self._clock())
            survey = _NOTHING if reading is None else await self._survey(file, path.name, reading, reporter)
            if mode == "replace":
                _refuse_replacing(path.name, survey)
            if make is None or reading is None or not (survey.records or survey.plans):
                return Imported(path=path, format=reading.name if reading else None, left_out=survey.left_out)
            models = await self._models.now()
            destination = _Destination(self._projects, project_id, client, only_there=only_there)
            arrived = await self._carry(file, path.name, make, survey, mode, import_id, destination, reporter)
            return Imported(
                path=path,
                format=reading.name,
                arrived=arrived,
                left_out=survey.left_out,
                masked=survey.masked,
                other_model=await self._models.now() is not models,
            )

    async def _survey(self, file: BinaryIO, name: str, reading: Format, reporter: Reporter) -> _Survey:
        source = SourceFile(file, name)
        tally = Tally("checking the file", os.fstat(file.fileno()).st_size)

        def look() -> _Survey:
            records = masked = 0
            for records, (_, was_masked) in enumerate(self._guarded(reading, source), start=1):
                masked += was_masked
                if records % STEP == 0:
                    tally.reach(file.tell())
            plans, sorts = 0, frozenset[PlanSort]()
            checksum = source.checksum
            if isinstance(reading, OwnFormat) and reading.holds_plans():
                sorts = reading.holds_plans()
                for plans, (_, was_masked) in enumerate(self._guarded_plans(reading, SourceFile(file, name)), start=1):
                    masked += was_masked
                    if plans % STEP == 0:
                        tally.reach(file.tell())
            return _Survey(records, reading.holds(), checksum, dict(reading.left_out), masked, plans, sorts)

        return await watched(lambda: anyio.to_thread.run_sync(look), tally, reporter)

    async def _refuse_beyond_quota(
        self,
        file: BinaryIO,
        name: str,
        make: MakeFormat,
        survey: _Survey,
        mode: Mode,
        destination: "_Destination",
        reporter: Reporter,
    ) -> None:
        """Raise `QuotaExceeded` if somebody would keep more than they may, before anything is changed."""
        if self._quota.allowance(None) is None:
            return
        coming: Counter[str] = Counter()
        counted = 0
        batches = _batches((arrival for arrival, _ in self._guarded(make(self._clock()), SourceFile(file, name))), 0)
        while batch := await anyio.to_thread.run_sync(lambda: next(batches, None)):
            memories = [await destination.foresee(arrival) for arrival in batch]
            ids = [memory.id for memory in memories if memory.id]
            known = await self._store.known(ids) if mode == "merge" else ()
            coming.update(
                str(memory.provenance.get("client") or "")
                for memory in memories
                if memory.id not in known and not memory.id.startswith(VERSIONS)
            )
            counted += len(batch)
            await reporter.report(counted, survey.records, "counting what is new")
        if mode == "merge":  # of what is replaced, nobody keeps anything
            coming.update(await self._store.kept_by(coming.keys()))
        for client, memories in coming.items():
            if (allowance := self._quota.allowance(client)) is not None:
                allowance.refuse_beyond(memories)

    async def _carry(
        self,
        file: BinaryIO,
        name: str,
        make: MakeFormat,
        survey: _Survey,
        mode: Mode,
        import_id: str,
        destination: "_Destination",
        reporter: Reporter,
    ) -> Arrived:
        arrived = await self._store.begin(import_id, f"{mode} {survey.checksum}")
        if arrived.finished:
            return arrived
        if not (
            arrived.read or arrived.plans_read
        ):  # what fits is not refused half way, whatever others wrote meanwhile
            await self._refuse_beyond_quota(file, name, make, survey, mode, destination, reporter)
            await self._refuse_plans_beyond_quota(file, name, make, survey, mode)
        source = SourceFile(file, name)
        arrivals = (arrival for arrival, _ in self._guarded(make(self._clock()), source))
        batches = _batches(arrivals, arrived.read)
        try:
            while batch := await anyio.to_thread.run_sync(lambda: next(batches, None)):
                moved = [await destination.settle(arrival) for arrival in batch]
                read = arrived.read + len(batch)
                if mode == "merge":
                    known = await self._store.known([one.memory.id for one in moved])
                    unknown = await self._derived([one for one in moved if one.memory.id not in known])
                    arrived = await self._store.keep(import_id, read, unknown, skipped=len(batch) - len(unknown))
                else:
                    arrived = await self._store.stage(import_id, read, await self._derived(moved))
                await reporter.report(arrived.read, survey.records, f"read {arrived.read} of {survey.records} records")
            arrived = await self._carry_plans(file, name, make, survey, mode, import_id, arrived, destination, reporter)
            if source.checksum != survey.checksum:
                raise Conflict(f"{name} was changed while it was imported", hint="import it again, and leave it alone")
            if mode == "replace":
                allowance = self._quota.allowance(None)
                most = 0 if allowance is None else allowance.most
                arrived = await self._store.exchange(import_id, survey.holds, most=most, plans=survey.holds_plans)
        except Exception:  # not when the program ends: then the next one goes on where this one was
            await self._store.end(import_id)
            raise
        return arrived

    def _guarded(self, reading: Format, source: SourceFile) -> Iterator[tuple[Arrival, bool]]:
        """What the file brings as it may be kept here, and whether a secret was masked in it."""
        for arrival in reading.arrivals(source):
            memory = arrival.moved.memory
            try:
                content = guard(memory.content, self._secrets).text
                metadata = guard_data(memory.metadata, self._secrets)
                details = guard_data(memory.details, self._secrets)
                provenance = guard_data(memory.provenance, self._secrets)
                links = tuple(_guarded_link(link, self._secrets) for link in memory.links)
            except InvalidRequest:
                reading.left_out["memory with a secret, which may not be kept here"] += 1
                continue
            kept = replace(
                memory, content=content, metadata=metadata, details=details, provenance=provenance, links=links
            )
            if kept == memory:
                yield arrival, False
            else:
                yield replace(arrival, moved=replace(arrival.moved, memory=kept)), True

    async def _carry_plans(
        self,
        file: BinaryIO,
        name: str,
        make: MakeFormat,
        survey: _Survey,
        mode: Mode,
        import_id: str,
        arrived: Arrived,
        destination: "_Destination",
        reporter: Reporter,
    ) -> Arrived:
        """The tasks and goals, after the memories; each in the project of its path."""
        if not survey.plans:
            return arrived
        arrivals = (arrival for arrival, _ in self._plans_of(make, file, name))
        rest = islice(arrivals, arrived.plans_read, None)
        while batch := await anyio.to_thread.run_sync(lambda: list(islice(rest, PLAN_BATCH))):
            plans = [await destination.settle_plan(arrival) for arrival in batch]
            read = arrived.plans_read + len(plans)
            carry = self._store.keep_plans if mode == "merge" else self._store.stage_plans
            arrived = await carry(import_id, read, plans)
            await reporter.report(arrived.plans_read, survey.plans, f"read {read} of {survey.plans} tasks and goals")
        return arrived

    async def _refuse_plans_beyond_quota(
        self, file: BinaryIO, name: str, make: MakeFormat, survey: _Survey, mode: Mode
    ) -> None:
        """Raise `QuotaExceeded` if somebody would plan more than they may, before anything is changed."""
        if not survey.plans or self._quota.allowance(None) is None:
            return
        coming: Counter[str] = Counter()
        arrivals = (arrival for arrival, _ in self._plans_of(make, file, name))
        while batch := await anyio.to_thread.run_sync(lambda: list(islice(arrivals, PLAN_BATCH))):
            known = await self._store.known_plans([one.plan.id for one in batch]) if mode == "merge" else ()
            for one in batch:
                if one.plan.id not in known:
                    milestones = one.plan.milestones if isinstance(one.plan, Goal) else ()
                    coming.update(client or "" for client in (one.plan.client, *(each.client for each in milestones)))
        if mode == "merge":
            coming.update(await self._store.planned_by(coming.keys()))
        for client, plans in coming.items():
            if (allowance := self._quota.allowance(client)) is not None:
                allowance.refuse_beyond(plans, "tasks, goals and milestones")

    def _plans_of(self, make: MakeFormat, file: BinaryIO, name: str) -> Iterator[tuple[PlanArrival, bool]]:
        reading = make(self._clock())
        return self._guarded_plans(reading, SourceFile(file, name)) if isinstance(reading, OwnFormat) else iter(())

    def _guarded_plans(self, reading: OwnFormat, source: SourceFile) -> Iterator[tuple[PlanArrival, bool]]:
        """The tasks and goals of the file as they may be kept here, and whether a secret was masked in one."""
        for arrival in reading.plans(source):
            try:
                kept = guarded_plan(arrival.plan, self._secrets)
            except InvalidRequest:
                reading.left_out["task or goal with a secret, which may not be kept here"] += 1
                continue
            yield replace(arrival, plan=kept), kept != arrival.plan

    async def _derived(self, moved: Sequence[Moved]) -> Sequence[tuple[Moved, Derived]]:
        derived = await self._memories.derive([one.memory for one in moved])
        return list(zip(moved, derived, strict=True))


class _Destination:
    """Which project each memory goes to, and under which id."""

    def __init__(self, projects: ProjectStore, project_id: str | None, client: str | None, *, only_there: bool) -> None:
        self._projects = projects
        self._project_id = project_id
        self._client = client
        self._only_there = only_there
        self._known: dict[Place, str] = {}
        self._missing: set[Place] = set()

    async def foresee(self, arrival: Arrival) -> Memory:
        """The memory that this will be; without an id when its project is still to be made, and so nothing is there."""
        place = None if arrival.origin is None or self._only_there else arrival.place
        if place is not None and place not in self._known:
            if place not in self._missing and await self._projects.at(place.path) is None:
                self._missing.add(place)
            if place in self._missing:
                return self._by_client(arrival.moved.memory)
        return (await self.settle(arrival)).memory if arrival.origin is not None else arrival.moved.memory

    async def settle(self, arrival: Arrival) -> Moved:
        moved, memory = arrival.moved, arrival.moved.memory
        if arrival.origin is None:
            if arrival.place is None:
                return moved
            return replace(moved, memory=replace(memory, project_id=await self._project_at(arrival.place)))
        project_id = self._project_id
        if arrival.place is not None and not self._only_there:
            project_id = await self._project_at(arrival.place)
        happened = 0 if memory.occurred_at is None else round(memory.occurred_at.timestamp() * 1000)
        # The same in the same project whenever it is imported, so that it is kept once.
        memory_id = settled_id("mem", max(happened, 0), f"{project_id or ''}\n{arrival.origin}")
        scope = Scope.PROJECT if project_id else Scope.GLOBAL
        memory = self._by_client(memory)
        return replace(moved, memory=replace(memory, id=memory_id, scope=scope, project_id=project_id))

    async def settle_plan(self, arrival: PlanArrival) -> MovedPlan:
        if arrival.place is None:
            return arrival.plan
        return replace(arrival.plan, project_id=await self._project_at(arrival.place))

    def _by_client(self, memory: Memory) -> Memory:
        """What another program wrote comes from the client that imports it."""
        return replace(memory, provenance={**memory.provenance, "client": self._client}) if self._client else memory

    async def _project_at(self, place: Place) -> str:
        if place not in self._known:
            found = await self._projects.at(place.path) or await self._projects.ensure(place.path, place.name)
            self._known[place] = found.id
        return self._known[place]


def _guarded_link(link: CodeLink, policy: SecretsPolicy) -> CodeLink:
    """The link without secrets in the code that it keeps."""
    if link.code is None:
        return link
    return replace(link, code=replace(link.code, text=guard(link.code.text, policy).text))


def _batches(arrivals: Iterator[Arrival], skipped: int) -> Iterator[list[Arrival]]:
    """All but the first few, a handful at a time."""
    batch: list[Arrival] = []
    characters = 0
    for number, arrival in enumerate(arrivals):
        if number < skipped:
            continue
        batch.append(arrival)
        characters += len(arrival.moved.memory.content)
        if len(batch) >= BATCH or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _refuse_replacing(name: str, survey: _Survey) -> None:
    if not (survey.records or survey.plans):
        raise InvalidRequest(f"No records found in {name}", hint="nothing was changed: replacing would only erase")
    if not (survey.holds or survey.holds_plans):
        raise InvalidRequest(
            f"{name} is no whole copy of memories, so it cannot take the place of what is there",
            hint="nothing was changed; import it with mode merge",
        )
