"""All skills of this process: which there are, calling them, and reading them anew while they are in use."""

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
from scrubjay.features.upstream_mcp.configuration import Policy
from scrubjay.features.upstream_mcp.connection import Progress
from scrubjay.features.upstream_mcp.lifecycle import SkillLife, SkillState
from scrubjay.features.upstream_mcp.process import Surroundings
from scrubjay.features.upstream_mcp.restarts import RestartLimit
from scrubjay.features.upstream_mcp.schemas import SchemaCache, SkillTool

logger = logging.getLogger("scrubjay.features.upstream_mcp")

DRAIN_SECONDS = 30.0
LEARNED_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class SkillRules:
    """What the owner sets for all skills."""

    file: Path
    cache_folder: Path
    policy: Policy = field(default_factory=Policy)
    surroundings: Surroundings = field(default_factory=lambda: Surroundings(Path("/")))
    max_processes: int = 10
    pause_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What a reload did."""

    added: Sequence[str]
    removed: Sequence[str]
    changed: Sequence[str]
    learning: Sequence[str]
    """Skills whose tools are not known yet; they are started now to tell them."""
    milliseconds: float


@dataclass(slots=True)
class ReloadState:
    """What is known of reloads."""

    reloading: bool = False
    last_reload: datetime | None = None
    last_milliseconds: float | None = None
    count: int = 0


class Skills:
    """The skills of a file, each with its life."""

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
        """Their programs run in `tasks`; `publish` gets all tools whenever they become others, and tells which of
        them have names that are taken; `report` gets each skill that is refused."""
        self.reloads = ReloadState()
        self.file_problem: str | None = None
        self.lives: dict[str, SkillLife] = {}
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
        self._quiet = anyio.Event()
        self._reloaded = anyio.Event()
        try:
            self._adopt(read_skills(rules.file, rules.policy))
        except Misconfigured as error:  # the server starts all the same, without skills
            self.file_problem = error.message
            logger.warning("skills cannot be read", extra={"problem": error.message})

    # -- what there is ---------------------------------------------------------------------------------

    def tools(self) -> list[SkillTool]:
        """All tools that are known, of each skill in the order of the file."""
        return [tool for life in self.lives.values() for tool in life.tools]

    def announce(self) -> None:
        """Have all tools known to others as they are now."""
        self._taken = self._publish(self.tools())

    def left_out(self, skill: str) -> Mapping[str, str]:
        """Which of the skill's tools nobody can call, and why."""
        told = self.lives[skill].told
        taken = {tool.own_name: f"there is another {tool.name}" for tool in self._taken if tool.skill == skill}
        return {**(told.left_out if told is not None else {}), **taken}

    def validate(self, name: str, raw: Any) -> Skill:
        """What would become of this skill; nothing is started or kept."""
        return read_skill(name, raw, self._rules.policy)

    @property
    def running_calls(self) -> Sequence[str]:
        return sorted(self._calls.values())

    # -- using them ------------------------------------------------------------------------------------

    async def call(self, skill: str, tool: str, arguments: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """What the tool of the skill answered, as it came. While skills are read anew, it waits."""
        while self.reloads.reloading:
            await self._reloaded.wait()
        life = self.lives.get(skill)
        if life is None:
            raise NotFound(f"there is no skill {skill!r} any more", hint="skills_status tells which there are")
        self._next_call += 1
        number = self._next_call
        self._calls[number] = f"{skill}_{tool}"
        try:
            return await life.call(tool, arguments, progress)
        finally:
            del self._calls[number]
            if not self._calls:
                self._quiet.set()

    async def learn(self, names: Sequence[str] | None = None) -> None:
        """Start each of these skills once to learn its tools, and end it again if nobody has called it meanwhile.

        A few at a time, so that one that hangs does not keep the others waiting.
        """
        wanted = [life for life in self.lives.values() if (life.told is None if names is None else life.name in names)]
        at_once = anyio.Semaphore(min(LEARNED_AT_ONCE, self._rules.max_processes))
        async with anyio.create_task_group() as learning:
            for life in wanted:
                learning.start_soon(self._learn, life, at_once)

    async def _learn(self, life: SkillLife, at_once: anyio.Semaphore) -> None:
        async with at_once:
            try:
                await life.ready()
            except ScrubjayError as error:
                logger.warning("a skill's tools are not known", extra={"skill": life.name, "problem": error.message})
            else:
                if not life.running_calls and not life.last_used:
                    await life.stop()

    # -- reading them anew -----------------------------------------------------------------------------

    async def reload(self, *, force: bool = False) -> Reloaded:
        """Read the file again and start all skills afresh, after running calls have ended.

        Only one reload at a time. When the file cannot be read, or calls do not end in time, nothing is changed; by
        `force` running calls are cut off at once.
        """
        if self.reloads.reloading:
            raise Conflict(
                "reload_in_progress: the skills are being read anew already",
                hint="wait until it has ended; skills_status tells",
                details={"reason": "reload_in_progress"},
            )
        started = time.perf_counter()
        self.reloads.reloading, self._reloaded = True, anyio.Event()
        try:
            found = read_skills(self._rules.file, self._rules.policy)
            if not force:
                await self._drain()
            before = self.lives
            in_use = [life.name for life in before.values() if life.state is not SkillState.STOPPED]
            with anyio.CancelScope(shield=True):  # from here on there is no way back
                async with anyio.create_task_group() as ending:
                    for life in before.values():
                        ending.start_soon(life.retire)
                self._adopt(found)
                self.file_problem = None
                self.announce()
            learning = [name for name, life in self.lives.items() if life.told is None or name in in_use]
            self._tasks.start_soon(self.learn, learning)
            milliseconds = round((time.perf_counter() - started) * 1000, 2)
            self.reloads.count += 1
            self.reloads.last_reload, self.reloads.last_milliseconds = self._clock(), milliseconds
            return Reloaded(
                added=[name for name in self.lives if name not in before],
                removed=[name for name in before if name not in self.lives],
                changed=[
                    name
                    for name, life in self.lives.items()
                    if name in before and before[name].entry.hash != life.entry.hash
                ],
                learning=learning,
                milliseconds=milliseconds,
            )
        finally:
            self.reloads.reloading = False
            self._reloaded.set()

    async def _drain(self) -> None:
        """Wait until no call runs any more."""
        with anyio.move_on_after(DRAIN_SECONDS):
            while self._calls:
                self._quiet = anyio.Event()
                await self._quiet.wait()
        if self._calls:
            raise Conflict(
                f"{len(self._calls)} calls of skills still run after {DRAIN_SECONDS:.0f} s; nothing was changed",
                hint="try again later, or with force, which cuts them off",
                details={"reason": "drain_timeout", "running_calls": self.running_calls},
            )

    # -- their lives -----------------------------------------------------------------------------------

    def _adopt(self, found: Sequence[Skill]) -> None:
        self.refused = [entry for entry in found if isinstance(entry, RefusedSkill)]
        self.lives = {entry.name: self._life(entry) for entry in found if isinstance(entry, ValidSkill)}
        for refused in self.refused:
            self._report(refused)

    def _life(self, entry: ValidSkill) -> SkillLife:
        known = self._cache.read(entry.name, entry.hash)
        return SkillLife(
            entry,
            entry.told if known is None else known,
            self._tasks,
            self._rules.surroundings,
            RestartLimit(self._rules.pause_seconds, self._seconds),
            make_room=self._make_room,
            learned=self._keep,
        )

    def _keep(self, life: SkillLife) -> None:
        """A skill told other tools than were known."""
        if life.told is not None:
            self._cache.write(life.name, life.entry.hash, life.told)
        if self.lives.get(life.name) is life:
            self.announce()

    async def _make_room(self, coming: SkillLife) -> None:
        """End the program that was not used for longest, when there are as many as may be."""
        while True:
            running = [life for life in self.lives.values() if life.has_process and life is not coming]
            if len(running) < self._rules.max_processes:
                return
            idle = [life for life in running if not life.running_calls and life.state is SkillState.RUNNING]
            if not idle:
                raise Busy(
                    f"{len(running)} skills run and all are busy; {coming.name} cannot be started",
                    hint="try again later, or raise the setting skills.max_processes",
                    details={"skill": coming.name, "max_processes": self._rules.max_processes},
                )
            await min(idle, key=lambda life: life.last_used).stop()
