"""Store contract: uses of memories."""

from datetime import timedelta

from scrubjay.app.store import Store
from scrubjay.features.memory.candidates import CandidatePool
from scrubjay.search_index.neighbourhood import REACH
from tests.contracts.samples import NOW, candidate_pool, query, write


def times_of(pool: CandidatePool) -> dict[int, tuple[int, int]]:
    """Return, by candidate, its number of uses and the seconds from storage to last use."""
    seconds = (pool.last_used - pool.recorded_at) // 1_000_000
    marks = pool.text_traits[pool.neighbours[:, REACH]].tolist()
    return {mark: (uses, late) for mark, uses, late in zip(marks, pool.uses.tolist(), seconds.tolist(), strict=True)}


async def store_three_memories(store: Store) -> list[str]:
    outcomes = await store.memories.put([write("tea", traits=number) for number in range(3)])
    return [outcome.memory.id for outcome in outcomes]


async def test_065_an_unused_memory_ages_from_when_it_was_stored(store: Store) -> None:
    await store_three_memories(store)
    assert times_of(await candidate_pool(store, query("tea", with_uses=True))) == {0: (0, 0), 1: (0, 0), 2: (0, 0)}


async def test_065_uses_add_up_and_the_last_one_is_known(store: Store) -> None:
    first, second, _ = await store_three_memories(store)
    await store.memories.add_uses({first: 2, second: 1}, NOW + timedelta(seconds=60))
    await store.memories.add_uses({first: 3}, NOW + timedelta(seconds=30))
    assert times_of(await candidate_pool(store, query("tea", with_uses=True))) == {0: (5, 60), 1: (1, 60), 2: (0, 0)}


async def test_065_uses_are_omitted_unless_requested(store: Store) -> None:
    first, *_ = await store_three_memories(store)
    await store.memories.add_uses({first: 2}, NOW + timedelta(seconds=60))
    assert times_of(await candidate_pool(store, query("tea"))) == {0: (0, 0), 1: (0, 0), 2: (0, 0)}


async def test_065_a_use_of_a_deleted_memory_is_ignored(store: Store) -> None:
    first, *_ = await store_three_memories(store)
    await store.memories.add_uses({"mem_gone": 1, first: 1}, NOW + timedelta(seconds=1))
    assert times_of(await candidate_pool(store, query("tea", with_uses=True)))[0] == (1, 1)
    assert (await store.check()).problems == []
