"""Commands and sessions: the tool `terminal` as Mimo's clients know it."""

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from scrubjay.features.workspace.terminal.service import Terminal
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_absent as _absent
from scrubjay.tooling.optional_fields import is_nothing
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
READING = ("list_sessions", "list_processes")
# How long each operation waits, in milliseconds, unless it is told otherwise.
_TIMEOUTS: dict[str, int] = {"execute": 30_000, "start_process": 5_000, "read_output": 1_000}
_NEEDED: dict[str, tuple[str, ...]] = {
    "execute": ("command",),
    "start_process": ("command",),
    "read_output": ("pid",),
    "interact": ("pid", "input"),
    "kill": ("pid",),
    "force_kill": ("pid",),
}


class TerminalRequest(Request):
    model_config = examples({"command": "git status"}, {"operation": "start_process", "command": "tail -f server.log"})

    operation: TerminalOperation = Field(default="execute", description="What to do.")
    command: str | None = Field(
        default=None, max_length=10_000, description="For execute and start_process: the program and its arguments."
    )
    timeout: int | None = Field(
        default=None,
        ge=0,
        le=600_000,
        description="Milliseconds. execute: then it is ended (30000). start_process and read_output: how long to wait "
        "for something to be said (5000 and 1000).",
    )
    restricted: bool = Field(
        default=True, description="Only harmless commands of a list; false works only where the owner allows it."
    )
    pid: int | None = Field(default=None, ge=1, description="The session, for read_output, interact and the two kills.")
    input: str | None = Field(default=None, max_length=100_000, description="For interact: the line to write.")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        missing = [name for name in _NEEDED.get(self.operation, ()) if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.operation} needs {' and '.join(missing)}")
        return self

    @property
    def seconds(self) -> float:
        usual = _TIMEOUTS.get(self.operation, 0)
        return (usual if self.timeout is None else self.timeout) / 1000


class TerminalSession(Result):
    pid: int
    command: str
    started_at: datetime
    runtime_seconds: float


class ProcessView(Result):
    user: str
    pid: int
    cpu: float = Field(description="Percent of one processor since it began.")
    mem: float = Field(description="Percent of the machine's memory.")
    command: str


class TerminalResult(Result):
    """What came of it; of the fields below, those that belong to the operation."""

    operation: TerminalOperation
    status: int | str | None = Field(
        default=None,
        exclude_if=_absent,
        description="Of execute: how the program ended, 0 when all went well. Of kill and force_kill: killed, "
        "force_terminated.",
    )
    output: str | None = Field(
        default=None, exclude_if=_absent, description="What it said, errors and all; why it was refused."
    )
    pid: int | None = Field(default=None, exclude_if=_absent)
    command: str | None = Field(default=None, exclude_if=_absent)
    initial_output: str | None = Field(default=None, exclude_if=_absent, description="Of start_process.")
    exit_status: int | None = Field(default=None, exclude_if=_absent, description="Of a session that has ended: how.")
    sessions: list[TerminalSession] | None = Field(default=None, exclude_if=_absent, description="Of list_sessions.")
    processes: list[ProcessView] | None = Field(default=None, exclude_if=_absent, description="Of list_processes.")
    truncated: bool = Field(default=False, exclude_if=is_nothing, description="Whether some of it was left out.")
    timed_out: bool = Field(default=False, exclude_if=is_nothing, description="Of execute: whether it was ended.")
    partial_output: str = Field(
        default="", exclude_if=is_nothing, description="Of a command that took too long: what it had said."
    )

    def bare(self) -> Any:
        """What the operation is for, without its frame."""
        if self.sessions is not None:
            return self.sessions
        if self.processes is not None:
            return self.processes
        return {name: value for name, value in self.model_dump(mode="json").items() if name != "operation"}


@tool("terminal", destructive=True, core=False, reading_operations=READING)
async def terminal(request: TerminalRequest, terminal: Terminal, context: CallContext) -> TerminalResult:
    """Run a harmless command in the server's root folder, or keep a program running and talk to it.

    No shell: no pipes, no redirection, no wildcards. Only programs of a list (ls, cat, grep, git, find, ps, curl ...),
    each with arguments that only read; a command that is refused says why in its output. Programs end with the server.
    """
    done = TerminalResult(operation=request.operation)
    owner = context.caller.owns_as
    command, pid = request.command or "", request.pid or 0
    match request.operation:
        case "execute":
            ran = await terminal.execute(command, seconds=request.seconds, restricted=request.restricted, owner=owner)
            if ran.refused:
                _note_refusal(ran.output, context)
            done.status, done.output, done.truncated = ran.status, ran.output, ran.truncated
            done.timed_out, done.partial_output = ran.timed_out, ran.partial_output
        case "start_process":
            done.command, said = await terminal.start_process(
                command, seconds=request.seconds, restricted=request.restricted, owner=owner
            )
            done.pid, done.initial_output = said.pid, said.output
            done.exit_status, done.truncated = said.status, said.truncated
        case "read_output":
            said = await terminal.read_output(pid, seconds=request.seconds, owner=owner)
            done.pid, done.output = said.pid, said.output
            done.exit_status, done.truncated = said.status, said.truncated
        case "interact":
            said = await terminal.interact(pid, request.input or "", owner)
            done.pid, done.output = said.pid, said.output
            done.exit_status, done.truncated = said.status, said.truncated
        case "kill":
            await terminal.kill(pid, owner, at_once=False)
            done.pid, done.status = pid, "killed"
        case "force_kill":
            await terminal.kill(pid, owner, at_once=True)
            done.pid, done.status = pid, "force_terminated"
        case "list_sessions":
            done.sessions = [
                TerminalSession.model_validate(one, from_attributes=True) for one in terminal.list_sessions(owner)
            ]
        case "list_processes":
            found, done.truncated = await terminal.list_processes()
            done.processes = [ProcessView.model_validate(one, from_attributes=True) for one in found]
    return done


def _note_refusal(said: str, context: CallContext) -> None:
    security_event(
        "command_refused",
        reason=said,
        tool="terminal",
        surface=context.surface,
        key_id=context.caller.key_id,
        request_id=context.request_id,
    )
