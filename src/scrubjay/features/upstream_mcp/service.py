"""The skills of this process: list, call and reload them."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import anyio.abc

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Busy, Conflict, Misconfigured, NotFound, ScrubjayError
from scrubjay.features.upstream_mcp.catalog import RefusedSkill, Skill, ValidSkill, read_skill, read_skills
from scrubjay.features.upstream_mcp.configuration import SkillPolicy
from scrubjay.features.upstream_mcp.connection import ProgressCallback
from scrubjay.features.upstream_mcp.lifecycle import SkillRunner, SkillState
from scrubjay.features.upstream_mcp.process import ProcessOptions
from scrubjay.features.upstream_mcp.restarts import RestartLimit
from scrubjay.features.upstream_mcp.schemas import SchemaCache, SkillTool

logger = logging.getLogger("scrubjay.features.upstream_mcp")

DRAIN_SECONDS = 30.0
PARALLEL_DISCOVERIES = 4


@dataclass(frozen=True, slots=True)
class SkillRules:
    """Settings that apply to all skills."""

    file: Path
    cache_folder: Path
    policy: SkillPolicy = field(default_factory=SkillPolicy)
    process_options: ProcessOptions = field(default_factory=lambda: ProcessOptions(Path("/")))
    max_processes: int = 10
    pause_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class ReloadResult:
    """Outcome of a reload."""

    added: Sequence[str]
    removed: Sequence[str]
    changed: Sequence[str]
    learning: Sequence[str]
    """Skills that are being started to list their tools."""
    milliseconds: float


@dataclass(slots=True)
class ReloadState:
    """State and history of reloads."""

    reloading: bool = False
    last_reload: datetime | None = None
    last_milliseconds: float | None = None
    count: int = 0


class Skills:
    """The skills of a configuration file, each with its runner."""

    def __init__(
        self,
        rules: SkillRules,
        tasks: anyio.abc.TaskGroup,
        publish: Callable[[Sequence[SkillTool]], Sequence[SkillTool]],
        *,
        report: Callable[[RefusedSkill], None],
        clock: Clock = system_clock,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Processes run in `tasks`. `publish` receives all tools after each change and returns those whose names are
        already taken; `report` receives each refused skill."""
        self.reloads = ReloadState()
        self.file_problem: str | None = None
        self.runners: dict[str, SkillRunner] = {}
        self.refused: list[RefusedSkill] = []
        self._rules = rules
        self._tasks = tasks
        self._publish = publish
        self._report = report
        self._taken: Sequence[SkillTool] = ()
        self._clock = clock
        self._seconds = seconds
        self._cache = SchemaCache(rules.cache_folder)
        self._calls: dict[int, str] = {}
        self._next_call = 0
        self._idle = anyio.Event()
        self._reloaded = anyio.Event()
        try:
            self._set_skills(read_skills(rules.file, rules.policy))
        except Misconfigured as error:  # the server still starts, without skills
            self.file_problem = error.message
            logger.warning("cannot read skills", extra={"problem": error.message})

    # -- listing ---------------------------------------------------------------------------------------

    def tools(self) -> list[SkillTool]:
        """Return all known tools in the order of the file."""
        return [tool for runner in self.runners.values() for tool in runner.tools]

    def announce(self) -> None:
        """Publish the current tools."""
        self._taken = self._publish(self.tools())

    def left_out(self, skill: str) -> Mapping[str, str]:
        """Return the skill's tools that cannot be called, with the reason."""
        listing = self.runners[skill].listing
        taken = {tool.own_name: f"the name {tool.name} is taken" for tool in self._taken if tool.skill == skill}
        return {**(listing.left_out if listing is not None else {}), **taken}

    def validate(self, name: str, raw: Any) -> Skill:
        """Validate a configuration without starting or storing it."""
        return read_skill(name, raw, self._rules.policy)

    @property
    def running_calls(self) -> Sequence[str]:
        return sorted(self._calls.values())

    # -- calls -----------------------------------------------------------------------------------------

    async def call(
        self, skill: str, tool: str, arguments: Mapping[str, Any], progress: ProgressCallback
    ) -> dict[str, Any]:
        """Return the tool's answer unchanged. Waits while a reload is running."""
        while self.reloads.reloading:
            await self._reloaded.wait()
        runner = self.runners.get(skill)
        if runner is None:
            raise NotFound(f"skill {skill!r} was removed", hint="call skills_status to list the skills")
        self._next_call += 1
        number = self._next_call
        self._calls[number] = f"{skill}_{tool}"
        try:
            return await runner.call(tool, arguments, progress)
        finally:
            del self._calls[number]
            if not self._calls:
                self._idle.set()

    async def discover_tools(self, names: Sequence[str] | None = None) -> None:
        """Start each of these skills once to list its tools, and stop it again unless it was called.

        Several run at once, so that one that hangs does not delay the others. By default, all with unknown tools.
        """
        runners = [
            runner
            for runner in self.runners.values()
            if (runner.listing is None if names is None else runner.name in names)
        ]
        limiter = anyio.Semaphore(min(PARALLEL_DISCOVERIES, self._rules.max_processes))
        async with anyio.create_task_group() as tasks:
            for runner in runners:
                tasks.start_soon(self._discover_tools, runner, limiter)

    async def _discover_tools(self, runner: SkillRunner, limiter: anyio.Semaphore) -> None:
        async with limiter:
            try:
                await runner.ready()
            except ScrubjayError as error:
                logger.warning(
                    "cannot list the tools of a skill", extra={"skill": runner.name, "problem": error.message}
                )
            else:
                if not runner.running_calls and not runner.last_used:
                    await runner.stop()

    # -- reload ----------------------------------------------------------------------------------------

    async def reload(self, *, force: bool = False) -> ReloadResult:
        """Read the file again and restart all skills after running calls have ended.

        Only one reload runs at a time (`Conflict` otherwise). If the file cannot be read, or calls do not end within
        `DRAIN_SECONDS`, nothing changes. `force` aborts running calls.
        """
        if self.reloads.reloading:
            raise Conflict(
                "reload_in_progress: a reload is already running",
                hint="wait until skills_status shows reloading: false",
                details={"reason": "reload_in_progress"},
            )
        started = time.perf_counter()
        self.reloads.reloading, self._reloaded = True, anyio.Event()
        try:
            found = read_skills(self._rules.file, self._rules.policy)
            if not force:
                await self._drain()
            before = self.runners
            in_use = [runner.name for runner in before.values() if runner.state is not SkillState.STOPPED]
            with anyio.CancelScope(shield=True):  # a cancelled reload must not leave half of the skills
                async with anyio.create_task_group() as tasks:
                    for runner in before.values():
                        tasks.start_soon(runner.retire)
                self._set_skills(found)
                self.file_problem = None
                self.announce()
            learning = [name for name, runner in self.runners.items() if runner.listing is None or name in in_use]
            self._tasks.start_soon(self.discover_tools, learning)
            milliseconds = round((time.perf_counter() - started) * 1000, 2)
            self.reloads.count += 1
            self.reloads.last_reload, self.reloads.last_milliseconds = self._clock(), milliseconds
            return ReloadResult(
                added=[name for name in self.runners if name not in before],
                removed=[name for name in before if name not in self.runners],
                changed=[
                    name
                    for name, runner in self.runners.items()
                    if name in before and before[name].entry.hash != runner.entry.hash
                ],
                learning=learning,
                milliseconds=milliseconds,
            )
        finally:
            self.reloads.reloading = False
            self._reloaded.set()

    async def _drain(self) -> None:
        """Wait until no call is running."""
        with anyio.move_on_after(DRAIN_SECONDS):
            while self._calls:
                self._idle = anyio.Event()
                await self._idle.wait()
        if self._calls:
            raise Conflict(
                f"{len(self._calls)} skill calls are still running after {DRAIN_SECONDS:.0f} s; nothing was changed",
                hint="try again later, or use force to abort them",
                details={"reason": "drain_timeout", "running_calls": self.running_calls},
            )

    # -- runners ---------------------------------------------------------------------------------------

    def _set_skills(self, found: Sequence[Skill]) -> None:
        self.refused = [entry for entry in found if isinstance(entry, RefusedSkill)]
        self.runners = {entry.name: self._runner(entry) for entry in found if isinstance(entry, ValidSkill)}
        for refused in self.refused:
            self._report(refused)

    def _runner(self, entry: ValidSkill) -> SkillRunner:
        known = self._cache.read(entry.name, entry.hash)
        return SkillRunner(
            entry,
            entry.listing if known is None else known,
            self._tasks,
            self._rules.process_options,
            RestartLimit(self._rules.pause_seconds, self._seconds),
            make_room=self._make_room,
            on_tools_changed=self._save_tools,
        )

    def _save_tools(self, runner: SkillRunner) -> None:
        """Cache and publish changed tools of a skill."""
        if runner.listing is not None:
            self._cache.write(runner.name, runner.entry.hash, runner.listing)
        if self.runners.get(runner.name) is runner:
            self.announce()

    async def _make_room(self, starting: SkillRunner) -> None:
        """Stop the least recently used process if the maximum is reached; raise `Busy` if all are in use."""
        while True:
            running = [runner for runner in self.runners.values() if runner.has_process and runner is not starting]
            if len(running) < self._rules.max_processes:
                return
            idle = [runner for runner in running if not runner.running_calls and runner.state is SkillState.RUNNING]
            if not idle:
                raise Busy(
                    f"{len(running)} skills are running and all are busy; cannot start {starting.name}",
                    hint="try again later, or increase the setting skills.max_processes",
                    details={"skill": starting.name, "max_processes": self._rules.max_processes},
                )
            await min(idle, key=lambda runner: runner.last_used).stop()
