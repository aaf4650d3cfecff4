"""Run programs in workers, within limits, and return their outcomes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast, get_args

import anyio

from scrubjay.core.errors import Internal, InvalidRequest, ScrubjayError, TooLarge
from scrubjay.features.sandbox.outcomes import (
    Denial,
    ErrorType,
    ResourceUsage,
    RunFailure,
    RunOutcome,
    RunStatistics,
    RunSuccess,
    RunTimeout,
    RunViolation,
    ViolationType,
)
from scrubjay.features.sandbox.pool import SandboxPool
from scrubjay.features.sandbox.profiles import LimitPolicy, RunLimits
from scrubjay.features.sandbox.tool_bridge import FileReader, ToolBridge
from scrubjay.features.sandbox.workers import SandboxWorker, WorkerFailed

MAX_CODE_BYTES: Final = 100_000
MAX_INPUT_BYTES: Final = 1_000_000
MAX_CONSOLE_CHARACTERS: Final = 256 * 1024
MAX_ANSWER_BYTES: Final = 1_000_000
MAX_CALLS: Final = 100
MAX_CONCURRENT_CALLS: Final = 8
# A worker ends a run by itself at the time limit; after this grace period it is considered stuck and killed.
GRACE_SECONDS: Final = 2.0
READ_FILE_FUNCTION: Final = "fs.readFile"
# The violation that importing each module counts as.
_MODULE_VIOLATIONS: Final = {
    **dict.fromkeys(("fs", "fs/promises", "path", "os"), "FileSystemAccess"),
    **dict.fromkeys(
        ("http", "https", "http2", "net", "dns", "tls", "dgram", "ws", "axios", "node-fetch", "undici"), "NetworkAccess"
    ),
    **dict.fromkeys(("child_process", "cluster", "worker_threads", "process"), "ProcessExecution"),
    **dict.fromkeys(("vm", "module", "inspector"), "MaliciousCode"),
}


@dataclass(frozen=True, slots=True)
class SandboxProgram:
    """JavaScript or TypeScript, the body of an async function, with its task and input."""

    code: str
    task: str
    input: Any


@dataclass(slots=True)
class _ConsoleOutput:
    """The console output of a program so far."""

    out: list[str] = field(default_factory=list[str])
    err: list[str] = field(default_factory=list[str])
    characters: int = 0

    def add(self, lines: Any) -> None:
        for stream, text in lines:
            text = str(text)[: MAX_CONSOLE_CHARACTERS - self.characters]
            self.characters += len(text)
            (self.out if stream == "out" else self.err).append(text)

    @property
    def stdout(self) -> str:
        return "".join(self.out).removesuffix("\n")

    @property
    def stderr(self) -> str:
        return "".join(self.err).removesuffix("\n")


class Sandbox:
    """Runs programs, each in a new JavaScript context that is discarded afterwards."""

    def __init__(self, pool: SandboxPool, policy: LimitPolicy, reader: FileReader | None = None) -> None:
        self.pool = pool
        self.policy = policy
        self.statistics = RunStatistics()
        self.landlock: int | None = None
        """Landlock version that confines the workers; None before the first run, 0 without Landlock."""
        self.seccomp: bool | None = None
        self._reader = reader

    async def run(self, program: SandboxProgram, limits: RunLimits, tools: ToolBridge) -> RunOutcome:
        """Run a program and return its outcome. Cancelling kills its worker.

        Raise `InvalidRequest` or `TooLarge` for an input that cannot be passed on.
        """
        try:
            length = len(json.dumps(program.input, allow_nan=False))
        except (ValueError, RecursionError) as error:
            raise InvalidRequest("context.input is not JSON, or nested too deeply") from error
        if length > MAX_INPUT_BYTES:
            raise TooLarge(
                f"context.input has more than {MAX_INPUT_BYTES} bytes", hint="let the program fetch it with tools"
            )
        outcome = await self._execute(program, limits, tools)
        self.statistics.count(outcome)
        return outcome

    async def _execute(self, program: SandboxProgram, limits: RunLimits, tools: ToolBridge) -> RunOutcome:
        if (length := len(program.code.encode("utf-8", "replace"))) > MAX_CODE_BYTES:
            reason = f"the code has {length} bytes; the maximum is {MAX_CODE_BYTES}"
            return RunViolation(reason=reason, violation_type="MaliciousCode", usage=ResourceUsage())
        console = _ConsoleOutput()
        started = anyio.current_time()
        try:
            async with self.pool.worker() as worker:
                self.landlock, self.seccomp = worker.landlock, worker.seccomp
                started = anyio.current_time()
                with anyio.fail_after(limits.max_execution_time_ms / 1000 + GRACE_SECONDS):
                    await worker.send(self._request(program, limits, tools))
                    ended = await _RunProtocol(worker, console, tools, self._reader, limits).run()
                return _outcome_of(ended, console)
        except TimeoutError:  # the worker did not end the run at its time limit
            elapsed = round((anyio.current_time() - started) * 1000)
            return RunTimeout(partial_output=console.stdout or None, usage=ResourceUsage(elapsed_ms=elapsed))
        except (WorkerFailed, KeyError, TypeError, ValueError) as error:
            elapsed = round((anyio.current_time() - started) * 1000)
            return RunFailure(
                message=f"the worker process failed ({error})",
                error_type="Unknown",
                stdout=console.stdout,
                stderr=console.stderr,
                usage=ResourceUsage(elapsed_ms=elapsed),
            )

    def _request(self, program: SandboxProgram, limits: RunLimits, tools: ToolBridge) -> dict[str, Any]:
        families: Mapping[str, Sequence[str]] = tools.families if limits.allow_tools else {}
        reads = limits.allow_filesystem and self._reader is not None
        return {
            "code": program.code,
            "seconds": limits.max_execution_time_ms / 1000,
            "cpu_share": limits.max_cpu_percent / 100,
            "memory_bytes": limits.max_memory_mb * 1024 * 1024,
            "max_calls": MAX_CALLS if families or reads else 0,
            "settings": {
                "modules": _MODULE_VIOLATIONS,
                "families": [[family, [*names]] for family, names in families.items()],
                "can_read_files": reads,
                "context": {"task": program.task, "input": program.input},
            },
        }


class _RunProtocol:
    """The exchange of messages between the server and a worker during one run."""

    def __init__(
        self,
        worker: SandboxWorker,
        console: _ConsoleOutput,
        tools: ToolBridge,
        reader: FileReader | None,
        limits: RunLimits,
    ) -> None:
        self._worker = worker
        self._output = console
        self._tools = tools
        self._reader = reader if limits.allow_filesystem else None
        self._within = limits.allowed_paths
        families = tools.families.values() if limits.allow_tools else ()
        self._names = {name for names in families for name in names}
        self._deadline = anyio.current_time() + limits.max_execution_time_ms / 1000
        self._calls = 0
        self._limiter = anyio.CapacityLimiter(MAX_CONCURRENT_CALLS)
        self._send_lock = anyio.Lock()

    async def run(self) -> dict[str, Any]:
        try:
            return await self._run()
        except BaseExceptionGroup as group:
            broken = group.subgroup(WorkerFailed)
            _, others = group.split((WorkerFailed, KeyError, TypeError, ValueError, RecursionError))
            if others is not None:
                raise
            raise WorkerFailed(str(_first(broken)) if broken else "it sent an invalid message") from group

    async def _run(self) -> dict[str, Any]:
        message: dict[str, Any] = {}
        async with anyio.create_task_group() as calls:
            while "end" not in (message := await self._worker.receive()):
                if "console" in message:
                    self._output.add(message["console"])
                    continue
                self._calls += 1
                if self._calls > MAX_CALLS:  # a worker checks this itself, unless it is compromised
                    raise WorkerFailed("it made too many calls")
                calls.start_soon(self._answer_call, message)
            calls.cancel_scope.cancel()  # the program has ended and needs no answers
        return message

    async def _answer_call(self, message: dict[str, Any]) -> None:
        async with self._limiter:
            try:
                text, ok = await self._call(str(message["name"]), message["arguments"]), True
                if len(text.encode()) > MAX_ANSWER_BYTES:
                    raise TooLarge(
                        f"the answer is larger than {MAX_ANSWER_BYTES} bytes", hint="request less, or in several parts"
                    )
            except ScrubjayError as error:
                problem = {"code": error.code.value, "message": error.message, "hint": error.hint}
                text, ok = json.dumps(problem), False
            async with self._send_lock:
                await self._worker.send({"answer": int(message["call"]), "ok": ok, "text": text})

    async def _call(self, name: str, arguments: Any) -> str:
        given = json.loads(arguments)
        if name == READ_FILE_FUNCTION and self._reader is not None:
            return json.dumps(await self._reader.read(str(given["path"]), self._within))
        if name not in self._names:
            raise Internal(f"programs cannot call {name[:100]}")
        if not isinstance(given, Mapping):
            raise InvalidRequest(f"{name} takes an object of arguments")
        seconds = max(0.0, self._deadline - anyio.current_time())
        return await self._tools.call(name, cast(Mapping[str, Any], given), seconds)


def _first(group: BaseExceptionGroup[WorkerFailed]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = cast(BaseExceptionGroup[BaseException], error).exceptions[0]
    return error


def _outcome_of(ended: dict[str, Any], console: _ConsoleOutput) -> RunOutcome:
    usage = ResourceUsage(
        elapsed_ms=int(ended["elapsed_ms"]),
        cpu_ms=float(ended["cpu_ms"]),
        memory_bytes=int(ended["memory_bytes"]),
        denied=[Denial(str(denial["kind"])[:50], str(denial["what"])[:300]) for denial in ended["denied"]],
        truncated=bool(ended["truncated"]),
    )
    match ended["end"]:
        case "success":
            return RunSuccess(output=str(ended["output"]), stdout=console.stdout, stderr=console.stderr, usage=usage)
        case "timeout":
            return RunTimeout(partial_output=console.stdout or None, usage=usage)
        case "violation" if ended["kind"] in get_args(ViolationType):
            kind = cast(ViolationType, ended["kind"])
            return RunViolation(reason=str(ended["reason"]), violation_type=kind, usage=usage)
        case "error" if ended["kind"] in get_args(ErrorType):
            message, where = str(ended["message"]), str(ended["where"])
            stderr = "\n".join(part for part in (console.stderr, f"{message}\n{where}" if where else "") if part)
            kind = cast(ErrorType, ended["kind"])
            return RunFailure(message=message, error_type=kind, stdout=console.stdout, stderr=stderr, usage=usage)
        case other:
            raise WorkerFailed(f"it ended with {str(other)[:50]}")
