"""Our own files: a line that says what it is, one for each record, and one that proves the file whole."""

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
from scrubjay.features.memory.models import Kind, Memory
from scrubjay.features.projects.models import Project
from scrubjay.features.transfer.models import Moved, MovedPlan, PlanSort
from scrubjay.features.transfer.plan_records import GOAL, TASK, GoalLine, PlanArrival, TaskLine, sort_of, why_impossible
from scrubjay.features.transfer.records import Arrival, Place
from scrubjay.features.transfer.source_file import Line, SourceFile

FORMAT = "scrubjay-memories"
# The same format, as files have it that were written under the previous name of the product.
PREVIOUS_FORMAT = "recollect-memories"
# The first has memories alone; what has tasks or goals is of the second.
VERSION = 2

Included = Literal["memories", "summaries", "tasks", "goals"]
# What each word that says what is included stands for.
KINDS: Mapping[Included, frozenset[Kind]] = {
    "memories": frozenset(Kind) - {Kind.SUMMARY},
    "summaries": frozenset({Kind.SUMMARY}),
    "tasks": frozenset(),
    "goals": frozenset(),
}
PLANS: frozenset[PlanSort] = frozenset({"tasks", "goals"})
# What is found when a memory is read, and not kept with it.
_FOUND_BY_READING = {"conflicts"}
_END = b'{"end":'
_WRITTEN_NUL = rb"\u0000"
# The same, unless its backslash is itself a character of the text.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


class Header(_Line):
    """The first line."""

    format: Literal["scrubjay-memories", "recollect-memories"] = FORMAT
    version: Literal[1, 2]
    program: str
    exported_at: datetime
    include: list[Included] = Field(min_length=1)

    @property
    def kinds(self) -> frozenset[Kind]:
        return frozenset[Kind]().union(*(KINDS[included] for included in self.include))

    @property
    def plans(self) -> frozenset[PlanSort]:
        return plans_in(self.include)


class _ProjectLine(_Line):
    project: Project


class _MemoryLine(_Line):
    memory: Memory
    uses: int = Field(0, ge=0)
    used_at: datetime | None = None


class Totals(_Line):
    """How much there is in a file, and what its bytes come to."""

    projects: int
    memories: dict[Kind, int]
    sha256: str
    """Of all lines before the last, with their ends."""
    tasks: int = 0
    goals: int = 0


class _EndLine(_Line):
    end: Totals


LineT = TypeVar("LineT", bound=BaseModel)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)  # takes a while to make, which a server that only starts need not wait for


def plans_in(include: Collection[Included]) -> frozenset[PlanSort]:
    return frozenset(sort for sort in PLANS if sort in include)


def header_line(include: Collection[Included], now: datetime) -> bytes:
    version = 2 if plans_in(include) else 1
    header = Header(version=version, program=scrubjay.__version__, exported_at=now, include=sorted(set(include)))
    return header.model_dump_json().encode() + b"\n"


def project_line(project: Project) -> bytes:
    return b'{"project":%b}\n' % _adapter(Project).dump_json(project)


def memory_line(moved: Moved) -> bytes:
    left_out = _FOUND_BY_READING if moved.memory.links else _FOUND_BY_READING | {"links"}
    memory = _adapter(Memory).dump_json(moved.memory, exclude=left_out)
    if not moved.uses:
        return b'{"memory":%b}\n' % memory
    used_at = _adapter(datetime).dump_json(moved.used_at)
    return b'{"memory":%b,"uses":%d,"used_at":%b}\n' % (memory, moved.uses, used_at)


def end_line(totals: Totals) -> bytes:
    return _EndLine(end=totals).model_dump_json(exclude_defaults=True).encode() + b"\n"


class OwnFormat:
    """Reads our own files. Satisfies `arrivals.Format`."""

    name = "scrubjay"

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self._header: Header | None = None
        self.totals: Totals | None = None
        """Once the whole file was read and found to be whole."""

    @staticmethod
    def recognises(document: Mapping[str, Any]) -> bool:
        return document.get("format") in (FORMAT, PREVIOUS_FORMAT)

    def holds(self) -> frozenset[Kind]:
        return self._header.kinds if self._header else frozenset()

    def holds_plans(self) -> frozenset[PlanSort]:
        """The sorts of plans that the file, once read, is a whole copy of."""
        return self._header.plans if self._header else frozenset()

    def arrivals(self, file: SourceFile) -> Iterator[Arrival]:
        for arrival in self._records(file):
            if isinstance(arrival, Arrival):
                yield arrival

    def plans(self, file: SourceFile) -> Iterator[PlanArrival]:
        """The tasks and goals that the file brings, in its order."""
        for arrival in self._records(file):
            if isinstance(arrival, PlanArrival):
                yield arrival

    def _records(self, file: SourceFile) -> Iterator[Arrival | PlanArrival]:
        places: dict[str, Place] = {}
        counts: Counter[Kind] = Counter()
        planned: Counter[PlanSort] = Counter()
        lines = file.lines()
        self._header = _header(file, next(lines, Line(1, b"")))
        kinds = self._header.kinds
        for line in lines:
            if line.data.startswith(_END):
                self.totals = _totals(file, line, len(places), counts, planned)
                if next(lines, None) is not None:
                    raise file.damaged("goes on behind its last line")
                return
            if line.data.startswith(b'{"project":'):
                project = _parsed(_ProjectLine, line, file).project
                places[project.id] = Place(project.path, project.name)
                continue
            if line.data.startswith((TASK, GOAL)):
                plan = _plan(line, file, self._header.plans, places)
                planned[sort_of(plan)] += 1
                yield PlanArrival(plan, places.get(plan.project_id or ""))
                continue
            found = _parsed(_MemoryLine, line, file)
            _refuse_impossible(found, kinds, line, file)
            counts[found.memory.kind] += 1
            moved = Moved(found.memory, found.uses, found.used_at)
            yield Arrival(moved=moved, place=places.get(found.memory.project_id or ""))
        raise file.damaged("is torn: its last line is missing")


def _plan(line: Line, file: SourceFile, sorts: frozenset[PlanSort], places: Mapping[str, Place]) -> MovedPlan:
    is_task = line.data.startswith(TASK)
    plan = _parsed(TaskLine, line, file).task if is_task else _parsed(GoalLine, line, file).plan
    problem = why_impossible(plan, sorts, places)
    if problem is None and _WRITTEN_NUL in line.data and _NUL.search(line.data):
        problem = "has a NUL character"
    if problem is not None:
        raise file.damaged(f"is damaged at line {line.number}: a {'task' if is_task else 'goal'} {problem}")
    return plan


def _header(file: SourceFile, line: Line) -> Header:
    try:
        version = json.loads(line.data)["version"]
    except (ValueError, LookupError, TypeError):
        raise file.damaged("does not begin with a line that says what it is") from None
    if isinstance(version, int) and version > VERSION:
        raise InvalidRequest(
            f"{file.name} was written by a newer scrubjay, in version {version} of the format",
            hint=f"nothing was changed; this program reads versions up to {VERSION}: upgrade it",
        )
    return _parsed(Header, line, file)


def _totals(
    file: SourceFile, line: Line, projects: int, counts: Mapping[Kind, int], planned: Mapping[PlanSort, int]
) -> Totals:
    found = _parsed(_EndLine, line, file).end
    if found.sha256 != file.checksum:
        raise file.damaged("is damaged: its checksum is not that of its lines")
    plans = {sort: planned.get(sort, 0) for sort in PLANS}
    if found != Totals(projects=projects, memories=dict(counts), sha256=found.sha256, **plans):
        raise file.damaged("is damaged: its counts are not those of its lines")
    return found


def _parsed(kind: type[LineT], line: Line, file: SourceFile) -> LineT:
    try:
        return kind.model_validate_json(line.data)
    except ValidationError as error:
        # Never the value: it is what somebody confided.
        problem = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(map(str, problem["loc"])) or "it"
        raise file.damaged(f"is damaged at line {line.number} ({where}: {problem['msg']})") from None


def _refuse_impossible(found: _MemoryLine, kinds: frozenset[Kind], line: Line, file: SourceFile) -> None:
    """Refuse what no store of ours can have written."""
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
        "is of a kind that the first line does not name": memory.kind in kinds,
        "says how much it matters in something else than 0 to 1": 0 <= memory.importance <= 1
        and 0 <= memory.confidence <= 1,
        "does not say whose it is": needed[memory.scope],
        "has a time without a zone": all(moment is None or moment.tzinfo is not None for moment in moments),
        "says when it was used, but not how often": found.uses == 0 or found.used_at is not None,
        "has a NUL character": _WRITTEN_NUL not in line.data or not _NUL.search(line.data),
    }
    for problem, fine in sound.items():
        if not fine:
            raise file.damaged(f"is damaged at line {line.number}: a memory {problem}")
