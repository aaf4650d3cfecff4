"""Store contract: evictions."""

from datetime import timedelta

from scrubjay.app.store import Store
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.forgetting.models import AgingMemory
from scrubjay.features.forgetting.store import ForgettingRecord
from scrubjay.features.memory.models import MemoryKind
from tests.contracts.samples import GLOBAL_ONLY, NOW, ManualClock, write

HOUR = timedelta(hours=1)


async def test_049_one_process_of_all_runs_the_eviction_once_per_hour(
    store: Store, other: Store, clock: ManualClock
) -> None:
    assert [await one.forgetting.claim(HOUR, clock.now) for one in (store, other, store)] == [True, False, False]
    clock.advance(3599)
    assert not await other.forgetting.claim(HOUR, clock.now)
    clock.advance(1)
    assert [await one.forgetting.claim(HOUR, clock.now) for one in (other, store)] == [True, False]


async def test_049_a_wrong_clock_does_not_block_evictions_forever(store: Store, clock: ManualClock) -> None:
    assert await store.forgetting.claim(HOUR, clock.now + timedelta(days=365))
    assert await store.forgetting.claim(HOUR, clock.now)


async def test_049_evictions_are_counted_across_all_processes(store: Store, other: Store) -> None:
    assert await store.forgetting.record() == ForgettingRecord(None, 0, 0)
    await store.forgetting.record_run(3, NOW)
    await other.forgetting.record_run(4, NOW + HOUR)
    assert await store.forgetting.record() == ForgettingRecord(NOW + HOUR, 4, 7)


async def test_048_the_health_of_a_memory_is_visible_to_callers_who_see_the_memory(store: Store) -> None:
    private = write("tea", scope=Scope.SESSION, session_id="s", importance=0.7, protected=True, kind=MemoryKind.TURN)
    await store.memories.put([private])
    await store.memories.add_uses({private.memory.id: 3}, NOW + HOUR)
    assert await store.forgetting.get(GLOBAL_ONLY, private.memory.id) is None
    assert await store.forgetting.get(Visibility(None, "s"), private.memory.id) == AgingMemory(
        id=private.memory.id,
        kind=MemoryKind.TURN,
        importance=0.7,
        recorded_at=NOW,
        uses=3,
        used_at=NOW + HOUR,
        protected=True,
        superseded=False,
    )
