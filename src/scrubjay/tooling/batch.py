"""Run several calls as one batch, ordered by their dependencies, with earlier results as arguments."""

import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, cast

import anyio

from scrubjay.core.errors import InvalidRequest, ScrubjayError, TooLarge

RESULT: Final = "$result"
POINTER: Final = "pointer"
# Maximum size of the results inserted into the arguments of one operation; it bounds the size of a batch.
MAX_INSERTED_CHARACTERS: Final = 1_000_000
# Longer numbers exceed any list index.
_MAX_INDEX_DIGITS: Final = 9


class Mode(StrEnum):
    """Concurrency of the operations, and the effect of a failure."""

    PARALLEL = "parallel"
    SEQUENTIAL = "sequential"
    FAILFAST = "failfast"


@dataclass(frozen=True, slots=True)
class Operation:
    """A call of a batch."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    depends_on: Sequence[str] = ()

    @property
    def needs(self) -> list[str]:
        """Return the operations that must succeed first: named dependencies, and those whose results are used."""
        return [*dict.fromkeys([*self.depends_on, *(own[RESULT] for own in _references(self.arguments))])]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an operation: an answer, a failure, or skipped."""

    id: str
    answer: Any | None = None
    failure: ScrubjayError | None = None
    skipped_because: Sequence[str] = ()
    """The failed operations that prevented this call."""
    milliseconds: float = 0.0

    @property
    def succeeded(self) -> bool:
        return self.failure is None and not self.skipped_because


Call = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""Calls a tool and returns its answer as data; raises `ScrubjayError`."""


class CallBatch:
    """A validated set of operations: ids are unique, and dependencies have no cycle."""

    def __init__(self, operations: Sequence[Operation], mode: Mode, max_parallel: int) -> None:
        self._operations = {operation.id: operation for operation in operations}
        if len(self._operations) < len(operations):
            raise InvalidRequest("two operations have the same id", hint="give each operation a unique id")
        self.order = _ordered(self._operations)
        """Operation ids in topological order, otherwise as given."""
        self._is_sequential = mode is Mode.SEQUENTIAL
        self._is_failfast = mode is Mode.FAILFAST
        self._max_parallel = max_parallel
        self._ended = {operation.id: anyio.Event() for operation in operations}
        self._outcomes: dict[str, Outcome] = {}
        self._failed: str | None = None

    async def run(self, call: Call) -> list[Outcome]:
        """Run all operations and return their outcomes in the order given."""
        if self._is_sequential:
            for name in self.order:
                await self._perform(self._operations[name], call)
        else:
            room = anyio.CapacityLimiter(self._max_parallel)
            async with anyio.create_task_group() as tasks:
                for name in self.order:
                    tasks.start_soon(self._wait_then_perform, self._operations[name], call, room)
        return [self._outcomes[name] for name in self._operations]

    async def _wait_then_perform(self, operation: Operation, call: Call, room: anyio.CapacityLimiter) -> None:
        for needed in operation.needs:
            await self._ended[needed].wait()
        async with room:
            await self._perform(operation, call)

    async def _perform(self, operation: Operation, call: Call) -> None:
        if because := self._unmet(operation):
            self._outcomes[operation.id] = Outcome(operation.id, skipped_because=because)
        else:
            self._outcomes[operation.id] = await self._call(operation, call)
        self._ended[operation.id].set()

    async def _call(self, operation: Operation, call: Call) -> Outcome:
        started = time.perf_counter()
        answer: Any | None = None
        failure: ScrubjayError | None = None
        try:
            arguments = _ResultInserter(self._outcomes).of(operation.arguments)
            answer = await call(operation.tool, cast(dict[str, Any], arguments))
        except ScrubjayError as error:
            failure = error
            self._failed = self._failed or operation.id
        milliseconds = round((time.perf_counter() - started) * 1000, 2)
        return Outcome(operation.id, answer, failure, milliseconds=milliseconds)

    def _unmet(self, operation: Operation) -> Sequence[str]:
        """Return the failed operations that prevent this one."""
        failed = [needed for needed in operation.needs if not self._outcomes[needed].succeeded]
        if not failed and self._is_failfast and self._failed is not None:
            return [self._failed]
        return failed


class _ResultInserter:
    """Replaces references by results, up to the size limit."""

    def __init__(self, outcomes: Mapping[str, Outcome]) -> None:
        self._outcomes = outcomes
        self._room = MAX_INSERTED_CHARACTERS

    def of(self, value: Any) -> Any:
        match value:
            case {"$result": str(source), **others} if not others.keys() - {POINTER}:
                found = _value_at(self._outcomes[source].answer, others.get(POINTER, ""), source)
                self._room -= len(json.dumps(found))
                if self._room < 0:
                    raise TooLarge(
                        f"the inserted results exceed {MAX_INSERTED_CHARACTERS} characters",
                        hint="use a pointer to the part that is needed",
                        details={"limit_characters": MAX_INSERTED_CHARACTERS},
                    )
                return found
            case dict():
                return {name: self.of(inner) for name, inner in cast(dict[str, Any], value).items()}
            case list():
                return [self.of(inner) for inner in cast(list[Any], value)]
            case _:
                return value


def _references(value: Any) -> Iterator[dict[str, Any]]:
    match value:
        case {"$result": str(), **others} if not others.keys() - {POINTER}:
            yield cast(dict[str, Any], value)
        case dict():
            for inner in cast(dict[str, Any], value).values():
                yield from _references(inner)
        case list():
            for inner in cast(list[Any], value):
                yield from _references(inner)
        case _:
            return


def _value_at(answer: Any, pointer: Any, source: str) -> Any:
    """Return the value at a JSON pointer (RFC 6901)."""
    found = answer
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise InvalidRequest(f"{pointer!r} is not a JSON pointer", hint="write it as /memories/0/id")
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        match found:
            case dict() if name in found:
                found = cast(dict[str, Any], found)[name]
            case list() if _is_index(name) and int(name) < len(cast(list[Any], found)):
                found = cast(list[Any], found)[int(name)]
            case _:
                raise InvalidRequest(f"the result of {source} has no value at {pointer}")
    return found


def _is_index(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) <= _MAX_INDEX_DIGITS


def _ordered(operations: Mapping[str, Operation]) -> list[str]:
    for operation in operations.values():
        for needed in operation.needs:
            if needed not in operations:
                raise InvalidRequest(
                    f"{operation.id} depends on {needed}, which is not in this batch",
                    details={"operation": operation.id, "unknown": needed},
                )
    ordered: dict[str, None] = {}
    waiting = dict(operations)
    while waiting:
        ready = [name for name, operation in waiting.items() if all(needed in ordered for needed in operation.needs)]
        if not ready:
            raise InvalidRequest(
                f"these operations depend on each other: {', '.join(waiting)}", details={"cycle": [*waiting]}
            )
        for name in ready:
            ordered[name] = None
            del waiting[name]
    return [*ordered]
