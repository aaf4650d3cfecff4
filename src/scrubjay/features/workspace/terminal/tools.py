"""The tool `terminal`: commands and sessions, with the request format of Mimo."""

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from scrubjay.features.workspace.terminal.service import Terminal
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_absent, is_empty
from scrubjay.tooling.security_events import security_event

TerminalOperation = Literal[
    "execute",
    "start_process",
    "read_output",
    "interact",
    "kill",
    "force_kill",
    "list_sessions",
    "list_processes",
]
READ_OPERATIONS = ("list_sessions", "list_processes")
# Default timeout of each operation, in milliseconds.
_TIMEOUTS: dict[str, int] = {"execute": 30_000, "start_process": 5_000, "read_output": 1_000}
_REQUIRED: dict[str, tuple[str, ...]] = {
    "execute": ("command",),
    "start_process": ("command",),
    "read_output": ("pid",),
    "interact": ("pid", "input"),
    "kill": ("pid",),
    "force_kill": ("pid",),
}


class TerminalRequest(Request):
    model_config = examples({"command": "git status"}, {"operation": "start_process", "command": "tail -f server.log"})

    operation: TerminalOperation = Field(default="execute", description="The operation.")
    command: str | None = Field(
        default=None, max_length=10_000, description="For execute and start_process: the program and its arguments."
    )
    timeout: int | None = Field(
        default=None,
        ge=0,
        le=600_000,
        description="Milliseconds. execute: time limit after which the command is killed (default 30000). "
        "start_process and read_output: time to wait for output (default 5000 and 1000).",
    )
    restricted: bool = Field(
        default=True,
        description="Run only allowlisted read-only commands. false needs the setting terminal.unrestricted.",
    )
    pid: int | None = Field(
        default=None, ge=1, description="The session, for read_output, interact, kill and force_kill."
    )
    input: str | None = Field(default=None, max_length=100_000, description="For interact: the line to write to stdin.")

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        missing = [name for name in _REQUIRED.get(self.operation, ()) if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.operation} needs {' and '.join(missing)}")
        return self

    @property
    def seconds(self) -> float:
        default = _TIMEOUTS.get(self.operation, 0)
        return (default if self.timeout is None else self.timeout) / 1000


class TerminalSession(Result):
    pid: int
    command: str
    started_at: datetime
    runtime_seconds: float


class RunningProcessView(Result):
    user: str
    pid: int
    cpu: float = Field(description="Percent of one CPU core since the process started.")
    mem: float = Field(description="Percent of the physical memory.")
    command: str


class TerminalResult(Result):
    """The result of an operation; only its own fields are set."""

    operation: TerminalOperation
    status: int | str | None = Field(
        default=None,
        exclude_if=is_absent,
        description="execute: the exit status, 0 for success. kill: killed. force_kill: force_terminated.",
    )
    output: str | None = Field(
        default=None,
        exclude_if=is_absent,
        description="stdout and stderr of the program, or the reason why the command was refused.",
    )
    pid: int | None = Field(default=None, exclude_if=is_absent)
    command: str | None = Field(default=None, exclude_if=is_absent)
    initial_output: str | None = Field(
        default=None, exclude_if=is_absent, description="start_process: the first output."
    )
    exit_status: int | None = Field(
        default=None, exclude_if=is_absent, description="Exit status of a session that has ended."
    )
    sessions: list[TerminalSession] | None = Field(
        default=None, exclude_if=is_absent, description="list_sessions: the sessions of the caller."
    )
    processes: list[RunningProcessView] | None = Field(
        default=None, exclude_if=is_absent, description="list_processes: the processes of the machine."
    )
    truncated: bool = Field(default=False, exclude_if=is_empty, description="True when the output is incomplete.")
    timed_out: bool = Field(
        default=False, exclude_if=is_empty, description="execute: true when the command was killed at its timeout."
    )
    partial_output: str = Field(default="", exclude_if=is_empty, description="execute: the output up to the timeout.")

    def bare(self) -> Any:
        """Return only the value of the operation, as Mimo does."""
        if self.sessions is not None:
            return self.sessions
        if self.processes is not None:
            return self.processes
        return {name: value for name, value in self.model_dump(mode="json").items() if name != "operation"}


@tool("terminal", destructive=True, core=False, reading_operations=READ_OPERATIONS)
async def terminal(request: TerminalRequest, terminal: Terminal, context: CallContext) -> TerminalResult:
    """Run a read-only command in the root folder of the server, or keep a program running and write to its stdin.

    There is no shell: no pipes, redirection or wildcards. Only allowlisted programs run (ls, cat, grep, git, find, ps,
    curl ...), each with read-only arguments. The output of a refused command gives the reason. Programs end
    with the key of their caller and with the server.
    """
    result = TerminalResult(operation=request.operation)
    owner = context.caller.owner_id
    command, pid = request.command or "", request.pid or 0
    match request.operation:
        case "execute":
            executed = await terminal.execute(
                command, seconds=request.seconds, restricted=request.restricted, caller=context.caller
            )
            if executed.refused:
                _log_refusal(executed.output, context)
            result.status, result.output, result.truncated = executed.status, executed.output, executed.truncated
            result.timed_out, result.partial_output = executed.timed_out, executed.partial_output
        case "start_process":
            result.command, read = await terminal.start_process(
                command, seconds=request.seconds, restricted=request.restricted, caller=context.caller
            )
            result.pid, result.initial_output = read.pid, read.output
            result.exit_status, result.truncated = read.status, read.truncated
        case "read_output":
            read = await terminal.read_output(pid, seconds=request.seconds, owner=owner)
            result.pid, result.output = read.pid, read.output
            result.exit_status, result.truncated = read.status, read.truncated
        case "interact":
            read = await terminal.interact(pid, request.input or "", owner)
            result.pid, result.output = read.pid, read.output
            result.exit_status, result.truncated = read.status, read.truncated
        case "kill":
            await terminal.kill(pid, owner, at_once=False)
            result.pid, result.status = pid, "killed"
        case "force_kill":
            await terminal.kill(pid, owner, at_once=True)
            result.pid, result.status = pid, "force_terminated"
        case "list_sessions":
            result.sessions = [
                TerminalSession.model_validate(one, from_attributes=True) for one in terminal.list_sessions(owner)
            ]
        case "list_processes":
            found, result.truncated = await terminal.list_processes()
            result.processes = [RunningProcessView.model_validate(one, from_attributes=True) for one in found]
    return result


def _log_refusal(reason: str, context: CallContext) -> None:
    security_event(
        "command_refused",
        reason=reason,
        tool="terminal",
        surface=context.surface,
        key_id=context.caller.key_id,
        request_id=context.request_id,
    )
