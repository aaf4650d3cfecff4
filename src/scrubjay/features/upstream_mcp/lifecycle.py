"""Lifecycle of one skill: start on first use, watch, restart after a crash, stop."""

import logging
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, cast

import anyio
import anyio.abc
from httpx2 import HTTPError
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, INVALID_REQUEST
from pydantic import ValidationError

from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import InvalidRequest, ScrubjayError, Unavailable
from scrubjay.core.secrets import masked
from scrubjay.features.upstream_mcp.catalog import ValidSkill
from scrubjay.features.upstream_mcp.configuration import CommandSkill
from scrubjay.features.upstream_mcp.connection import BrokenSkill, ProgressCallback, SkillConnection, connect
from scrubjay.features.upstream_mcp.process import ProcessOptions, SkillProcess
from scrubjay.features.upstream_mcp.restarts import RestartLimit
from scrubjay.features.upstream_mcp.schemas import SkillTool, ToolListing, first_error

logger = logging.getLogger("scrubjay.features.upstream_mcp")

SHOWN_CHARACTERS = 500
# Every change makes all clients request the whole tool list, so changes are published at most this often.
TOOL_CHANGE_INTERVAL_SECONDS = 0.2


class SkillState(StrEnum):
    """State of a skill."""

    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"


class SkillRunner:
    """Runs one skill as long as its configuration is unchanged."""

    def __init__(
        self,
        entry: ValidSkill,
        listing: ToolListing | None,
        tasks: anyio.abc.TaskGroup,
        process_options: ProcessOptions,
        limit: RestartLimit,
        *,
        make_room: Callable[["SkillRunner"], Awaitable[None]],
        on_tools_changed: Callable[["SkillRunner"], None],
    ) -> None:
        """`make_room` is awaited before a start; `on_tools_changed` is called when the tools have changed."""
        self.entry = entry
        self.listing = listing
        """None until the skill has listed its tools once."""
        self.restarts = 0
        self.last_error: str | None = None
        self.running_calls = 0
        self.last_used = 0.0
        self.limit = limit
        self._tasks = tasks
        self._process_options = process_options
        self._make_room = make_room
        self._tools_changed = on_tools_changed
        self._connection: SkillConnection | None = None
        self._process: SkillProcess | None = None
        self._alive = False
        self._used = False
        self._retired = False
        self._failure: Unavailable | None = None
        self._failed_starts = 0
        self._starting = anyio.Lock()
        self._start = anyio.CancelScope()
        self._start_finished = anyio.Event()
        self._stop = anyio.Event()
        self._ended = anyio.Event()
        self._ended.set()

    # -- state -----------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def state(self) -> SkillState:
        if self._connection is not None:
            return SkillState.RUNNING
        if self._alive:
            return SkillState.STARTING
        return SkillState.PAUSED if self.limit.paused_seconds else SkillState.STOPPED

    @property
    def tools(self) -> Sequence[SkillTool]:
        """The known tools; empty before the first listing."""
        return self.listing.tools if self.listing is not None else ()

    @property
    def has_process(self) -> bool:
        return self._alive and isinstance(self.entry.config, CommandSkill)

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None and self._alive else None

    # -- calls -----------------------------------------------------------------------------------------

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: ProgressCallback) -> dict[str, Any]:
        """Return the tool's answer unchanged; cancelling this call cancels it in the skill."""
        self.running_calls += 1
        try:
            connection = await self.ready()
            self._used = True
            return await self._call_tool(connection, tool, arguments, progress)
        finally:
            self.running_calls -= 1
            self.last_used = time.monotonic()

    async def ready(self) -> SkillConnection:
        """Return a session, starting the skill if necessary."""
        current = self._connection
        if current is not None and not current.ended.is_set() and not self._stop.is_set():
            return current
        failed_starts = self._failed_starts
        async with self._starting:
            self._check_not_retired()
            if self._failed_starts != failed_starts and self._failure is not None:
                raise self._failure  # the start that this call waited for has failed
            if self._stop.is_set():  # it is stopping; this call needs a new process
                await self._ended.wait()
            if (ended := self._connection) is not None:
                if not ended.ended.is_set():
                    return ended
                await ended.released.wait()  # so that no caller gets a session whose process has ended
            if self._alive:  # a restart may be in progress
                await self._start_finished.wait()
            if self._connection is None:
                self._check_not_paused()
                await self._make_room(self)
                self._check_not_retired()
                self._alive, self._start_finished, self._stop, self._ended = (
                    True,
                    anyio.Event(),
                    anyio.Event(),
                    anyio.Event(),
                )
                self._tasks.start_soon(self._run)
                await self._start_finished.wait()
            if self._connection is not None:
                return self._connection
            raise self._failure or self._unavailable("was stopped while it started", "stopped")

    async def stop(self) -> None:
        """End it, or its start; when this returns, nothing of it runs."""
        self._stop.set()
        if self._connection is None:
            self._start.cancel()
        await self._ended.wait()

    async def retire(self) -> None:
        """Stop it permanently: waiting calls fail instead of restarting it."""
        self._retired = True
        await self.stop()

    async def _call_tool(
        self, connection: SkillConnection, tool: str, arguments: Mapping[str, Any], progress: ProgressCallback
    ) -> dict[str, Any]:
        seconds, received = self.entry.config.call_seconds, connection.received
        try:
            with anyio.move_on_after(seconds):
                return await connection.call(tool, arguments, progress)
        except MCPError as error:
            if connection.ended.is_set() or self._connection is not connection:
                await self._wait_for_stderr(connection)
                raise self._unavailable(f"died while it ran {tool}", "died", connection.process) from error
            message = masked(error.error.message)[:SHOWN_CHARACTERS]
            if error.error.code == INVALID_PARAMS:
                raise InvalidRequest(f"{self.name}: {message}", details={"skill": self.name}) from None
            # HTTP gives no sign that a session has expired, so the next call opens a new one.
            if connection.process is None and (self.running_calls == 1 or _is_session_over(error)):
                self._stop.set()
            raise self._unavailable(f"refused {tool}: {message}", "refused") from None
        except (ValidationError, BrokenSkill, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise self._unavailable(f"gave no answer to {tool}: {_describe_error(error)}", "protocol") from None
        problem = self._unavailable(f"did not answer {tool} within {seconds:g} s", "timeout", timeout_ms=seconds * 1000)
        if connection.received == received and (connection.process is not None or self.running_calls == 1):
            self.last_error = problem.message
            self._stop.set()  # it sent nothing at all, so it hangs: the next call starts a new one
        raise problem

    async def _wait_for_stderr(self, connection: SkillConnection) -> None:
        """Wait for the rest of standard error of a process that has ended."""
        if connection.process is not None:
            with anyio.move_on_after(1.0):
                await connection.process.stderr_closed.wait()

    # -- process lifecycle -----------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            while await self._run_once():
                self.restarts += 1
                logger.warning("skill ended unexpectedly; restarting", extra={"skill": self.name})
        finally:
            self._connection, self._alive = None, False
            self._start_finished.set()
            self._ended.set()

    async def _run_once(self) -> bool:
        """Run one session; return True if it ended unexpectedly and should restart now."""
        self._used, self._failure = False, None
        was_connected = False
        self._start = anyio.CancelScope()
        if self._stop.is_set():
            self._start.cancel()
        try:
            with self._start:
                async with (
                    connect(self.name, self.entry.config, self._process_options, self._set_process) as connection,
                    anyio.create_task_group() as watching,
                ):
                    watching.start_soon(connection.watch_tools)
                    await connection.wait_until_subscribed()
                    self._update_tools(await connection.tools())
                    watching.start_soon(self._follow_tool_changes, connection)
                    self._connection, was_connected = connection, True
                    self._start_finished.set()
                    try:
                        await _wait_for_any(connection.ended, self._stop)
                    finally:
                        self._connection, self._start_finished = None, anyio.Event()
                        connection.released.set()
                    watching.cancel_scope.cancel()
        except Exception as error:  # a protocol violation of the skill must end only this session
            problem = _innermost(error)
            self._record_failure(_describe_error(problem))
            if not isinstance(problem, _EXPECTED_ERRORS):
                logger.warning("skill failed", extra={"skill": self.name, **error_fields(problem)})
        else:
            if self._stop.is_set():
                return False
            self._record_failure(
                "its program ended" if self._process is not None else "its server closed the connection"
            )
        self._connection = None
        self._failed_starts += not was_connected
        self.limit.record_failure()
        # A skill that ends before it was used would restart forever; the next call tries again.
        return was_connected and self._used and not self._stop.is_set() and not self.limit.paused_seconds

    def _set_process(self, process: SkillProcess) -> None:
        self._process = process

    def _update_tools(self, listing: ToolListing) -> None:
        if self.listing != listing:
            self.listing = listing
            self._tools_changed(self)

    async def _follow_tool_changes(self, connection: SkillConnection) -> None:
        while True:
            await connection.tools_changed.wait()
            connection.tools_changed = anyio.Event()
            try:
                self._update_tools(await connection.tools())
            except (MCPError, ValidationError, BrokenSkill) as error:
                self.last_error = _describe_error(error)
            await anyio.sleep(TOOL_CHANGE_INTERVAL_SECONDS)

    # -- failures --------------------------------------------------------------------------------------

    def _record_failure(self, problem: str) -> None:
        self._failure = self._unavailable(f"is not available: {problem}", "not_started")
        self.last_error = self._failure.message

    def _check_not_retired(self) -> None:
        if self._retired:
            raise self._unavailable("was reloaded while the call waited", "stopped")

    def _check_not_paused(self) -> None:
        if seconds := self.limit.paused_seconds:
            raise self._unavailable(
                f"is paused for {math.ceil(seconds)} s after too many failures; last error: {self.last_error}",
                "paused",
                retry_after_seconds=math.ceil(seconds),
            )

    def _unavailable(
        self, problem: str, reason: str, process: SkillProcess | None = None, **details: Any
    ) -> Unavailable:
        """Return the error with the last standard error lines of `process`, or of the current process."""
        process = process or self._process
        stderr = process.stderr_tail() if process is not None else []
        stderr_line = f"; last line of stderr: {stderr[-1]}" if stderr and reason not in ("paused", "timeout") else ""
        return Unavailable(
            f"the skill {self.name} {problem}{stderr_line}",
            hint="call skills_status for details; after fixing skills.json call mimo_reload_skills",
            details={"skill": self.name, "reason": reason, "stderr": stderr, **details},
        )


_EXPECTED_ERRORS = (BrokenSkill, MCPError, OSError, TimeoutError, ValidationError, ScrubjayError, HTTPError)
# The SDK's error for a session that the server no longer knows; the protocol has no code for it.
_SESSION_OVER = (INVALID_REQUEST, "Session terminated")


def _is_session_over(error: MCPError) -> bool:
    return error.code == CONNECTION_CLOSED or (error.code, error.message) == _SESSION_OVER


def _describe_error(problem: BaseException) -> str:
    """Return a short message with secrets masked: messages of a skill may contain some."""
    if isinstance(problem, ValidationError):
        return f"invalid answer: {first_error(problem)}"
    text = problem.error.message if isinstance(problem, MCPError) else str(problem)
    return masked(text)[:SHOWN_CHARACTERS] or type(problem).__name__


def _innermost(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = cast(ExceptionGroup[Exception], error).exceptions[0]
    return error


async def _wait_for_any(*events: anyio.Event) -> None:
    async with anyio.create_task_group() as tasks:

        async def wait(event: anyio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        for event in events:
            tasks.start_soon(wait, event)
