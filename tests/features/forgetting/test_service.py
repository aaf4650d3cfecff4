"""What has faded goes, all of it and nothing else; and a rehearsal tells exactly what will go."""

import random
from collections import Counter
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app import maintenance as upkeep
from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Cancelled, NotFound
from scrubjay.core.policies import AgeLimit, ForgettingRules
from scrubjay.core.progress import SilentReporter
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.forgetting import service as module
from scrubjay.features.forgetting.service import Census, Forgetter, ForgettingReport, Reason, Vitality
from scrubjay.features.forgetting.store import ForgettingRecord
from scrubjay.features.memory.models import MemoryWrite
from scrubjay.features.memory.ranking.decay import Band, days_until_faded, strength
from scrubjay.tooling.context import CallContext
from tests.contracts.samples import NOBODY_IN_PARTICULAR, NOW, ManualClock, write

CLEANUP = (AgeLimit(0.7, timedelta(days=30)), AgeLimit(0.5, timedelta(days=7)))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await SqliteStore.open(tmp_path / "home")
    yield store
    await store.close()


def aged(content: str, days: float, **fields: Any) -> MemoryWrite:
    """A memory that was kept so many days ago."""
    kept_at = NOW - timedelta(days=days)
    return write(content, recorded_at=kept_at, updated_at=kept_at, **fields)


def forgetter(store: SqliteStore, **rules: Any) -> Forgetter:
    return Forgetter(store.memories, store.forgetting, ForgettingRules(**rules), clock=ManualClock())


async def kept(store: SqliteStore) -> list[str]:
    return sorted(memory.content for memory in await store.memories.scan(None, 10_000))


async def test_049_all_that_has_faded_goes_wherever_it_is(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 7)
    writes = [aged(f"note {n}", 17 if n % 2 else 1, session_id=f"s{n % 3}") for n in range(60)]
    writes += [aged("of a project", 40, scope=Scope.PROJECT, project_id="p")]
    writes += [aged("of a session", 40, scope=Scope.SESSION, session_id="s")]
    await store.memories.put(writes)
    report = await forgetter(store).forget(SilentReporter(), dry_run=False)
    assert (report.considered, report.forgotten, report.spared) == (62, 32, 0)
    assert report.bands == Counter({Band.FORGET: 32, Band.HEALTHY: 30})
    assert await kept(store) == sorted(f"note {n}" for n in range(0, 60, 2))
    assert await store.forgetting.record() == ForgettingRecord(NOW, 32, 32)


async def test_049_a_rehearsal_tells_exactly_what_the_real_run_does(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 50)
    monkeypatch.setattr(module, "MOST_NAMED", 1000)
    chance = random.Random(49)
    writes = [
        aged(f"note {n}", chance.uniform(0, 60), importance=chance.random(), protected=chance.random() < 0.1)
        for n in range(400)
    ]
    await store.memories.put(writes)
    uses = {one.memory.id: chance.randrange(1, 20) for one in writes if chance.random() < 0.3}
    await store.memories.note_uses(uses, NOW - timedelta(days=2))
    work = forgetter(store, age_limits=CLEANUP, most=100)
    rehearsed = await work.forget(SilentReporter(), dry_run=True)
    assert len(await kept(store)) == 400
    assert await store.forgetting.record() == ForgettingRecord(None, 0, 0)
    done = await work.forget(SilentReporter(), dry_run=False)
    assert (rehearsed.dry_run, done.dry_run) == (True, False)
    rehearsed.dry_run = False
    assert rehearsed == done
    assert set(done.reasons) == set(Reason)
    gone = {departure.memory_id for departure in done.named}
    assert await kept(store) == sorted(one.memory.content for one in writes if one.memory.id not in gone)
    assert len(await kept(store)) == 100
    again = await work.forget(SilentReporter(), dry_run=False)
    assert (again.considered, again.forgotten) == (100, 0)


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"threshold": 0.0},
        {"threshold": 0.5},
        {"threshold": 0.8},
        {"decay_rate": 0.02, "age_limits": CLEANUP},
        {"most": 100},
        {"most": 20, "age_limits": CLEANUP},
        {"most": 1000},
    ],
)
async def test_048_a_census_counts_what_a_rehearsal_finds_one_by_one(store: SqliteStore, rules: dict[str, Any]) -> None:
    chance = random.Random(48)
    writes = [
        aged(
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
    await store.memories.note_uses(uses, NOW - timedelta(days=2))
    work = forgetter(store, **rules)
    rehearsed = await work.forget(SilentReporter(), dry_run=True)
    assert rehearsed.considered == 150, "what they were before is not counted"
    assert await work.census() == Census(150, {band: rehearsed.bands[band] for band in Band}, rehearsed.forgotten)


async def test_049_what_is_protected_or_matters_most_never_goes(store: SqliteStore) -> None:
    protected = aged("protected", 10_000, importance=0.0, protected=True)
    await store.memories.put([protected, aged("precious", 10_000, importance=0.95), aged("plain", 10_000)])
    work = forgetter(store, age_limits=CLEANUP, most=1)
    report = await work.forget(SilentReporter(), dry_run=False)
    assert (report.forgotten, report.spared, await kept(store)) == (1, 2, ["precious", "protected"])
    assert not (await work.protect(protected.memory.id, NOBODY_IN_PARTICULAR, protected=False)).protected
    await work.forget(SilentReporter(), dry_run=False)
    assert await kept(store) == ["precious"]


async def test_048_each_use_keeps_a_memory_for_longer(store: SqliteStore) -> None:
    used, unused = aged("used", 20), aged("unused", 20)
    await store.memories.put([used, unused])
    await store.memories.note_uses({used.memory.id: 1}, NOW - timedelta(days=3))
    await forgetter(store).forget(SilentReporter(), dry_run=False)
    assert await kept(store) == ["used"]


async def test_050_what_is_old_goes_by_its_importance(store: SqliteStore) -> None:
    await store.memories.put(
        [
            aged("of 31 days, 0.69", 31, importance=0.69),
            aged("of 31 days, 0.70", 31, importance=0.7),
            aged("of 29 days, 0.69", 29, importance=0.69),
            aged("of 8 days, 0.49", 8, importance=0.49),
            aged("of 8 days, 0.50", 8, importance=0.5),
            aged("of 6 days, 0.49", 6, importance=0.49),
        ]
    )
    report = await forgetter(store, threshold=0.0, age_limits=CLEANUP).forget(SilentReporter(), dry_run=False)
    assert report.reasons == Counter({Reason.OLD: 2})
    assert await kept(store) == ["of 29 days, 0.69", "of 31 days, 0.70", "of 6 days, 0.49", "of 8 days, 0.50"]


async def test_050_of_too_many_those_go_that_matter_least_the_oldest_first(store: SqliteStore) -> None:
    await store.memories.put(
        [
            aged("important", 3, importance=0.8),
            aged("younger", 1, importance=0.4),
            aged("older", 2, importance=0.4),
            aged("least", 0, importance=0.3),
            aged("protected", 3, importance=0.1, protected=True),
        ]
    )
    report = await forgetter(store, most=3).forget(SilentReporter(), dry_run=False)
    assert [(one.reason, one.strength) for one in report.named] == [
        (Reason.CROWDED, pytest.approx(0.3)),
        (Reason.CROWDED, pytest.approx(strength(0.4, 2, 0))),
    ]
    assert await kept(store) == ["important", "protected", "younger"]


async def test_049_what_a_memory_was_before_lives_as_long_as_it_does(store: SqliteStore) -> None:
    for day in (40, 30, 1):
        await store.memories.put([aged(f"tea since {day} days", day, key="tea")])
    for day in (60, 50):
        await store.memories.put([aged(f"coffee since {day} days", day, key="coffee")])
    assert len(await kept(store)) == 5
    report = await forgetter(store).forget(SilentReporter(), dry_run=False)
    assert (report.considered, report.forgotten) == (2, 1), "what was changed yesterday has not faded since then"
    assert await kept(store) == ["tea since 1 days", "tea since 30 days", "tea since 40 days"]


async def test_049_stopped_in_between_it_leaves_the_rest_for_the_next_time(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 10)
    await store.memories.put([aged(f"note {n}", 40) for n in range(30)])

    class Stopping:
        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            if done >= 20:
                raise Cancelled("enough")

    work = forgetter(store)
    with pytest.raises(Cancelled):
        await work.forget(Stopping(), dry_run=False)
    assert len(await kept(store)) == 10
    await work.forget(SilentReporter(), dry_run=False)
    assert await kept(store) == []


async def test_048_a_memory_knows_how_many_days_it_has(store: SqliteStore) -> None:
    one = aged("tea", 4, importance=0.6)
    await store.memories.put([one])
    await store.memories.note_uses({one.memory.id: 5}, NOW - timedelta(days=1))
    predicted = days_until_faded(0.6, 5)
    assert predicted is not None
    work = forgetter(store)
    assert await work.vitality(one.memory.id, NOBODY_IN_PARTICULAR) == Vitality(
        memory_id=one.memory.id,
        strength=strength(0.6, 1, 5),
        band=Band.HEALTHY,
        importance=0.6,
        uses=5,
        age_days=1.0,
        protected=False,
        predicted_days=predicted,
        days_left=predicted - 1,
    )
    await work.protect(one.memory.id, NOBODY_IN_PARTICULAR, protected=True)
    protected = await work.vitality(one.memory.id, NOBODY_IN_PARTICULAR)
    assert (protected.protected, protected.predicted_days, protected.days_left) == (True, None, None)


async def test_049_nobody_protects_or_examines_what_they_cannot_see(store: SqliteStore) -> None:
    private = aged("private", 1, scope=Scope.SESSION, session_id="s")
    await store.memories.put([private])
    work = forgetter(store)
    with pytest.raises(NotFound):
        await work.protect(private.memory.id, NOBODY_IN_PARTICULAR, protected=True)
    with pytest.raises(NotFound):
        await work.vitality(private.memory.id, NOBODY_IN_PARTICULAR)
    assert (await work.protect(private.memory.id, Visibility(None, "s"), protected=True)).protected


async def test_049_an_empty_store_has_nothing_to_forget(store: SqliteStore) -> None:
    assert await forgetter(store).census() == Census(0, dict.fromkeys(Band, 0), 0)
    report = await forgetter(store, most=10).forget(SilentReporter(), dry_run=False)
    assert report == ForgettingReport(False, NOW)


async def test_049_it_is_only_due_where_the_operator_says_so_and_in_one_process(store: SqliteStore) -> None:
    assert not await forgetter(store).is_due()
    hourly = {"every": timedelta(hours=1)}
    assert [await forgetter(store, **hourly).is_due() for _ in range(3)] == [True, False, False]


async def test_049_several_servers_forget_once_and_by_default_none_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "FORGET_SECONDS", 0.02)
    home = tmp_path / "home"
    store = await SqliteStore.open(home)
    long_ago = NOW - timedelta(days=4000)
    await store.memories.put([write(f"note {n}", recorded_at=long_ago, updated_at=long_ago) for n in range(3)])
    await store.close()

    async def runs(app: Application) -> list[Any]:
        return (await call(app, "list_jobs", tool="forget_faded")).jobs

    async def call(app: Application, name: str, **arguments: Any) -> Any:
        return await app.dispatcher.call(name, arguments, CallContext(surface="python"))

    async with running(Settings(home=home)) as quiet:
        await quiet.open()
        assert not (await call(quiet, "memory_health")).enabled
    eager = Settings.model_validate({"home": home, "forgetting": {"enabled": True}})
    async with running(eager) as first, running(eager) as second:
        await first.open()
        await second.open()
        with anyio.fail_after(30):
            while (health := await call(first, "memory_health")).total_forgotten < 3:
                pass
        assert (health.memories, health.last_batch_count, health.interval_ms) == (0, 3, 3_600_000)
        await anyio.sleep(10 * upkeep.FORGET_SECONDS)  # both look several times, and there is still the one run
        assert [job.result["forgotten"] for job in await runs(second)] == [3]
