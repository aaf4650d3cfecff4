"""What every backend keeps about forgetting."""

from datetime import timedelta

from scrubjay.app.store import Store
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.forgetting.models import Ageing
from scrubjay.features.forgetting.store import ForgettingRecord
from scrubjay.features.memory.models import Kind
from tests.contracts.samples import NOBODY_IN_PARTICULAR, NOW, ManualClock, write

HOUR = timedelta(hours=1)


async def test_049_one_process_of_all_does_it_once_in_an_hour(store: Store, other: Store, clock: ManualClock) -> None:
    assert [await one.forgetting.claim(HOUR, clock.now) for one in (store, other, store)] == [True, False, False]
    clock.advance(3599)
    assert not await other.forgetting.claim(HOUR, clock.now)
    clock.advance(1)
    assert [await one.forgetting.claim(HOUR, clock.now) for one in (other, store)] == [True, False]


async def test_049_a_clock_that_was_wrong_does_not_stop_it_for_ever(store: Store, clock: ManualClock) -> None:
    assert await store.forgetting.claim(HOUR, clock.now + timedelta(days=365))
    assert await store.forgetting.claim(HOUR, clock.now)


async def test_049_what_was_forgotten_is_counted_over_all_processes(store: Store, other: Store) -> None:
    assert await store.forgetting.record() == ForgettingRecord(None, 0, 0)
    await store.forgetting.note(3, NOW)
    await other.forgetting.note(4, NOW + HOUR)
    assert await store.forgetting.record() == ForgettingRecord(NOW + HOUR, 4, 7)


async def test_048_what_tells_whether_a_memory_fades_is_told_to_those_who_may_see_it(store: Store) -> None:
    private = write("tea", scope=Scope.SESSION, session_id="s", importance=0.7, protected=True, kind=Kind.TURN)
    await store.memories.put([private])
    await store.memories.note_uses({private.memory.id: 3}, NOW + HOUR)
    assert await store.forgetting.ageing_of(NOBODY_IN_PARTICULAR, private.memory.id) is None
    assert await store.forgetting.ageing_of(Visibility(None, "s"), private.memory.id) == Ageing(
        id=private.memory.id,
        kind=Kind.TURN,
        importance=0.7,
        recorded_at=NOW,
        uses=3,
        used_at=NOW + HOUR,
        protected=True,
        superseded=False,
    )
