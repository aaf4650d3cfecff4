"""Eviction of memories that have faded, are old and unimportant, or exceed the capacity."""

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
from scrubjay.features.forgetting.models import AgingMemory
from scrubjay.features.forgetting.store import DecayParameters, ForgettingRecord, ForgettingStore
from scrubjay.features.memory.models import Memory
from scrubjay.features.memory.ranking.decay import (
    AT_RISK_BELOW,
    NEVER_FADES_FROM,
    STRONG_ABOVE,
    USE_WEIGHT,
    StrengthBand,
    days_until_faded,
    strength,
    strength_band,
)
from scrubjay.features.memory.service import unknown_memory
from scrubjay.features.memory.store import MemoryStore

BATCH = 1000
# Maximum number of evicted memories listed in a report.
MAX_LISTED = 100
# Earlier versions of a memory are erased only with the memory itself.
VERSION_PREFIX = "old_"
_DAY = timedelta(days=1)


class EvictionReason(StrEnum):
    """Why a memory is evicted."""

    FADED = "faded"
    OLD = "old"
    OVER_CAPACITY = "over_capacity"


@dataclass(frozen=True, slots=True)
class MemoryHealth:
    """Strength and expected lifetime of a memory."""

    memory_id: str
    strength: float
    band: StrengthBand
    importance: float
    uses: int
    age_days: float
    """Days since its last use, or since it was stored."""
    protected: bool
    predicted_days: float | None
    """Days from its last use until it has faded; None for never."""
    days_left: float | None
    """Remaining days until it has faded; None for never."""


@dataclass(frozen=True, slots=True)
class Eviction:
    """A memory to evict, with the reason."""

    memory_id: str
    reason: EvictionReason
    strength: float


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """Strength of all memories, and the number that would be evicted now."""

    memories: int
    bands: Mapping[StrengthBand, int]
    would_forget: int


@dataclass(slots=True)
class ForgettingReport:
    """Result of a run over all memories."""

    dry_run: bool
    evaluated_at: datetime
    considered: int = 0
    spared: int = 0
    """Number of memories that only protection or high importance saved."""
    reasons: Counter[EvictionReason] = field(default_factory=Counter[EvictionReason])
    bands: Counter[StrengthBand] = field(default_factory=Counter[StrengthBand])
    """Number of memories by strength, before the eviction."""
    listed: list[Eviction] = field(default_factory=list[Eviction])
    """The first MAX_LISTED evictions."""

    @property
    def forgotten(self) -> int:
        return self.reasons.total()


class Forgetter:
    """Evicts the memories of a store that the rules select, in the order in which they were stored."""

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
        """Return True if a run is due and this process has claimed it."""
        return self.rules.every is not None and await self._forgetting.claim(self.rules.every, self._clock())

    async def forget(self, reporter: Reporter, *, dry_run: bool) -> ForgettingReport:
        """Evict memories, or only report which ones in a dry run; both decide identically, memory by memory.

        Each batch is erased durably before the next begins; an interrupted run leaves the rest to the next run.
        """
        now = self._clock()
        report = ForgettingReport(dry_run, now)
        total = (await self._memories.counts()).memories
        heap = _CapacityHeap(total - self.rules.max_memories if self.rules.max_memories else 0)
        after = 0
        await reporter.report(0, total, "reading memories")
        while batch := await self._forgetting.scan(after, BATCH):
            after = batch[-1][0]
            evictions: list[Eviction] = []
            for seq, memory in batch:
                if memory.id.startswith(VERSION_PREFIX):
                    continue
                if (eviction := self._evaluate(memory, now, report)) is not None:
                    evictions.append(eviction)
                elif _is_evictable(memory):
                    heap.add(seq, memory)
            await self._evict(evictions, report)
            done = min(report.considered, total)
            await reporter.report(done, total, f"read {report.considered} memories, {report.forgotten} to forget")
        excess_count = report.considered - report.forgotten - self.rules.max_memories if self.rules.max_memories else 0
        excess = [self._eviction(memory, EvictionReason.OVER_CAPACITY, now) for memory in heap.least(excess_count)]
        for start in range(0, len(excess), BATCH):
            await self._evict(excess[start : start + BATCH], report)
            await reporter.report(total, total, f"{report.forgotten} to forget")
        if not dry_run:
            await self._forgetting.record_run(report.forgotten, now)
        return report

    async def protect(self, memory_id: str, visibility: Visibility, *, protected: bool) -> Memory:
        """Protect a memory from automatic forgetting, or end the protection. `forget` still erases it."""
        if found := await self._memories.protect(visibility, [memory_id], protected):
            return found[0]
        raise unknown_memory(memory_id)

    async def health(self, memory_id: str, visibility: Visibility) -> MemoryHealth:
        """Return the strength of one memory. Raises `NotFound` if it is not visible."""
        memory = await self._forgetting.get(visibility, memory_id)
        if memory is None:
            raise unknown_memory(memory_id)
        now = self._clock()
        age = _age_days(memory, now)
        current = self._strength(memory, now)
        days = None
        if not memory.protected:
            rules = self.rules
            days = days_until_faded(
                memory.importance, memory.uses, threshold=rules.threshold, decay_rate=rules.decay_rate
            )
        return MemoryHealth(
            memory_id=memory.id,
            strength=current,
            band=strength_band(current, threshold=self.rules.threshold),
            importance=memory.importance,
            uses=memory.uses,
            age_days=age,
            protected=memory.protected,
            predicted_days=days,
            days_left=None if days is None else max(days - age, 0.0),
        )

    async def store_health(self) -> StoreHealth:
        """Return the numbers of a dry run, computed by one query."""
        rules = self.rules
        parameters = DecayParameters(
            decay_rate=rules.decay_rate,
            use_weight=USE_WEIGHT,
            threshold=rules.threshold,
            at_risk_below=AT_RISK_BELOW,
            strong_above=STRONG_ABOVE,
            never_fades_from=NEVER_FADES_FROM,
            age_limits=rules.age_limits,
        )
        found = await self._forgetting.count_strengths(parameters, self._clock())
        bands = {
            StrengthBand.FORGET: found.faded,
            StrengthBand.AT_RISK: found.at_risk,
            StrengthBand.STRONG: found.strong,
        }
        bands[StrengthBand.HEALTHY] = found.memories - sum(bands.values())
        excess_count = max(found.memories - found.due - rules.max_memories, 0) if rules.max_memories else 0
        return StoreHealth(found.memories, bands, found.due + min(excess_count, found.evictable - found.due))

    async def record(self) -> ForgettingRecord:
        """Return the time and counts of the runs so far."""
        return await self._forgetting.record()

    # -- decision ----------------------------------------------------------------------------------

    def _evaluate(self, memory: AgingMemory, now: datetime, report: ForgettingReport) -> Eviction | None:
        current = self._strength(memory, now)
        report.considered += 1
        report.bands[strength_band(current, threshold=self.rules.threshold)] += 1
        reason = self._reason(memory, current, now)
        if reason is None:
            return None
        if not _is_evictable(memory):
            report.spared += 1
            return None
        return Eviction(memory.id, reason, current)

    def _reason(self, memory: AgingMemory, current: float, now: datetime) -> EvictionReason | None:
        if current < self.rules.threshold:
            return EvictionReason.FADED
        age = now - memory.recorded_at
        if any(memory.importance < limit.importance and age > limit.age for limit in self.rules.age_limits):
            return EvictionReason.OLD
        return None

    def _eviction(self, memory: AgingMemory, reason: EvictionReason, now: datetime) -> Eviction:
        return Eviction(memory.id, reason, self._strength(memory, now))

    def _strength(self, memory: AgingMemory, now: datetime) -> float:
        return strength(memory.importance, _age_days(memory, now), memory.uses, decay_rate=self.rules.decay_rate)

    async def _evict(self, evictions: Sequence[Eviction], report: ForgettingReport) -> None:
        """Add these to the report and, unless it is a dry run, erase them."""
        if evictions and not report.dry_run:
            await self._memories.erase([eviction.memory_id for eviction in evictions])
        report.reasons.update(eviction.reason for eviction in evictions)
        report.listed += evictions[: MAX_LISTED - len(report.listed)]


class _CapacityHeap:
    """A bounded heap of the least important evictable memories; among equals, the oldest."""

    def __init__(self, most: int) -> None:
        self._size = most
        self._heap: list[tuple[float, float, int, AgingMemory]] = []

    def add(self, seq: int, memory: AgingMemory) -> None:
        if self._size <= 0:
            return
        # heap[0] is the entry to drop first: the most important one, or the newest of these.
        entry = (-memory.importance, -memory.recorded_at.timestamp(), -seq, memory)
        if len(self._heap) < self._size:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            heapq.heapreplace(self._heap, entry)

    def least(self, count: int) -> list[AgingMemory]:
        return [entry[3] for entry in sorted(self._heap, reverse=True)[: max(count, 0)]]


def _is_evictable(memory: AgingMemory) -> bool:
    return not memory.protected and memory.importance < NEVER_FADES_FROM


def _age_days(memory: AgingMemory, now: datetime) -> float:
    return (now - (memory.used_at or memory.recorded_at)) / _DAY


def band_counts(bands: Mapping[StrengthBand, int]) -> dict[str, int]:
    """Return the count of every band, including empty ones."""
    return {band: bands.get(band, 0) for band in StrengthBand}
