"""Several calls at once: each after those that it depends on, with what they answered among its arguments."""

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
# So much of results may be among the arguments of one operation: a short batch must not become an endless call.
MOST_FILLED_CHARACTERS: Final = 1_000_000
# No list is as long as a number of more digits.
_MOST_DIGITS: Final = 9


class Mode(StrEnum):
    """What runs beside what, and what a failure stops."""

    PARALLEL = "parallel"
    SEQUENTIAL = "sequential"
    FAILFAST = "failfast"


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of a batch."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    depends_on: Sequence[str] = ()

    @property
    def needs(self) -> list[str]:
        """The operations that have to succeed before: those that are named, and those whose results are used."""
        return [*dict.fromkeys([*self.depends_on, *(own[RESULT] for own in _references(self.arguments))])]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an operation ended: with what it answered, with a failure, or without having been called."""

    id: str
    answer: Any | None = None
    failure: ScrubjayError | None = None
    skipped_because: Sequence[str] = ()
    """The operations that did not succeed, for one that was therefore not called."""
    milliseconds: float = 0.0

    @property
    def succeeded(self) -> bool:
        return self.failure is None and not self.skipped_because


Call = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""Calls a tool; its answer as data, or a `ScrubjayError`."""


class Batch:
    """Operations that can be run: each has an id of its own, and none waits for itself."""

    def __init__(self, operations: Sequence[Operation], mode: Mode, max_parallel: int) -> None:
        self._operations = {operation.id: operation for operation in operations}
        if len(self._operations) < len(operations):
            raise InvalidRequest("two operations have the same id", hint="give each an id of its own")
        self.order = _ordered(self._operations)
        """Their ids, each after all that it needs; else as they were given."""
        self._is_sequential = mode is Mode.SEQUENTIAL
        self._is_failfast = mode is Mode.FAILFAST
        self._max_parallel = max_parallel
        self._ended = {operation.id: anyio.Event() for operation in operations}
        self._outcomes: dict[str, Outcome] = {}
        self._failed: str | None = None

    async def run(self, call: Call) -> list[Outcome]:
        """How each ended, in the order given."""
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
        if because := self._in_vain(operation):
            self._outcomes[operation.id] = Outcome(operation.id, skipped_because=because)
        else:
            self._outcomes[operation.id] = await self._called(operation, call)
        self._ended[operation.id].set()

    async def _called(self, operation: Operation, call: Call) -> Outcome:
        started = time.perf_counter()
        answer: Any | None = None
        failure: ScrubjayError | None = None
        try:
            arguments = _Filling(self._outcomes).of(operation.arguments)
            answer = await call(operation.tool, cast(dict[str, Any], arguments))
        except ScrubjayError as error:
            failure = error
            self._failed = self._failed or operation.id
        milliseconds = round((time.perf_counter() - started) * 1000, 2)
        return Outcome(operation.id, answer, failure, milliseconds=milliseconds)

    def _in_vain(self, operation: Operation) -> Sequence[str]:
        """What did not succeed, so that there is no use in calling it."""
        failed = [needed for needed in operation.needs if not self._outcomes[needed].succeeded]
        if not failed and self._is_failfast and self._failed is not None:
            return [self._failed]
        return failed


class _Filling:
    """Puts results into the places of those that refer to them, as far as there is room."""

    def __init__(self, outcomes: Mapping[str, Outcome]) -> None:
        self._outcomes = outcomes
        self._room = MOST_FILLED_CHARACTERS

    def of(self, value: Any) -> Any:
        match value:
            case {"$result": str(source), **others} if not others.keys() - {POINTER}:
                found = _at(self._outcomes[source].answer, others.get(POINTER, ""), source)
                self._room -= len(json.dumps(found))
                if self._room < 0:
                    raise TooLarge(
                        f"the results among the arguments have more than {MOST_FILLED_CHARACTERS} characters",
                        hint="point at the parts that are needed",
                        details={"limit_characters": MOST_FILLED_CHARACTERS},
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


def _at(answer: Any, pointer: Any, source: str) -> Any:
    """What a JSON pointer (RFC 6901) leads to."""
    found = answer
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise InvalidRequest(f"{pointer!r} is no JSON pointer", hint="write it as /memories/0/id")
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        match found:
            case dict() if name in found:
                found = cast(dict[str, Any], found)[name]
            case list() if _is_place(name) and int(name) < len(cast(list[Any], found)):
                found = cast(list[Any], found)[int(name)]
            case _:
                raise InvalidRequest(f"the result of {source} has nothing at {pointer}")
    return found


def _is_place(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) <= _MOST_DIGITS


def _ordered(operations: Mapping[str, Operation]) -> list[str]:
    for operation in operations.values():
        for needed in operation.needs:
            if needed not in operations:
                raise InvalidRequest(
                    f"{operation.id} depends on {needed}, which is no operation of this batch",
                    details={"operation": operation.id, "unknown": needed},
                )
    ordered: dict[str, None] = {}
    waiting = dict(operations)
    while waiting:
        ready = [name for name, operation in waiting.items() if all(needed in ordered for needed in operation.needs)]
        if not ready:
            raise InvalidRequest(
                f"these operations wait for each other: {', '.join(waiting)}", details={"cycle": [*waiting]}
            )
        for name in ready:
            ordered[name] = None
            del waiting[name]
    return [*ordered]
