"""Call statistics of this process: counts, outcomes and durations per tool."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from scrubjay.core.clock import Clock, system_clock
from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import OK, CallEnded, CallStarted


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStats:
    """The calls of one tool that have ended."""

    total: int = 0
    succeeded: int = 0
    total_ms: float = 0.0
    min_ms: float = 0.0
    max_ms: float = 0.0

    @property
    def failed(self) -> int:
        """Return the calls that ended without an answer: errors, refusals and abandoned calls."""
        return self.total - self.succeeded

    @property
    def average_ms(self) -> float | None:
        return self.total_ms / self.total if self.total else None

    @property
    def success_rate(self) -> float | None:
        return self.succeeded / self.total if self.total else None

    def with_call(self, milliseconds: float, *, succeeded: bool) -> "ToolStats":
        return ToolStats(
            total=self.total + 1,
            succeeded=self.succeeded + succeeded,
            total_ms=self.total_ms + milliseconds,
            min_ms=min(self.min_ms, milliseconds) if self.total else milliseconds,
            max_ms=max(self.max_ms, milliseconds),
        )

    def merged_with(self, other: "ToolStats") -> "ToolStats":
        if not self.total or not other.total:
            return self if self.total else other
        return replace(
            self,
            total=self.total + other.total,
            succeeded=self.succeeded + other.succeeded,
            total_ms=self.total_ms + other.total_ms,
            min_ms=min(self.min_ms, other.min_ms),
            max_ms=max(self.max_ms, other.max_ms),
        )


class CallStats:
    """Counts calls in memory."""

    def __init__(self, clock: Clock = system_clock, seconds: Callable[[], float] = time.monotonic) -> None:
        self._tools: dict[str, ToolStats] = {}
        self._seconds = seconds
        self._began, self._cpu_before = seconds(), time.process_time()
        self.since = clock()
        self.active = 0
        """Number of running calls."""

    @property
    def uptime_seconds(self) -> float:
        return self._seconds() - self._began

    @property
    def cpu_seconds(self) -> float:
        """Return the CPU seconds of the process since then."""
        return time.process_time() - self._cpu_before

    @property
    def tools(self) -> Mapping[str, ToolStats]:
        """The tools that were called, by name."""
        return dict(self._tools)

    @property
    def total(self) -> ToolStats:
        all_of_them = ToolStats()
        for one in self._tools.values():
            all_of_them = all_of_them.merged_with(one)
        return all_of_them

    def subscribe(self, events: EventBus) -> None:
        """Count the calls published on this bus."""
        events.subscribe(CallStarted, self._call_started)
        events.subscribe(CallEnded, self._call_ended)

    def begins(self) -> None:
        self.active += 1

    def ends(self, tool: str, milliseconds: float, *, succeeded: bool) -> None:
        self.active -= 1
        self._tools[tool] = self._tools.get(tool, ToolStats()).with_call(milliseconds, succeeded=succeeded)

    def _call_started(self, event: CallStarted) -> None:
        self.begins()

    def _call_ended(self, event: CallEnded) -> None:
        if event.started is None:  # refused first
            self.begins()
        self.ends(event.tool_label, event.milliseconds, succeeded=event.outcome == OK)
