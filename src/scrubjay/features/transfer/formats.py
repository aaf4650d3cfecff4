"""Our own file format: a header line, one line per record, and a last line with totals and checksum."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

import scrubjay
from scrubjay.core.errors import InvalidRequest
from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Memory, MemoryKind
from scrubjay.features.projects.models import Project
from scrubjay.features.transfer.models import PlanKind, TransferMemory, TransferPlan
from scrubjay.features.transfer.plan_records import GOAL, TASK, GoalLine, ImportPlan, TaskLine, find_problem, plan_kind
from scrubjay.features.transfer.records import ImportRecord, ProjectRef
from scrubjay.features.transfer.source_file import ImportSource, SourceLine

FORMAT = "scrubjay-memories"
# Name of the same format in files written under the product's previous name.
PREVIOUS_FORMAT = "recollect-memories"
# Version 1 has only memories; files with tasks or goals have version 2.
VERSION = 2

Included = Literal["memories", "summaries", "tasks", "goals"]
# Memory kinds that each value of `include` selects.
KINDS: Mapping[Included, frozenset[MemoryKind]] = {
    "memories": frozenset(MemoryKind) - {MemoryKind.SUMMARY},
    "summaries": frozenset({MemoryKind.SUMMARY}),
    "tasks": frozenset(),
    "goals": frozenset(),
}
PLANS: frozenset[PlanKind] = frozenset({"tasks", "goals"})
# Fields computed when a memory is read, not stored with it.
_COMPUTED_FIELDS = {"conflicts"}
_END = b'{"end":'
_WRITTEN_NUL = rb"\u0000"
# An escaped NUL, but not after an escaped backslash.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


class ExportHeader(_Line):
    """The first line."""

    format: Literal["scrubjay-memories", "recollect-memories"] = FORMAT
    version: Literal[1, 2]
    program: str
    exported_at: datetime
    include: list[Included] = Field(min_length=1)

    @property
    def kinds(self) -> frozenset[MemoryKind]:
        return frozenset[MemoryKind]().union(*(KINDS[included] for included in self.include))

    @property
    def plans(self) -> frozenset[PlanKind]:
        return included_plans(self.include)


class _ProjectLine(_Line):
    project: Project


class _MemoryLine(_Line):
    memory: Memory
    uses: int = Field(0, ge=0)
    used_at: datetime | None = None


class Totals(_Line):
    """Counts of a file's records, and its checksum."""

    projects: int
    memories: dict[MemoryKind, int]
    sha256: str
    """SHA-256 of all lines before the last, including line ends."""
    tasks: int = 0
    goals: int = 0


class _EndLine(_Line):
    end: Totals


LineT = TypeVar("LineT", bound=BaseModel)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)  # built on first use, because building is slow and would delay the server's start


def included_plans(include: Collection[Included]) -> frozenset[PlanKind]:
    return frozenset(sort for sort in PLANS if sort in include)


def header_line(include: Collection[Included], now: datetime) -> bytes:
    version = 2 if included_plans(include) else 1
    header = ExportHeader(version=version, program=scrubjay.__version__, exported_at=now, include=sorted(set(include)))
    return header.model_dump_json().encode() + b"\n"


def project_line(project: Project) -> bytes:
    return b'{"project":%b}\n' % _adapter(Project).dump_json(project)


def memory_line(transfer: TransferMemory) -> bytes:
    ignored = _COMPUTED_FIELDS if transfer.memory.links else _COMPUTED_FIELDS | {"links"}
    memory = _adapter(Memory).dump_json(transfer.memory, exclude=ignored)
    if not transfer.uses:
        return b'{"memory":%b}\n' % memory
    used_at = _adapter(datetime).dump_json(transfer.used_at)
    return b'{"memory":%b,"uses":%d,"used_at":%b}\n' % (memory, transfer.uses, used_at)


def end_line(totals: Totals) -> bytes:
    return _EndLine(end=totals).model_dump_json(exclude_defaults=True).encode() + b"\n"


class OwnFormat:
    """Reads our own files. Implements `records.Format`."""

    name = "scrubjay"

    def __init__(self) -> None:
        self.ignored: Counter[str] = Counter()
        self._header: ExportHeader | None = None
        self.totals: Totals | None = None
        """Set once the file was read to its end and verified."""

    @staticmethod
    def recognises(document: Mapping[str, Any]) -> bool:
        return document.get("format") in (FORMAT, PREVIOUS_FORMAT)

    def complete_kinds(self) -> frozenset[MemoryKind]:
        return self._header.kinds if self._header else frozenset()

    def complete_plans(self) -> frozenset[PlanKind]:
        """Return the kinds of plans that the file contains completely; call it after reading."""
        return self._header.plans if self._header else frozenset()

    def records(self, file: ImportSource) -> Iterator[ImportRecord]:
        for record in self._records(file):
            if isinstance(record, ImportRecord):
                yield record

    def plans(self, file: ImportSource) -> Iterator[ImportPlan]:
        """Yield the tasks and goals in file order."""
        for record in self._records(file):
            if isinstance(record, ImportPlan):
                yield record

    def _records(self, file: ImportSource) -> Iterator[ImportRecord | ImportPlan]:
        projects: dict[str, ProjectRef] = {}
        counts: Counter[MemoryKind] = Counter()
        planned: Counter[PlanKind] = Counter()
        lines = file.lines()
        self._header = _header(file, next(lines, SourceLine(1, b"")))
        kinds = self._header.kinds
        for line in lines:
            if line.data.startswith(_END):
                self.totals = _totals(file, line, len(projects), counts, planned)
                if next(lines, None) is not None:
                    raise file.damaged("continues after its last line")
                return
            if line.data.startswith(b'{"project":'):
                project = _parsed(_ProjectLine, line, file).project
                projects[project.id] = ProjectRef(project.path, project.name)
                continue
            if line.data.startswith((TASK, GOAL)):
                plan = _plan(line, file, self._header.plans, projects)
                planned[plan_kind(plan)] += 1
                yield ImportPlan(plan, projects.get(plan.project_id or ""))
                continue
            found = _parsed(_MemoryLine, line, file)
            _validate_memory(found, kinds, line, file)
            counts[found.memory.kind] += 1
            transfer = TransferMemory(found.memory, found.uses, found.used_at)
            yield ImportRecord(transfer=transfer, project=projects.get(found.memory.project_id or ""))
        raise file.damaged("is truncated: its last line is missing")


def _plan(
    line: SourceLine, file: ImportSource, sorts: frozenset[PlanKind], projects: Mapping[str, ProjectRef]
) -> TransferPlan:
    is_task = line.data.startswith(TASK)
    plan = _parsed(TaskLine, line, file).task if is_task else _parsed(GoalLine, line, file).plan
    problem = find_problem(plan, sorts, projects)
    if problem is None and _WRITTEN_NUL in line.data and _NUL.search(line.data):
        problem = "has a NUL character"
    if problem is not None:
        raise file.damaged(f"is damaged at line {line.number}: a {'task' if is_task else 'goal'} {problem}")
    return plan


def _header(file: ImportSource, line: SourceLine) -> ExportHeader:
    try:
        version = json.loads(line.data)["version"]
    except (ValueError, LookupError, TypeError):
        raise file.damaged("does not begin with a valid header line") from None
    if isinstance(version, int) and version > VERSION:
        raise InvalidRequest(
            f"{file.name} was written by a newer scrubjay, in version {version} of the format",
            hint=f"nothing was changed; this version reads formats up to {VERSION}; upgrade Scrubjay",
        )
    return _parsed(ExportHeader, line, file)


def _totals(
    file: ImportSource,
    line: SourceLine,
    projects: int,
    counts: Mapping[MemoryKind, int],
    planned: Mapping[PlanKind, int],
) -> Totals:
    found = _parsed(_EndLine, line, file).end
    if found.sha256 != file.checksum:
        raise file.damaged("is damaged: its checksum does not match its lines")
    plans = {sort: planned.get(sort, 0) for sort in PLANS}
    if found != Totals(projects=projects, memories=dict(counts), sha256=found.sha256, **plans):
        raise file.damaged("is damaged: its counts do not match its lines")
    return found


def _parsed(kind: type[LineT], line: SourceLine, file: ImportSource) -> LineT:
    try:
        return kind.model_validate_json(line.data)
    except ValidationError as error:
        # Without the value, which may be private.
        problem = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(map(str, problem["loc"])) or "it"
        raise file.damaged(f"is damaged at line {line.number} ({where}: {problem['msg']})") from None


def _validate_memory(found: _MemoryLine, kinds: frozenset[MemoryKind], line: SourceLine, file: ImportSource) -> None:
    """Refuse a memory that no store can have exported."""
    memory = found.memory
    moments = (
        memory.recorded_at,
        memory.updated_at,
        memory.occurred_at,
        memory.valid_from,
        memory.valid_until,
        found.used_at,
        *(link.linked_at for link in memory.links),
    )
    needed = {Scope.GLOBAL: True, Scope.PROJECT: memory.project_id, Scope.SESSION: memory.session_id}
    sound = {
        "has no id or no content": memory.id and memory.content,
        "has a kind that the header does not include": memory.kind in kinds,
        "has an importance or confidence outside 0 to 1": 0 <= memory.importance <= 1 and 0 <= memory.confidence <= 1,
        "has no owner for its scope": needed[memory.scope],
        "has a time without a time zone": all(moment is None or moment.tzinfo is not None for moment in moments),
        "has uses but no time of the last use": found.uses == 0 or found.used_at is not None,
        "has a NUL character": _WRITTEN_NUL not in line.data or not _NUL.search(line.data),
    }
    for problem, fine in sound.items():
        if not fine:
            raise file.damaged(f"is damaged at line {line.number}: a memory {problem}")
