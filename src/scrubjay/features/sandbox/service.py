"""Running a program: within which limits, in which worker, and what came of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast, get_args

import anyio

from scrubjay.core.errors import Internal, InvalidRequest, ScrubjayError, TooLarge
from scrubjay.features.sandbox.outcomes import (
    Denial,
    ErrorType,
    Failure,
    Outcome,
    Spent,
    Statistics,
    Success,
    Timeout,
    Violation,
    ViolationType,
)
from scrubjay.features.sandbox.pool import Pool
from scrubjay.features.sandbox.profiles import Limits, Policy
from scrubjay.features.sandbox.tool_bridge import Door, Reader
from scrubjay.features.sandbox.workers import Worker, WorkerBroke

MOST_CODE_BYTES: Final = 100_000
MOST_INPUT_BYTES: Final = 1_000_000
MOST_CONSOLE_CHARACTERS: Final = 256 * 1024
MOST_ANSWER_BYTES: Final = 1_000_000
MOST_CALLS: Final = 100
MOST_CALLS_AT_ONCE: Final = 8
# A worker ends a run by itself when its time is over; one that has not by then never will.
GRACE_SECONDS: Final = 2.0
READ_FILE: Final = "fs.readFile"
# What a module would give a program that has none of it.
_MODULES: Final = {
    **dict.fromkeys(("fs", "fs/promises", "path", "os"), "FileSystemAccess"),
    **dict.fromkeys(
        ("http", "https", "http2", "net", "dns", "tls", "dgram", "ws", "axios", "node-fetch", "undici"), "NetworkAccess"
    ),
    **dict.fromkeys(("child_process", "cluster", "worker_threads", "process"), "ProcessExecution"),
    **dict.fromkeys(("vm", "module", "inspector"), "MaliciousCode"),
}


@dataclass(frozen=True, slots=True)
class Program:
    """What is run: JavaScript or TypeScript, as the body of an asynchronous function, and what it is told."""

    code: str
    task: str
    input: Any


@dataclass(slots=True)
class _Heard:
    """What a program said so far."""

    out: list[str] = field(default_factory=list[str])
    err: list[str] = field(default_factory=list[str])
    characters: int = 0

    def take(self, said: Any) -> None:
        for stream, text in said:
            text = str(text)[: MOST_CONSOLE_CHARACTERS - self.characters]
            self.characters += len(text)
            (self.out if stream == "out" else self.err).append(text)

    @property
    def stdout(self) -> str:
        return "".join(self.out).removesuffix("\n")

    @property
    def stderr(self) -> str:
        return "".join(self.err).removesuffix("\n")


class Sandbox:
    """Runs programs, each in a world of its own that is thrown away with it."""

    def __init__(self, pool: Pool, policy: Policy, reader: Reader | None = None) -> None:
        self.pool = pool
        self.policy = policy
        self.statistics = Statistics()
        self.landlock: int | None = None
        """The version of the kernel's Landlock that holds workers; None before one ran, 0 without any."""
        self.seccomp: bool | None = None
        self._reader = reader

    async def run(self, program: Program, limits: Limits, door: Door) -> Outcome:
        """How it ended. Who is cancelled meanwhile leaves nothing running."""
        try:
            length = len(json.dumps(program.input, allow_nan=False))
        except (ValueError, RecursionError) as error:
            raise InvalidRequest("context.input is not JSON, or nested too deeply") from error
        if length > MOST_INPUT_BYTES:
            raise TooLarge(f"context.input has more than {MOST_INPUT_BYTES} bytes", hint="let the program ask for it")
        outcome = await self._outcome(program, limits, door)
        self.statistics.count(outcome)
        return outcome

    async def _outcome(self, program: Program, limits: Limits, door: Door) -> Outcome:
        if (length := len(program.code.encode("utf-8", "replace"))) > MOST_CODE_BYTES:
            reason = f"the code has {length} bytes; {MOST_CODE_BYTES} are the most"
            return Violation(reason=reason, violation_type="MaliciousCode", spent=Spent())
        heard = _Heard()
        started = anyio.current_time()
        try:
            async with self.pool.worker() as worker:
                self.landlock, self.seccomp = worker.landlock, worker.seccomp
                started = anyio.current_time()
                with anyio.fail_after(limits.max_execution_time_ms / 1000 + GRACE_SECONDS):
                    await worker.send(self._asked(program, limits, door))
                    ended = await _Conversation(worker, heard, door, self._reader, limits).until_the_end()
                return _outcome_of(ended, heard)
        except TimeoutError:  # it does not even end itself
            elapsed = round((anyio.current_time() - started) * 1000)
            return Timeout(partial_output=heard.stdout or None, spent=Spent(elapsed_ms=elapsed))
        except (WorkerBroke, KeyError, TypeError, ValueError) as error:
            elapsed = round((anyio.current_time() - started) * 1000)
            return Failure(
                message=f"the process that ran the program is gone ({error})",
                error_type="Unknown",
                stdout=heard.stdout,
                stderr=heard.stderr,
                spent=Spent(elapsed_ms=elapsed),
            )

    def _asked(self, program: Program, limits: Limits, door: Door) -> dict[str, Any]:
        families: Mapping[str, Sequence[str]] = door.families if limits.allow_tools else {}
        reads = limits.allow_filesystem and self._reader is not None
        return {
            "code": program.code,
            "seconds": limits.max_execution_time_ms / 1000,
            "cpu_share": limits.max_cpu_percent / 100,
            "memory_bytes": limits.max_memory_mb * 1024 * 1024,
            "most_calls": MOST_CALLS if families or reads else 0,
            "given": {
                "modules": _MODULES,
                "families": [[family, [*names]] for family, names in families.items()],
                "reads": reads,
                "context": {"task": program.task, "input": program.input},
            },
        }


class _Conversation:
    """What passes between the server and a worker during one run."""

    def __init__(self, worker: Worker, heard: _Heard, door: Door, reader: Reader | None, limits: Limits) -> None:
        self._worker = worker
        self._heard = heard
        self._door = door
        self._reader = reader if limits.allow_filesystem else None
        self._within = limits.allowed_paths
        self._names = {name for names in door.families.values() for name in names} if limits.allow_tools else set[str]()
        self._deadline = anyio.current_time() + limits.max_execution_time_ms / 1000
        self._calls = 0
        self._room = anyio.CapacityLimiter(MOST_CALLS_AT_ONCE)
        self._writing = anyio.Lock()

    async def until_the_end(self) -> dict[str, Any]:
        try:
            return await self._until_the_end()
        except BaseExceptionGroup as group:
            broken = group.subgroup(WorkerBroke)
            _, others = group.split((WorkerBroke, KeyError, TypeError, ValueError, RecursionError))
            if others is not None:
                raise
            raise WorkerBroke(str(_first(broken)) if broken else "it talks nonsense") from group

    async def _until_the_end(self) -> dict[str, Any]:
        message: dict[str, Any] = {}
        async with anyio.create_task_group() as calls:
            while "end" not in (message := await self._worker.receive()):
                if "said" in message:
                    self._heard.take(message["said"])
                    continue
                self._calls += 1
                if self._calls > MOST_CALLS:  # the worker sees to that itself, if it is one
                    raise WorkerBroke("it calls too often")
                calls.start_soon(self._answer, message)
            calls.cancel_scope.cancel()  # nobody is there any more to hear the answers
        return message

    async def _answer(self, message: dict[str, Any]) -> None:
        async with self._room:
            try:
                text, kept = await self._called(str(message["name"]), message["arguments"]), True
                if len(text.encode()) > MOST_ANSWER_BYTES:
                    raise TooLarge(
                        f"the answer is larger than {MOST_ANSWER_BYTES} bytes", hint="ask for less, or for parts of it"
                    )
            except ScrubjayError as error:
                told = {"code": error.code.value, "message": error.message, "hint": error.hint}
                text, kept = json.dumps(told), False
            async with self._writing:
                await self._worker.send({"answer": int(message["call"]), "kept": kept, "text": text})

    async def _called(self, name: str, arguments: Any) -> str:
        given = json.loads(arguments)
        if name == READ_FILE and self._reader is not None:
            return json.dumps(await self._reader.read(str(given["path"]), self._within))
        if name not in self._names:
            raise Internal(f"a program cannot call {name[:100]}")
        if not isinstance(given, Mapping):
            raise InvalidRequest(f"{name} takes an object of arguments")
        seconds = max(0.0, self._deadline - anyio.current_time())
        return await self._door.call(name, cast(Mapping[str, Any], given), seconds)


def _first(group: BaseExceptionGroup[WorkerBroke]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = cast(BaseExceptionGroup[BaseException], error).exceptions[0]
    return error


def _outcome_of(ended: dict[str, Any], heard: _Heard) -> Outcome:
    spent = Spent(
        elapsed_ms=int(ended["elapsed_ms"]),
        cpu_ms=float(ended["cpu_ms"]),
        memory_bytes=int(ended["memory_bytes"]),
        denied=[Denial(str(own["kind"])[:50], str(own["what"])[:300]) for own in ended["denied"]],
        truncated=bool(ended["truncated"]),
    )
    match ended["end"]:
        case "success":
            return Success(output=str(ended["output"]), stdout=heard.stdout, stderr=heard.stderr, spent=spent)
        case "timeout":
            return Timeout(partial_output=heard.stdout or None, spent=spent)
        case "violation" if ended["kind"] in get_args(ViolationType):
            kind = cast(ViolationType, ended["kind"])
            return Violation(reason=str(ended["reason"]), violation_type=kind, spent=spent)
        case "error" if ended["kind"] in get_args(ErrorType):
            message, where = str(ended["message"]), str(ended["where"])
            stderr = "\n".join(part for part in (heard.stderr, f"{message}\n{where}" if where else "") if part)
            kind = cast(ErrorType, ended["kind"])
            return Failure(message=message, error_type=kind, stdout=heard.stdout, stderr=stderr, spent=spent)
        case other:
            raise WorkerBroke(f"it ended with {str(other)[:50]}")
