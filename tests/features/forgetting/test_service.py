"""Forgetting: eviction of faded, old and excess memories, dry runs, protection and health."""

import random
from collections import Counter
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app import maintenance
from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Cancelled, NotFound
from scrubjay.core.policies import AgeLimit, ForgettingRules
from scrubjay.core.progress import SilentReporter
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.forgetting import service as module
from scrubjay.features.forgetting.service import EvictionReason, Forgetter, ForgettingReport, MemoryHealth, StoreHealth
from scrubjay.features.forgetting.store import ForgettingRecord
from scrubjay.features.memory.ranking.decay import StrengthBand, days_until_faded, strength
from scrubjay.features.memory.writes import MemoryWrite
from scrubjay.tooling.context import CallContext
from tests.contracts.samples import GLOBAL_ONLY, NOW, ManualClock, write

CLEANUP = (AgeLimit(0.7, timedelta(days=30)), AgeLimit(0.5, timedelta(days=7)))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await SqliteStore.open(tmp_path / "home")
    yield store
    await store.close()


def memory_of_age(content: str, days: float, **fields: Any) -> MemoryWrite:
    """Return the write of a memory that was stored this many days ago."""
    stored_at = NOW - timedelta(days=days)
    return write(content, recorded_at=stored_at, updated_at=stored_at, **fields)


def forgetter(store: SqliteStore, **rules: Any) -> Forgetter:
    return Forgetter(store.memories, store.forgetting, ForgettingRules(**rules), clock=ManualClock())


async def stored_contents(store: SqliteStore) -> list[str]:
    return sorted(memory.content for memory in await store.memories.scan(None, 10_000))


async def test_049_faded_memories_of_all_scopes_are_erased(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 7)
    writes = [memory_of_age(f"note {n}", 17 if n % 2 else 1, session_id=f"s{n % 3}") for n in range(60)]
    writes += [memory_of_age("of a project", 40, scope=Scope.PROJECT, project_id="p")]
    writes += [memory_of_age("of a session", 40, scope=Scope.SESSION, session_id="s")]
    await store.memories.put(writes)
    report = await forgetter(store).forget(SilentReporter(), dry_run=False)
    assert (report.considered, report.forgotten, report.spared) == (62, 32, 0)
    assert report.bands == Counter({StrengthBand.FORGET: 32, StrengthBand.HEALTHY: 30})
    assert await stored_contents(store) == sorted(f"note {n}" for n in range(0, 60, 2))
    assert await store.forgetting.record() == ForgettingRecord(NOW, 32, 32)


async def test_049_a_dry_run_reports_exactly_what_the_real_run_does(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 50)
    monkeypatch.setattr(module, "MAX_LISTED", 1000)
    chance = random.Random(49)
    writes = [
        memory_of_age(f"note {n}", chance.uniform(0, 60), importance=chance.random(), protected=chance.random() < 0.1)
        for n in range(400)
    ]
    await store.memories.put(writes)
    uses = {one.memory.id: chance.randrange(1, 20) for one in writes if chance.random() < 0.3}
    await store.memories.add_uses(uses, NOW - timedelta(days=2))
    service = forgetter(store, age_limits=CLEANUP, max_memories=100)
    preview = await service.forget(SilentReporter(), dry_run=True)
    assert len(await stored_contents(store)) == 400
    assert await store.forgetting.record() == ForgettingRecord(None, 0, 0)
    done = await service.forget(SilentReporter(), dry_run=False)
    assert (preview.dry_run, done.dry_run) == (True, False)
    preview.dry_run = False
    assert preview == done
    assert set(done.reasons) == set(EvictionReason)
    evicted = {entry.memory_id for entry in done.listed}
    assert await stored_contents(store) == sorted(one.memory.content for one in writes if one.memory.id not in evicted)
    assert len(await stored_contents(store)) == 100
    again = await service.forget(SilentReporter(), dry_run=False)
    assert (again.considered, again.forgotten) == (100, 0)


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"threshold": 0.0},
        {"threshold": 0.5},
        {"threshold": 0.8},
        {"decay_rate": 0.02, "age_limits": CLEANUP},
        {"max_memories": 100},
        {"max_memories": 20, "age_limits": CLEANUP},
        {"max_memories": 1000},
    ],
)
async def test_048_store_health_equals_the_counts_of_a_dry_run(store: SqliteStore, rules: dict[str, Any]) -> None:
    chance = random.Random(48)
    writes = [
        memory_of_age(
            f"note {n}",
            chance.uniform(-1, 60),
            importance=chance.choice([0.0, 0.5, 0.95, 1.0, chance.random()]),
            protected=chance.random() < 0.2,
            key=f"key {n % 150}",
        )
        for n in range(300)
    ]
    await store.memories.put(writes)
    uses = {one.memory.id: chance.randrange(1, 20) for one in writes if chance.random() < 0.3}
    await store.memories.add_uses(uses, NOW - timedelta(days=2))
    service = forgetter(store, **rules)
    preview = await service.forget(SilentReporter(), dry_run=True)
    assert preview.considered == 150, "earlier versions are not counted"
    assert await service.store_health() == StoreHealth(
        150, {band: preview.bands[band] for band in StrengthBand}, preview.forgotten
    )


async def test_049_protected_and_most_important_memories_are_never_evicted(store: SqliteStore) -> None:
    protected = memory_of_age("protected", 10_000, importance=0.0, protected=True)
    await store.memories.put(
        [protected, memory_of_age("precious", 10_000, importance=0.95), memory_of_age("plain", 10_000)]
    )
    service = forgetter(store, age_limits=CLEANUP, max_memories=1)
    report = await service.forget(SilentReporter(), dry_run=False)
    assert (report.forgotten, report.spared, await stored_contents(store)) == (1, 2, ["precious", "protected"])
    assert not (await service.protect(protected.memory.id, GLOBAL_ONLY, protected=False)).protected
    await service.forget(SilentReporter(), dry_run=False)
    assert await stored_contents(store) == ["precious"]


async def test_048_each_use_extends_the_lifetime_of_a_memory(store: SqliteStore) -> None:
    used, unused = memory_of_age("used", 20), memory_of_age("unused", 20)
    await store.memories.put([used, unused])
    await store.memories.add_uses({used.memory.id: 1}, NOW - timedelta(days=3))
    await forgetter(store).forget(SilentReporter(), dry_run=False)
    assert await stored_contents(store) == ["used"]


async def test_050_old_memories_are_evicted_by_importance(store: SqliteStore) -> None:
    await store.memories.put(
        [
            memory_of_age("of 31 days, 0.69", 31, importance=0.69),
            memory_of_age("of 31 days, 0.70", 31, importance=0.7),
            memory_of_age("of 29 days, 0.69", 29, importance=0.69),
            memory_of_age("of 8 days, 0.49", 8, importance=0.49),
            memory_of_age("of 8 days, 0.50", 8, importance=0.5),
            memory_of_age("of 6 days, 0.49", 6, importance=0.49),
        ]
    )
    report = await forgetter(store, threshold=0.0, age_limits=CLEANUP).forget(SilentReporter(), dry_run=False)
    assert report.reasons == Counter({EvictionReason.OLD: 2})
    assert await stored_contents(store) == [
        "of 29 days, 0.69",
        "of 31 days, 0.70",
        "of 6 days, 0.49",
        "of 8 days, 0.50",
    ]


async def test_050_over_capacity_the_least_important_oldest_memories_are_evicted(store: SqliteStore) -> None:
    await store.memories.put(
        [
            memory_of_age("important", 3, importance=0.8),
            memory_of_age("younger", 1, importance=0.4),
            memory_of_age("older", 2, importance=0.4),
            memory_of_age("least", 0, importance=0.3),
            memory_of_age("protected", 3, importance=0.1, protected=True),
        ]
    )
    report = await forgetter(store, max_memories=3).forget(SilentReporter(), dry_run=False)
    assert [(one.reason, one.strength) for one in report.listed] == [
        (EvictionReason.OVER_CAPACITY, pytest.approx(0.3)),
        (EvictionReason.OVER_CAPACITY, pytest.approx(strength(0.4, 2, 0))),
    ]
    assert await stored_contents(store) == ["important", "protected", "younger"]


async def test_049_earlier_versions_live_as_long_as_the_memory(store: SqliteStore) -> None:
    for day in (40, 30, 1):
        await store.memories.put([memory_of_age(f"tea since {day} days", day, key="tea")])
    for day in (60, 50):
        await store.memories.put([memory_of_age(f"coffee since {day} days", day, key="coffee")])
    assert len(await stored_contents(store)) == 5
    report = await forgetter(store).forget(SilentReporter(), dry_run=False)
    assert (report.considered, report.forgotten) == (2, 1), "the memory that changed yesterday has not faded"
    assert await stored_contents(store) == ["tea since 1 days", "tea since 30 days", "tea since 40 days"]


async def test_049_an_interrupted_run_leaves_the_rest_to_the_next(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 10)
    await store.memories.put([memory_of_age(f"note {n}", 40) for n in range(30)])

    class CancelHalfway:
        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            if done >= 20:
                raise Cancelled("enough")

    service = forgetter(store)
    with pytest.raises(Cancelled):
        await service.forget(CancelHalfway(), dry_run=False)
    assert len(await stored_contents(store)) == 10
    await service.forget(SilentReporter(), dry_run=False)
    assert await stored_contents(store) == []


async def test_048_health_predicts_the_remaining_days(store: SqliteStore) -> None:
    one = memory_of_age("tea", 4, importance=0.6)
    await store.memories.put([one])
    await store.memories.add_uses({one.memory.id: 5}, NOW - timedelta(days=1))
    predicted = days_until_faded(0.6, 5)
    assert predicted is not None
    service = forgetter(store)
    assert await service.health(one.memory.id, GLOBAL_ONLY) == MemoryHealth(
        memory_id=one.memory.id,
        strength=strength(0.6, 1, 5),
        band=StrengthBand.HEALTHY,
        importance=0.6,
        uses=5,
        age_days=1.0,
        protected=False,
        predicted_days=predicted,
        days_left=predicted - 1,
    )
    await service.protect(one.memory.id, GLOBAL_ONLY, protected=True)
    protected = await service.health(one.memory.id, GLOBAL_ONLY)
    assert (protected.protected, protected.predicted_days, protected.days_left) == (True, None, None)


async def test_049_invisible_memories_cannot_be_protected_or_inspected(store: SqliteStore) -> None:
    private = memory_of_age("private", 1, scope=Scope.SESSION, session_id="s")
    await store.memories.put([private])
    service = forgetter(store)
    with pytest.raises(NotFound):
        await service.protect(private.memory.id, GLOBAL_ONLY, protected=True)
    with pytest.raises(NotFound):
        await service.health(private.memory.id, GLOBAL_ONLY)
    assert (await service.protect(private.memory.id, Visibility(None, "s"), protected=True)).protected


async def test_049_an_empty_store_has_nothing_to_forget(store: SqliteStore) -> None:
    assert await forgetter(store).store_health() == StoreHealth(0, dict.fromkeys(StrengthBand, 0), 0)
    report = await forgetter(store, max_memories=10).forget(SilentReporter(), dry_run=False)
    assert report == ForgettingReport(False, NOW)


async def test_049_a_run_is_due_only_if_enabled_and_in_one_process(store: SqliteStore) -> None:
    assert not await forgetter(store).is_due()
    hourly = {"every": timedelta(hours=1)}
    assert [await forgetter(store, **hourly).is_due() for _ in range(3)] == [True, False, False]


async def test_049_only_one_of_several_servers_forgets_and_none_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "EVICTION_CHECK_SECONDS", 0.02)
    home = tmp_path / "home"
    store = await SqliteStore.open(home)
    long_ago = NOW - timedelta(days=4000)
    await store.memories.put([write(f"note {n}", recorded_at=long_ago, updated_at=long_ago) for n in range(3)])
    await store.close()

    async def runs(app: Application) -> list[Any]:
        return (await call(app, "list_jobs", tool="forget_faded")).jobs

    async def call(app: Application, name: str, **arguments: Any) -> Any:
        return await app.dispatcher.call(name, arguments, CallContext(surface="python"))

    async with running(Settings(home=home)) as disabled:
        await disabled.open()
        assert not (await call(disabled, "memory_health")).enabled
    enabled = Settings.model_validate({"home": home, "forgetting": {"enabled": True}})
    async with running(enabled) as first, running(enabled) as second:
        await first.open()
        await second.open()
        with anyio.fail_after(30):
            while (health := await call(first, "memory_health")).total_forgotten < 3:
                pass
        assert (health.memories, health.last_batch_count, health.interval_ms) == (0, 3, 3_600_000)
        await anyio.sleep(10 * maintenance.EVICTION_CHECK_SECONDS)  # both check several times, but only one runs
        assert [job.result["forgotten"] for job in await runs(second)] == [3]
