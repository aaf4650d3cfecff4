"""How many calls of each tool there were in this process, how they ended and how long they took."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from scrubjay.core.clock import Clock, system_clock
from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import OK, CallEnded, CallStarted


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTally:
    """The calls of one tool that have ended."""

    total: int = 0
    succeeded: int = 0
    total_ms: float = 0.0
    least_ms: float = 0.0
    most_ms: float = 0.0

    @property
    def failed(self) -> int:
        """Whatever did not end with an answer: errors, refusals, and calls that somebody gave up."""
        return self.total - self.succeeded

    @property
    def average_ms(self) -> float | None:
        return self.total_ms / self.total if self.total else None

    @property
    def success_rate(self) -> float | None:
        return self.succeeded / self.total if self.total else None

    def and_one(self, milliseconds: float, *, succeeded: bool) -> "ToolTally":
        return ToolTally(
            total=self.total + 1,
            succeeded=self.succeeded + succeeded,
            total_ms=self.total_ms + milliseconds,
            least_ms=min(self.least_ms, milliseconds) if self.total else milliseconds,
            most_ms=max(self.most_ms, milliseconds),
        )

    def and_all(self, other: "ToolTally") -> "ToolTally":
        if not self.total or not other.total:
            return self if self.total else other
        return replace(
            self,
            total=self.total + other.total,
            succeeded=self.succeeded + other.succeeded,
            total_ms=self.total_ms + other.total_ms,
            least_ms=min(self.least_ms, other.least_ms),
            most_ms=max(self.most_ms, other.most_ms),
        )


class CallTally:
    """Counts calls; costs next to nothing, and is gone with the process."""

    def __init__(self, clock: Clock = system_clock, seconds: Callable[[], float] = time.monotonic) -> None:
        self._tools: dict[str, ToolTally] = {}
        self._seconds = seconds
        self._began, self._cpu_before = seconds(), time.process_time()
        self.since = clock()
        self.active = 0
        """How many calls have begun and not ended."""

    @property
    def uptime_seconds(self) -> float:
        return self._seconds() - self._began

    @property
    def cpu_seconds(self) -> float:
        """What all of this process computed since then."""
        return time.process_time() - self._cpu_before

    @property
    def tools(self) -> Mapping[str, ToolTally]:
        """The tools that were called, by name."""
        return dict(self._tools)

    @property
    def together(self) -> ToolTally:
        all_of_them = ToolTally()
        for one in self._tools.values():
            all_of_them = all_of_them.and_all(one)
        return all_of_them

    def subscribe(self, events: EventBus) -> None:
        """Count the calls that are published there."""
        events.subscribe(CallStarted, self._call_started)
        events.subscribe(CallEnded, self._call_ended)

    def begins(self) -> None:
        self.active += 1

    def ends(self, tool: str, milliseconds: float, *, succeeded: bool) -> None:
        self.active -= 1
        self._tools[tool] = self._tools.get(tool, ToolTally()).and_one(milliseconds, succeeded=succeeded)

    def _call_started(self, event: CallStarted) -> None:
        self.begins()

    def _call_ended(self, event: CallEnded) -> None:
        if event.started is None:  # refused first
            self.begins()
        self.ends(event.tool_label, event.milliseconds, succeeded=event.outcome == OK)
