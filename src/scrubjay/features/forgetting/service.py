"""Letting go of memories that have faded, or that are old and matter little."""

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.policies import ForgettingRules
from scrubjay.core.progress import Reporter
from scrubjay.core.scopes import Visibility
from scrubjay.features.forgetting.models import Ageing
from scrubjay.features.forgetting.store import Fading, ForgettingRecord, ForgettingStore
from scrubjay.features.memory.models import Memory
from scrubjay.features.memory.ranking.decay import (
    AT_RISK_BELOW,
    STRONG_ABOVE,
    UNFORGETTABLE,
    USE_WEIGHT,
    Band,
    band_of,
    days_until_faded,
    strength,
)
from scrubjay.features.memory.service import unknown_memory
from scrubjay.features.memory.store import MemoryStore

BATCH = 1000
# So many of those that go are named; all of them would be too long an answer.
MOST_NAMED = 100
# What a memory was before lives as long as the memory does.
VERSIONS = "old_"
_DAY = timedelta(days=1)


class Reason(StrEnum):
    """Why a memory goes."""

    FADED = "faded"
    OLD = "old"
    CROWDED = "crowded"


@dataclass(frozen=True, slots=True)
class Vitality:
    """How a memory is."""

    memory_id: str
    strength: float
    band: Band
    importance: float
    uses: int
    age_days: float
    """Since its last use, or since it was kept."""
    protected: bool
    predicted_days: float | None
    """How many days after its last use it has faded; None for never."""
    days_left: float | None
    """How many of these are left."""


@dataclass(frozen=True, slots=True)
class Departure:
    """A memory that goes, and why."""

    memory_id: str
    reason: Reason
    strength: float


@dataclass(frozen=True, slots=True)
class Census:
    """How all memories are, and how many of them would go now."""

    memories: int
    bands: Mapping[Band, int]
    would_go: int


@dataclass(slots=True)
class ForgettingReport:
    """What one look at all memories came to."""

    dry_run: bool
    looked_at: datetime
    considered: int = 0
    spared: int = 0
    """Those that would have gone if they were not protected."""
    reasons: Counter[Reason] = field(default_factory=Counter[Reason])
    bands: Counter[Band] = field(default_factory=Counter[Band])
    """All that were considered, as they were before anything went."""
    named: list[Departure] = field(default_factory=list[Departure])
    """The first of those that go."""

    @property
    def forgotten(self) -> int:
        return self.reasons.total()


class Forgetter:
    """Goes through all memories of a store in the order they were kept, and lets those go that the rules say."""

    def __init__(
        self,
        memories: MemoryStore,
        forgetting: ForgettingStore,
        rules: ForgettingRules,
        *,
        clock: Clock = system_clock,
    ) -> None:
        self._memories = memories
        self._forgetting = forgetting
        self.rules = rules
        self._clock = clock

    async def is_due(self) -> bool:
        """Whether this process is to do it now; then no other one will."""
        return self.rules.every is not None and await self._forgetting.claim(self.rules.every, self._clock())

    async def forget(self, reporter: Reporter, *, dry_run: bool) -> ForgettingReport:
        """What goes, and if this is not only a rehearsal, its going. Both decide alike, memory by memory.

        Each batch is gone for good when the next begins; stopped in between, what has not gone stays until next time.
        """
        now = self._clock()
        report = ForgettingReport(dry_run, now)
        total = (await self._memories.counts()).memories
        crowd = _Crowd(total - self.rules.most if self.rules.most else 0)
        after = 0
        await reporter.report(0, total, "looking at memories")
        while batch := await self._forgetting.ageing(after, BATCH):
            after = batch[-1][0]
            leaving: list[Departure] = []
            for place, ageing in batch:
                if ageing.id.startswith(VERSIONS):
                    continue
                if (departure := self._consider(ageing, now, report)) is not None:
                    leaving.append(departure)
                elif _may_go(ageing):
                    crowd.add(place, ageing)
            await self._let_go(leaving, report)
            done = min(report.considered, total)
            await reporter.report(done, total, f"looked at {report.considered} memories, {report.forgotten} go")
        too_many = report.considered - report.forgotten - self.rules.most if self.rules.most else 0
        crowded = [self._departure(ageing, Reason.CROWDED, now) for ageing in crowd.least(too_many)]
        for start in range(0, len(crowded), BATCH):
            await self._let_go(crowded[start : start + BATCH], report)
            await reporter.report(total, total, f"{report.forgotten} go")
        if not dry_run:
            await self._forgetting.note(report.forgotten, now)
        return report

    async def protect(self, memory_id: str, visibility: Visibility, *, protected: bool) -> Memory:
        """Keep a memory from being let go by any rule, or no more; `forget` still erases it."""
        if found := await self._memories.protect(visibility, [memory_id], protected):
            return found[0]
        raise unknown_memory(memory_id)

    async def vitality(self, memory_id: str, visibility: Visibility) -> Vitality:
        """How one memory is."""
        ageing = await self._forgetting.ageing_of(visibility, memory_id)
        if ageing is None:
            raise unknown_memory(memory_id)
        now = self._clock()
        age = _age_days(ageing, now)
        strong = self._strength(ageing, now)
        days = None
        if not ageing.protected:
            rules = self.rules
            days = days_until_faded(
                ageing.importance, ageing.uses, threshold=rules.threshold, decay_rate=rules.decay_rate
            )
        return Vitality(
            memory_id=ageing.id,
            strength=strong,
            band=band_of(strong, threshold=self.rules.threshold),
            importance=ageing.importance,
            uses=ageing.uses,
            age_days=age,
            protected=ageing.protected,
            predicted_days=days,
            days_left=None if days is None else max(days - age, 0.0),
        )

    async def census(self) -> Census:
        """The same numbers that a rehearsal comes to, without looking at the memories one by one."""
        rules = self.rules
        fading = Fading(
            decay_rate=rules.decay_rate,
            use_weight=USE_WEIGHT,
            threshold=rules.threshold,
            at_risk_below=AT_RISK_BELOW,
            strong_above=STRONG_ABOVE,
            unforgettable=UNFORGETTABLE,
            age_limits=rules.age_limits,
        )
        found = await self._forgetting.vitals(fading, self._clock())
        bands = {Band.FORGET: found.faded, Band.AT_RISK: found.at_risk, Band.STRONG: found.strong}
        bands[Band.HEALTHY] = found.memories - sum(bands.values())
        too_many = max(found.memories - found.leaving - rules.most, 0) if rules.most else 0
        return Census(found.memories, bands, found.leaving + min(too_many, found.may_go - found.leaving))

    async def record(self) -> ForgettingRecord:
        """What was forgotten so far."""
        return await self._forgetting.record()

    # -- deciding ----------------------------------------------------------------------------------

    def _consider(self, ageing: Ageing, now: datetime, report: ForgettingReport) -> Departure | None:
        strong = self._strength(ageing, now)
        report.considered += 1
        report.bands[band_of(strong, threshold=self.rules.threshold)] += 1
        reason = self._reason(ageing, strong, now)
        if reason is None:
            return None
        if not _may_go(ageing):
            report.spared += 1
            return None
        return Departure(ageing.id, reason, strong)

    def _reason(self, ageing: Ageing, strong: float, now: datetime) -> Reason | None:
        if strong < self.rules.threshold:
            return Reason.FADED
        age = now - ageing.recorded_at
        if any(ageing.importance < limit.importance and age > limit.age for limit in self.rules.age_limits):
            return Reason.OLD
        return None

    def _departure(self, ageing: Ageing, reason: Reason, now: datetime) -> Departure:
        return Departure(ageing.id, reason, self._strength(ageing, now))

    def _strength(self, ageing: Ageing, now: datetime) -> float:
        return strength(ageing.importance, _age_days(ageing, now), ageing.uses, decay_rate=self.rules.decay_rate)

    async def _let_go(self, leaving: Sequence[Departure], report: ForgettingReport) -> None:
        """Erase these, unless it is a rehearsal, and add them to the report."""
        if leaving and not report.dry_run:
            await self._memories.erase([departure.memory_id for departure in leaving])
        report.reasons.update(departure.reason for departure in leaving)
        report.named += leaving[: MOST_NAMED - len(report.named)]


class _Crowd:
    """Of all that may go, as many as could have to: those that matter least, the oldest first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[float, float, int, Ageing]] = []

    def add(self, place: int, ageing: Ageing) -> None:
        if self._most <= 0:
            return
        # The heap's first is the one to stay before all others in it.
        entry = (-ageing.importance, -ageing.recorded_at.timestamp(), -place, ageing)
        if len(self._heap) < self._most:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            heapq.heapreplace(self._heap, entry)

    def least(self, count: int) -> list[Ageing]:
        return [entry[3] for entry in sorted(self._heap, reverse=True)[: max(count, 0)]]


def _may_go(ageing: Ageing) -> bool:
    return not ageing.protected and ageing.importance < UNFORGETTABLE


def _age_days(ageing: Ageing, now: datetime) -> float:
    return (now - (ageing.used_at or ageing.recorded_at)) / _DAY


def band_counts(bands: Mapping[Band, int]) -> dict[str, int]:
    """Every band with its count, also those that nothing is in."""
    return {band: bands.get(band, 0) for band in Band}
