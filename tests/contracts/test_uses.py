"""What a store keeps of how often its memories were answers."""

from datetime import timedelta

from scrubjay.app.store import Store
from scrubjay.features.memory.models import CandidatePool
from scrubjay.search_index.neighbourhood import REACH
from tests.contracts.samples import NOW, offered, query, write


def times_of(pool: CandidatePool) -> dict[int, tuple[int, int]]:
    """For each candidate how often it was used, and how many seconds after it was kept."""
    seconds = (pool.used - pool.recorded) // 1_000_000
    marks = pool.text_traits[pool.around[:, REACH]].tolist()
    return {mark: (uses, late) for mark, uses, late in zip(marks, pool.uses.tolist(), seconds.tolist(), strict=True)}


async def three(store: Store) -> list[str]:
    outcomes = await store.memories.put([write("tea", traits=number) for number in range(3)])
    return [outcome.memory.id for outcome in outcomes]


async def test_065_a_memory_that_was_no_answer_yet_counts_from_when_it_was_kept(store: Store) -> None:
    await three(store)
    assert times_of(await offered(store, query("tea", with_uses=True))) == {0: (0, 0), 1: (0, 0), 2: (0, 0)}


async def test_065_uses_add_up_and_the_last_one_is_known(store: Store) -> None:
    first, second, _ = await three(store)
    await store.memories.note_uses({first: 2, second: 1}, NOW + timedelta(seconds=60))
    await store.memories.note_uses({first: 3}, NOW + timedelta(seconds=30))
    assert times_of(await offered(store, query("tea", with_uses=True))) == {0: (5, 60), 1: (1, 60), 2: (0, 0)}


async def test_065_uses_are_left_out_when_nobody_asks_for_them(store: Store) -> None:
    first, *_ = await three(store)
    await store.memories.note_uses({first: 2}, NOW + timedelta(seconds=60))
    assert times_of(await offered(store, query("tea"))) == {0: (0, 0), 1: (0, 0), 2: (0, 0)}


async def test_065_a_use_of_what_is_gone_is_passed_over(store: Store) -> None:
    first, *_ = await three(store)
    await store.memories.note_uses({"mem_gone": 1, first: 1}, NOW + timedelta(seconds=1))
    assert times_of(await offered(store, query("tea", with_uses=True)))[0] == (1, 1)
    assert (await store.check()).problems == []
