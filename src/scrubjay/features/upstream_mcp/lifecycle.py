"""One skill's life: started when it is first needed, watched, started again when it dies, and ended."""

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

from scrubjay.core.error_location import place_of
from scrubjay.core.errors import InvalidRequest, ScrubjayError, Unavailable
from scrubjay.core.secrets import masked
from scrubjay.features.upstream_mcp.catalog import ValidSkill
from scrubjay.features.upstream_mcp.configuration import CommandSkill
from scrubjay.features.upstream_mcp.connection import BrokenSkill, Connection, Progress, connected
from scrubjay.features.upstream_mcp.process import SkillProcess, Surroundings
from scrubjay.features.upstream_mcp.restarts import RestartLimit
from scrubjay.features.upstream_mcp.schemas import SkillTool, ToldTools, first_problem

logger = logging.getLogger("scrubjay.features.upstream_mcp")

TOLD_CHARACTERS = 500
# Every change is told to all clients, who then ask for all tools; so one that is told is followed by none for a while.
RELEARN_SECONDS = 0.2


class SkillState(StrEnum):
    """How a skill is."""

    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"


class SkillLife:
    """Everything about one skill while its configuration stands."""

    def __init__(
        self,
        entry: ValidSkill,
        told: ToldTools | None,
        tasks: anyio.abc.TaskGroup,
        surroundings: Surroundings,
        limit: RestartLimit,
        *,
        make_room: Callable[["SkillLife"], Awaitable[None]],
        learned: Callable[["SkillLife"], None],
    ) -> None:
        """`make_room` is awaited before a program is started, and `learned` called when its tools became others."""
        self.entry = entry
        self.told = told
        """None until it has told its tools once."""
        self.restarts = 0
        self.last_error: str | None = None
        self.running_calls = 0
        self.last_used = 0.0
        self.limit = limit
        self._tasks = tasks
        self._surroundings = surroundings
        self._make_room = make_room
        self._learned = learned
        self._connection: Connection | None = None
        self._process: SkillProcess | None = None
        self._alive = False
        self._used = False
        self._retired = False
        self._failure: Unavailable | None = None
        self._failed_starts = 0
        self._starting = anyio.Lock()
        self._start = anyio.CancelScope()
        self._settled = anyio.Event()
        self._stop = anyio.Event()
        self._ended = anyio.Event()
        self._ended.set()

    # -- what is known of it ---------------------------------------------------------------------------

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
        """Those that are known."""
        return self.told.tools if self.told is not None else ()

    @property
    def has_process(self) -> bool:
        return self._alive and isinstance(self.entry.config, CommandSkill)

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None and self._alive else None

    # -- using it --------------------------------------------------------------------------------------

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """The tool's answer as it came; whoever is cancelled while waiting has the skill told to stop."""
        self.running_calls += 1
        try:
            connection = await self.ready()
            self._used = True
            return await self._ask(connection, tool, arguments, progress)
        finally:
            self.running_calls -= 1
            self.last_used = time.monotonic()

    async def ready(self) -> Connection:
        """The session with it, after it was started if need be."""
        here = self._connection
        if here is not None and not here.ended.is_set() and not self._stop.is_set():
            return here
        failed_starts = self._failed_starts
        async with self._starting:
            self._refuse_when_retired()
            if self._failed_starts != failed_starts and self._failure is not None:
                raise self._failure  # of the start that this one has waited for
            if self._stop.is_set():  # it is being ended; whoever comes now gets a new one
                await self._ended.wait()
            if (ended := self._connection) is not None:
                if not ended.ended.is_set():
                    return ended
                await ended.let_go.wait()  # so that nobody is given a program that is gone
            if self._alive:  # it is started again, or will not be
                await self._settled.wait()
            if self._connection is None:
                self._refuse_while_paused()
                await self._make_room(self)
                self._refuse_when_retired()
                self._alive, self._settled, self._stop, self._ended = True, anyio.Event(), anyio.Event(), anyio.Event()
                self._tasks.start_soon(self._live)
                await self._settled.wait()
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
        """End it for good: whoever still waits for it does not start it again."""
        self._retired = True
        await self.stop()

    async def _ask(
        self, connection: Connection, tool: str, arguments: Mapping[str, Any], progress: Progress
    ) -> dict[str, Any]:
        seconds, heard = self.entry.config.call_seconds, connection.heard
        try:
            with anyio.move_on_after(seconds):
                return await connection.call(tool, arguments, progress)
        except MCPError as error:
            if connection.ended.is_set() or self._connection is not connection:
                await self._hear_out(connection)
                raise self._unavailable(f"died while it ran {tool}", "died", connection.process) from error
            told = masked(error.error.message)[:TOLD_CHARACTERS]
            if error.error.code == INVALID_PARAMS:
                raise InvalidRequest(f"{self.name}: {told}", details={"skill": self.name}) from None
            # Over HTTP nobody tells that a session is over; the next call gets a new one.
            if connection.process is None and (self.running_calls == 1 or _is_over(error)):
                self._stop.set()
            raise self._unavailable(f"refused {tool}: {told}", "refused") from None
        except (ValidationError, BrokenSkill, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise self._unavailable(f"gave no answer to {tool}: {_said(error)}", "protocol") from None
        problem = self._unavailable(f"did not answer {tool} within {seconds:g} s", "timeout", timeout_ms=seconds * 1000)
        if connection.heard == heard and (connection.process is not None or self.running_calls == 1):
            self.last_error = problem.message
            self._stop.set()  # it has not said a word, to nobody: the next call gets a new one
        raise problem

    async def _hear_out(self, connection: Connection) -> None:
        """Wait for the last words of a program that has ended."""
        if connection.process is not None:
            with anyio.move_on_after(1.0):
                await connection.process.heard_out.wait()

    # -- its life --------------------------------------------------------------------------------------

    async def _live(self) -> None:
        try:
            while await self._live_once():
                self.restarts += 1
                logger.warning("a skill died and is started again", extra={"skill": self.name})
        finally:
            self._connection, self._alive = None, False
            self._settled.set()
            self._ended.set()

    async def _live_once(self) -> bool:
        """Whether it died, and should be started again at once."""
        self._used, self._failure = False, None
        was_connected = False
        self._start = anyio.CancelScope()
        if self._stop.is_set():
            self._start.cancel()
        try:
            with self._start:
                async with (
                    connected(self.name, self.entry.config, self._surroundings, self._take) as connection,
                    anyio.create_task_group() as watching,
                ):
                    watching.start_soon(connection.watch_tools)
                    await connection.watched()
                    self._learn(await connection.tools())
                    watching.start_soon(self._relearn, connection)
                    self._connection, was_connected = connection, True
                    self._settled.set()
                    try:
                        await _first_of(connection.ended, self._stop)
                    finally:
                        self._connection, self._settled = None, anyio.Event()
                        connection.let_go.set()
                    watching.cancel_scope.cancel()
        except Exception as error:  # whatever a foreign program makes of the protocol ends this session only
            problem = _leaf(error)
            self._note(_said(problem))
            if not isinstance(problem, _FORESEEN):
                logger.warning("a skill broke", extra={"skill": self.name, **place_of(problem)})
        else:
            if self._stop.is_set():
                return False
            self._note("its program ended" if self._process is not None else "its server closed the connection")
        self._connection = None
        self._failed_starts += not was_connected
        self.limit.failed()
        # Who dies again before anybody used it would die forever; the next call tries once more.
        return was_connected and self._used and not self._stop.is_set() and not self.limit.paused_seconds

    def _take(self, process: SkillProcess) -> None:
        self._process = process

    def _learn(self, told: ToldTools) -> None:
        if self.told != told:
            self.told = told
            self._learned(self)

    async def _relearn(self, connection: Connection) -> None:
        while True:
            await connection.tools_changed.wait()
            connection.tools_changed = anyio.Event()
            try:
                self._learn(await connection.tools())
            except (MCPError, ValidationError, BrokenSkill) as error:
                self.last_error = _said(error)
            await anyio.sleep(RELEARN_SECONDS)

    # -- what goes wrong -------------------------------------------------------------------------------

    def _note(self, problem: str) -> None:
        self._failure = self._unavailable(f"is not there: {problem}", "not_started")
        self.last_error = self._failure.message

    def _refuse_when_retired(self) -> None:
        if self._retired:
            raise self._unavailable("was read anew meanwhile", "stopped")

    def _refuse_while_paused(self) -> None:
        if seconds := self.limit.paused_seconds:
            raise self._unavailable(
                f"is left alone for {math.ceil(seconds)} s after it failed too often; the last: {self.last_error}",
                "paused",
                retry_after_seconds=math.ceil(seconds),
            )

    def _unavailable(self, what: str, reason: str, process: SkillProcess | None = None, **details: Any) -> Unavailable:
        """The failure, with the last words of the program: this one, when another was started since."""
        process = process or self._process
        words = process.last_words() if process is not None else []
        said = f"; its last words: {words[-1]}" if words and reason not in ("paused", "timeout") else ""
        return Unavailable(
            f"the skill {self.name} {what}{said}",
            hint="skills_status tells more; mimo_reload_skills starts afresh after skills.json was mended",
            details={"skill": self.name, "reason": reason, "stderr": words, **details},
        )


_FORESEEN = (BrokenSkill, MCPError, OSError, TimeoutError, ValidationError, ScrubjayError, HTTPError)
# What the SDK makes of a server that does not know our session any more; the protocol has no code for it.
_SESSION_OVER = (INVALID_REQUEST, "Session terminated")


def _is_over(error: MCPError) -> bool:
    return error.code == CONNECTION_CLOSED or (error.code, error.message) == _SESSION_OVER


def _said(problem: BaseException) -> str:
    """What happened, in a few words without secrets: messages of a foreign program may hold some."""
    if isinstance(problem, ValidationError):
        return f"its answer is not of the protocol: {first_problem(problem)}"
    text = problem.error.message if isinstance(problem, MCPError) else str(problem)
    return masked(text)[:TOLD_CHARACTERS] or type(problem).__name__


def _leaf(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = cast(ExceptionGroup[Exception], error).exceptions[0]
    return error


async def _first_of(*events: anyio.Event) -> None:
    async with anyio.create_task_group() as tasks:

        async def wait(event: anyio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        for event in events:
            tasks.start_soon(wait, event)
