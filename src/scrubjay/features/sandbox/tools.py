"""Tools that run agent code in the sandbox, with resource limits and with Scrubjay tools as functions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, assert_never

from pydantic import Field

from scrubjay.core.progress import SilentReporter
from scrubjay.features.sandbox.outcomes import (
    Denial,
    ErrorType,
    RunFailure,
    RunOutcome,
    RunSuccess,
    RunTimeout,
    RunViolation,
    ViolationType,
)
from scrubjay.features.sandbox.profiles import PROFILES, LimitOverrides, ProfileName
from scrubjay.features.sandbox.service import Sandbox, SandboxProgram
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.optional_fields import is_absent, is_empty
from scrubjay.tooling.security_events import security_event

# A nested run would get a time limit of its denial and so outlive the one that started it.
_NOT_CALLABLE: Final = frozenset({"execute_agent_code", "batch_execute", "call_tool"})
# Share of the remaining time that a call waits for a job; then it returns the job, which goes on.
_WAIT_SHARE: Final = 0.8

Path = Annotated[str, Field(min_length=1, max_length=4096)]


class ExecutionContext(Request):
    """The task and input of a program."""

    task: str = Field(max_length=10_000, description="The task in words. The program reads it as context.task.")
    input: Any = Field(description="Any JSON value, at most 1,000,000 bytes. The program reads it as context.input.")


class SandboxConfig(Request):
    """Limits that replace those of the profile. A limit above the server's maximum is refused."""

    max_execution_time_ms: int | None = Field(default=None, ge=1, le=600_000, description="Wall time in milliseconds.")
    max_memory_mb: int | None = Field(default=None, ge=8, le=4_000, description="Memory of the program, in megabytes.")
    max_cpu_percent: int | None = Field(
        default=None, ge=1, le=100, description="Share of one CPU core, enforced after the first 250 ms."
    )
    allow_filesystem: bool | None = Field(
        default=None, description="Allow reading files in the folders that the server owner permits."
    )
    allowed_paths: list[Path] | None = Field(
        default=None,
        max_length=100,
        description="Restrict reading to these folders, which must lie in the permitted ones.",
    )
    allow_network: bool = Field(default=False, description="Not supported: the sandbox never allows it.")
    allowed_network: list[str] = Field(
        default_factory=list[str], max_length=0, description="Not supported: the sandbox never allows it."
    )
    allow_subprocesses: bool = Field(default=False, description="Not supported: the sandbox never allows it.")
    allow_tools: bool | None = Field(default=None, description="Allow calling tools, with the rights of the caller.")

    def overrides(self) -> LimitOverrides:
        return LimitOverrides(**self.model_dump(exclude={"allowed_network"}))


class ExecuteAgentCodeRequest(Request):
    model_config = examples(
        {
            "code": "return context.input.numbers.reduce((sum, one) => sum + one, 0)",
            "context": {"task": "Add numbers", "input": {"numbers": [1, 2, 3]}},
        },
        {
            "code": "const found = await memory.recall({query: context.input}); return found.memories.length",
            "context": {"task": "Count the memories", "input": "release day"},
            "profile": "default",
        },
    )

    code: str = Field(
        description="JavaScript or TypeScript: the body of an async function, so it can use return and await. At most "
        "100,000 bytes."
    )
    context: ExecutionContext = Field(description="The task and the input of the program.")
    profile: ProfileName | None = Field(
        default=None,
        description="Limits: restrictive (3 s, 64 MB, no tools), default (5 s, 128 MB), permissive (10 s, 256 MB).",
    )
    config: SandboxConfig | None = Field(default=None, description="Limits that replace those of the profile.")


class DeniedAccess(Result):
    """An access that the sandbox denied."""

    kind: str
    what: str


class ExecutionOutcome(Result):
    denied: list[DeniedAccess] = Field(
        default_factory=list[DeniedAccess], exclude_if=is_empty, description="Accesses that the sandbox denied."
    )


class SuccessfulExecution(ExecutionOutcome):
    output: str = Field(description="The returned value as JSON; empty when nothing was returned.")
    stdout: str
    stderr: str
    execution_time_ms: int
    truncated: bool = Field(
        default=False, exclude_if=is_empty, description="True when the program printed more than is returned."
    )


class ExecutionError(ExecutionOutcome):
    message: str
    error_type: ErrorType
    stdout: str
    stderr: str = Field(description="The output of the program, then the location of the error.")


class ExecutionTimeout(ExecutionOutcome):
    elapsed_ms: int
    partial_output: str | None = Field(description="The output up to the timeout.")


class SecurityViolationFound(ExecutionOutcome):
    reason: str
    violation_type: ViolationType


class ExecuteAgentCodeResult(Result):
    """The outcome of a run: exactly one of the four fields is set."""

    Success: SuccessfulExecution | None = Field(default=None, exclude_if=is_absent)
    Error: ExecutionError | None = Field(default=None, exclude_if=is_absent)
    Timeout: ExecutionTimeout | None = Field(default=None, exclude_if=is_absent)
    SecurityViolation: SecurityViolationFound | None = Field(default=None, exclude_if=is_absent)


class SandboxStatusRequest(Request):
    model_config = examples({})


class SandboxLimits(Result):
    max_execution_time_ms: int
    max_memory_mb: int
    max_cpu_percent: int
    allow_filesystem: bool
    allow_tools: bool


class ExecutionStatistics(Result):
    """Counts since the server started."""

    total_executions: int
    successful_executions: int
    failed_executions: int = Field(description="All runs without success, including timeouts and violations.")
    timeout_count: int
    security_violations: int
    avg_execution_time_ms: float


class SandboxStatusResult(Result):
    profile: str = Field(description="The profile of a run that names none.")
    profiles: dict[str, SandboxLimits] = Field(description="Profiles with the limits that apply on this server.")
    maximum: SandboxLimits = Field(description="The maximum for each limit in config.")
    slots: int = Field(description="Programs that run at once. The time of a waiting program has not started.")
    running: int
    idle_workers: int
    landlock: int | None = Field(
        description="Landlock version that confines the workers; null before the first run, 0 without Landlock."
    )
    seccomp: bool | None
    statistics: ExecutionStatistics


class CallerTools:
    """Calls every tool that a caller may call, with the rights of this caller."""

    def __init__(self, dispatcher: Dispatcher, context: CallContext) -> None:
        self._dispatcher = dispatcher
        self._context = replace(context, reporter=SilentReporter())

    @property
    def families(self) -> Mapping[str, Sequence[str]]:
        tools = self._dispatcher.registry.names_by_family
        allowed = self._context.caller.callable_families(tools, read_only=True)
        callable_names = {family: [name for name in tools[family] if name not in _NOT_CALLABLE] for family in allowed}
        return {family: names for family, names in callable_names.items() if names}

    async def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        context = replace(self._context, patience=seconds * _WAIT_SHARE)
        return (await self._dispatcher.call(name, arguments, context)).model_dump_json(by_alias=True)


@tool("sandbox", destructive=True, core=False, log_result=False, relays=True)
async def execute_agent_code(
    request: ExecuteAgentCodeRequest, sandbox: Sandbox, dispatcher: Dispatcher, context: CallContext
) -> ExecuteAgentCodeResult:
    """Run JavaScript or TypeScript in a sandbox and return its result and output.

    The program has no files, network, subprocesses or modules: using one raises an error and is listed in `denied`.
    Tools are functions grouped by family, such as `await memory.recall({query: "..."})`. They have the rights of the
    caller and end with the program, so one run can replace dozens of tool calls. A program that fails or times out is
    a result, not an error.
    """
    limits = sandbox.policy.limits(request.profile, request.config.overrides() if request.config else LimitOverrides())
    program = SandboxProgram(request.code, request.context.task, request.context.input)
    outcome = await sandbox.run(program, limits, CallerTools(dispatcher, context))
    _log_denied(outcome, context)
    return _result(outcome)


@tool("sandbox", read_only=True, core=False)
async def sandbox_status(request: SandboxStatusRequest, sandbox: Sandbox) -> SandboxStatusResult:
    """Show the limits of the sandbox, the confinement of its workers, and counts of outcomes."""
    policy, pool = sandbox.policy, sandbox.pool
    return SandboxStatusResult(
        profile=policy.default_profile,
        profiles={name: _limits(policy.limits(name, LimitOverrides())) for name in PROFILES},
        maximum=_limits(policy.ceiling),
        slots=pool.slots,
        running=pool.busy,
        idle_workers=pool.idle,
        landlock=sandbox.landlock,
        seccomp=sandbox.seccomp,
        statistics=ExecutionStatistics.model_validate(sandbox.statistics, from_attributes=True),
    )


def _result(outcome: RunOutcome) -> ExecuteAgentCodeResult:
    usage = outcome.usage
    denied = [DeniedAccess(kind=denial.kind, what=denial.what) for denial in usage.denied]
    match outcome:
        case RunSuccess(output=output, stdout=stdout, stderr=stderr):
            return ExecuteAgentCodeResult(
                Success=SuccessfulExecution(
                    output=output,
                    stdout=stdout,
                    stderr=stderr,
                    execution_time_ms=usage.elapsed_ms,
                    truncated=usage.truncated,
                    denied=denied,
                )
            )
        case RunFailure(message=message, error_type=kind, stdout=stdout, stderr=stderr):
            error = ExecutionError(message=message, error_type=kind, stdout=stdout, stderr=stderr, denied=denied)
            return ExecuteAgentCodeResult(Error=error)
        case RunTimeout(partial_output=partial):
            timeout = ExecutionTimeout(elapsed_ms=usage.elapsed_ms, partial_output=partial, denied=denied)
            return ExecuteAgentCodeResult(Timeout=timeout)
        case RunViolation(reason=reason, violation_type=kind):
            violation = SecurityViolationFound(reason=reason, violation_type=kind, denied=denied)
            return ExecuteAgentCodeResult(SecurityViolation=violation)
        case _:
            assert_never(outcome)


def _log_denied(outcome: RunOutcome, context: CallContext) -> None:
    """Write each kind of denied access to the security log once."""
    by_kind: dict[str, Denial] = {denial.kind: denial for denial in outcome.usage.denied}
    for denial in by_kind.values():
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
