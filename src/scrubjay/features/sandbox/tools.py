"""Programs that agents wrote, run apart from everything: with limits, and with tools as functions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, assert_never

from pydantic import Field

from scrubjay.core.callers import Caller
from scrubjay.core.progress import SilentReporter
from scrubjay.features.sandbox.outcomes import (
    Denial,
    ErrorType,
    Failure,
    Outcome,
    Success,
    Timeout,
    Violation,
    ViolationType,
)
from scrubjay.features.sandbox.profiles import PROFILES, ProfileName, Wishes
from scrubjay.features.sandbox.service import Program, Sandbox
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.optional_fields import is_absent as _absent
from scrubjay.tooling.optional_fields import is_nothing
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.security_events import security_event

# Programs within programs would have more time than their own.
_NOT_WITHIN: Final = frozenset({"execute_agent_code", "batch_execute", "call_tool"})
# What a job may take of the time that is left; then it is handed back and goes on.
_PATIENCE: Final = 0.8

Path = Annotated[str, Field(min_length=1, max_length=4096)]


class ExecutionContext(Request):
    """What the program is for."""

    task: str = Field(
        max_length=10_000, description="What is to be done, in words; the program has it as context.task."
    )
    input: Any = Field(description="Any JSON; the program has it as context.input.")


class SandboxConfig(Request):
    """Limits otherwise than in the profile. More than the server's owner allows is refused."""

    max_execution_time_ms: int | None = Field(default=None, ge=1, le=600_000, description="Then it is ended.")
    max_memory_mb: int | None = Field(default=None, ge=8, le=4_000, description="What its objects may take.")
    max_cpu_percent: int | None = Field(
        default=None, ge=1, le=100, description="Of one processor, after the first quarter of a second."
    )
    allow_filesystem: bool | None = Field(
        default=None, description="Whether it may read files in the folders that the owner opened."
    )
    allowed_paths: list[Path] | None = Field(
        default=None, max_length=100, description="Of these folders only some, or parts of them."
    )
    allow_network: bool = Field(default=False, description="Never given.")
    allowed_network: list[str] = Field(default_factory=list[str], max_length=0, description="Never given.")
    allow_subprocesses: bool = Field(default=False, description="Never given.")
    allow_tools: bool | None = Field(default=None, description="Whether it may call tools, with your own rights.")

    def wishes(self) -> Wishes:
        return Wishes(**self.model_dump(exclude={"allowed_network"}))


class ExecuteAgentCodeRequest(Request):
    model_config = examples(
        {
            "code": "return context.input.numbers.reduce((sum, one) => sum + one, 0)",
            "context": {"task": "Add numbers", "input": {"numbers": [1, 2, 3]}},
        },
        {
            "code": "const found = await memory.recall({query: context.input}); return found.memories.length",
            "context": {"task": "Count what is known", "input": "release day"},
            "profile": "default",
        },
    )

    code: str = Field(
        description="JavaScript or TypeScript: the body of an async function, so it may return and await. At most "
        "100,000 bytes."
    )
    context: ExecutionContext = Field(description="What it is for, and what it works on.")
    profile: ProfileName | None = Field(
        default=None,
        description="Its limits: restrictive (3 s, 64 MB, no tools), default (5 s, 128 MB), permissive (10 s, 256 MB).",
    )
    config: SandboxConfig | None = Field(default=None, description="Limits otherwise than in the profile.")


class DeniedAccess(Result):
    """Something that the program tried and did not get."""

    kind: str
    what: str


class Told(Result):
    denied: list[DeniedAccess] = Field(
        default_factory=list[DeniedAccess], exclude_if=is_nothing, description="What it tried and did not get."
    )


class SuccessfulExecution(Told):
    output: str = Field(description="What it returned, as JSON; empty for nothing.")
    stdout: str
    stderr: str
    execution_time_ms: int
    truncated: bool = Field(default=False, exclude_if=is_nothing, description="Whether it said more than is told.")


class ExecutionError(Told):
    message: str
    error_type: ErrorType
    stdout: str
    stderr: str = Field(description="Where it happened is at the end of it.")


class ExecutionTimeout(Told):
    elapsed_ms: int
    partial_output: str | None = Field(description="What it had said.")


class SecurityViolationFound(Told):
    reason: str
    violation_type: ViolationType


class ExecuteAgentCodeResult(Result):
    """How it ended: one of the four."""

    Success: SuccessfulExecution | None = Field(default=None, exclude_if=_absent)
    Error: ExecutionError | None = Field(default=None, exclude_if=_absent)
    Timeout: ExecutionTimeout | None = Field(default=None, exclude_if=_absent)
    SecurityViolation: SecurityViolationFound | None = Field(default=None, exclude_if=_absent)


class SandboxStatusRequest(Request):
    model_config = examples({})


class SandboxLimits(Result):
    max_execution_time_ms: int
    max_memory_mb: int
    max_cpu_percent: int
    allow_filesystem: bool
    allow_tools: bool


class ExecutionStatistics(Result):
    """Since the server began."""

    total_executions: int
    successful_executions: int
    failed_executions: int = Field(description="All that did not succeed, also those of the next two.")
    timeout_count: int
    security_violations: int
    avg_execution_time_ms: float


class SandboxStatusResult(Result):
    profile: str = Field(description="The profile of who names none.")
    profiles: dict[str, SandboxLimits] = Field(description="As they are on this server.")
    most: SandboxLimits = Field(description="What a config may ask for.")
    slots: int = Field(description="How many programs run at once; the others wait, and their time has not begun.")
    running: int
    idle_workers: int
    landlock: int | None = Field(description="Which version of it holds the workers; null before the first ran.")
    seccomp: bool | None
    statistics: ExecutionStatistics


class CallersTools:
    """A door to all tools that a caller may call, with the caller's rights."""

    def __init__(self, dispatcher: Dispatcher, context: CallContext) -> None:
        self._dispatcher = dispatcher
        self._context = replace(context, reporter=SilentReporter())

    @property
    def families(self) -> Mapping[str, Sequence[str]]:
        registry = self._dispatcher.registry
        return {
            family: names
            for family in registry.families
            if _may_enter(self._context.caller, family) and (names := _names_of(registry, family))
        }

    async def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        context = replace(self._context, patience=seconds * _PATIENCE)
        return (await self._dispatcher.call(name, arguments, context)).model_dump_json(by_alias=True)


@tool("sandbox", destructive=True, core=False, quotes=True)
async def execute_agent_code(
    request: ExecuteAgentCodeRequest, sandbox: Sandbox, dispatcher: Dispatcher, context: CallContext
) -> ExecuteAgentCodeResult:
    """Run JavaScript or TypeScript in a sandbox, and get what it returned and printed.

    No files, no network, no other programs, no modules: whatever tries to reach these gets an error, and is told. Tools
    are functions by family, such as `await memory.recall({query: "..."})`, with your own rights and for the program's
    own time: one call here can replace dozens. A program that fails or takes too long is a result, not an error.
    """
    limits = sandbox.policy.limits(request.profile, request.config.wishes() if request.config else Wishes())
    program = Program(request.code, request.context.task, request.context.input)
    outcome = await sandbox.run(program, limits, CallersTools(dispatcher, context))
    _note_refusals(outcome, context)
    return _result(outcome)


@tool("sandbox", read_only=True, core=False)
async def sandbox_status(request: SandboxStatusRequest, sandbox: Sandbox) -> SandboxStatusResult:
    """Show the sandbox's limits, what holds its workers, and how programs have ended so far."""
    policy, pool = sandbox.policy, sandbox.pool
    return SandboxStatusResult(
        profile=policy.usual,
        profiles={name: _limits(policy.limits(name, Wishes())) for name in PROFILES},
        most=_limits(policy.ceiling),
        slots=pool.slots,
        running=pool.busy,
        idle_workers=pool.idle,
        landlock=sandbox.landlock,
        seccomp=sandbox.seccomp,
        statistics=ExecutionStatistics.model_validate(sandbox.statistics, from_attributes=True),
    )


def _result(outcome: Outcome) -> ExecuteAgentCodeResult:
    spent = outcome.spent
    denied = [DeniedAccess(kind=own.kind, what=own.what) for own in spent.denied]
    match outcome:
        case Success(output=output, stdout=stdout, stderr=stderr):
            return ExecuteAgentCodeResult(
                Success=SuccessfulExecution(
                    output=output,
                    stdout=stdout,
                    stderr=stderr,
                    execution_time_ms=spent.elapsed_ms,
                    truncated=spent.truncated,
                    denied=denied,
                )
            )
        case Failure(message=message, error_type=kind, stdout=stdout, stderr=stderr):
            error = ExecutionError(message=message, error_type=kind, stdout=stdout, stderr=stderr, denied=denied)
            return ExecuteAgentCodeResult(Error=error)
        case Timeout(partial_output=partial):
            timeout = ExecutionTimeout(elapsed_ms=spent.elapsed_ms, partial_output=partial, denied=denied)
            return ExecuteAgentCodeResult(Timeout=timeout)
        case Violation(reason=reason, violation_type=kind):
            violation = SecurityViolationFound(reason=reason, violation_type=kind, denied=denied)
            return ExecuteAgentCodeResult(SecurityViolation=violation)
        case _:
            assert_never(outcome)


def _note_refusals(outcome: Outcome, context: CallContext) -> None:
    """For the log of what was tried, each kind once."""
    tried: dict[str, Denial] = {own.kind: own for own in outcome.spent.denied}
    for denial in tried.values():
        security_event(
            "sandbox_denied",
            reason=f"{denial.kind}: {denial.what}",
            tool="execute_agent_code",
            surface=context.surface,
            key_id=context.caller.key_id,
            request_id=context.request_id,
        )


def _limits(limits: object) -> SandboxLimits:
    return SandboxLimits.model_validate(limits, from_attributes=True)


def _may_enter(caller: Caller, family: str) -> bool:
    return caller.may_call(family, read_only=True)


def _names_of(registry: Registry, family: str) -> list[str]:
    return [name for name in registry.names_of(family) if name not in _NOT_WITHIN]
