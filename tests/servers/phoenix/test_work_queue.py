"""The work queue: fixed workers, priorities within a sender, and a share for every sender."""

import pytest

from scrubjay.core.errors import Busy
from scrubjay.servers.phoenix.work_queue import Ticket, WorkQueue

LOW, HIGH = 1, 10


def admitted(tickets: list[Ticket]) -> list[bool]:
    return [ticket.is_admitted for ticket in tickets]


def test_work_runs_up_to_the_number_of_workers_then_by_priority_then_by_arrival() -> None:
    queue = WorkQueue(workers=2, waiting=10)
    first = [queue.enqueue(LOW, None) for _ in range(2)]
    waiting = [queue.enqueue(priority, None) for priority in (LOW, HIGH, LOW)]
    assert (admitted(first), admitted(waiting)) == ([True, True], [False, False, False])
    first[0].release()
    assert admitted(waiting) == [False, True, False]
    first[1].release()
    assert admitted(waiting) == [True, True, False]
    assert (queue.working, queue.waiting) == (2, 1)


def test_a_ticket_that_is_released_while_it_waits_leaves_the_queue() -> None:
    queue = WorkQueue(workers=1, waiting=10)
    running, gone, next_one = (queue.enqueue(LOW, None) for _ in range(3))
    gone.release()
    gone.release()
    running.release()
    running.release()
    assert (gone.is_admitted, next_one.is_admitted, queue.working, queue.waiting) == (False, True, 1, 0)


def test_022_a_key_cannot_use_all_workers() -> None:
    queue = WorkQueue(workers=8, waiting=100)
    greedy = [queue.enqueue(HIGH, "greedy") for _ in range(20)]
    assert sum(admitted(greedy)) == 6
    modest = queue.enqueue(LOW, "modest")
    assert modest.is_admitted
    for ticket in [modest, *greedy]:
        ticket.release()
    assert (queue.working, queue.waiting) == (0, 0)


def test_022_the_owner_without_keys_may_use_all_workers_and_a_key_the_only_one() -> None:
    queue = WorkQueue(workers=8, waiting=100)
    assert sum(admitted([queue.enqueue(LOW, None) for _ in range(20)])) == 8
    assert WorkQueue(workers=1, waiting=1).enqueue(LOW, "a").is_admitted


def test_022_a_high_priority_does_not_pass_the_work_of_another_key() -> None:
    queue = WorkQueue(workers=2, waiting=100)
    greedy = [queue.enqueue(HIGH, "greedy") for _ in range(20)]
    other = queue.enqueue(HIGH, "other")  # waits behind the greedy one on both workers
    modest = queue.enqueue(LOW, "modest")
    greedy[0].release()
    assert (other.is_admitted, modest.is_admitted) == (True, False)
    greedy[1].release()
    assert modest.is_admitted
    modest.release()
    assert sum(admitted(greedy)) == 3


def _may_wait(queue: WorkQueue, sender: str) -> bool:
    try:
        queue.enqueue(LOW, sender)
    except Busy:
        return False
    return True


@pytest.mark.parametrize(("waiting", "shares"), [(256, [128, 64, 32, 16]), (3, [2, 1]), (1, [1])])
def test_022_a_key_may_wait_with_at_most_as_many_as_are_left(waiting: int, shares: list[int]) -> None:
    queue = WorkQueue(workers=1, waiting=waiting)
    queue.enqueue(LOW, None)
    taken: list[int] = []
    for number in range(len(shares)):
        taken.append(0)
        while _may_wait(queue, f"key {number}"):
            taken[-1] += 1
    assert taken == shares


def test_nothing_waits_when_nothing_may_wait() -> None:
    queue = WorkQueue(workers=1, waiting=0)
    running = queue.enqueue(LOW, None)
    assert [_may_wait(queue, sender) for sender in ("key a", "key b")] == [False, False]
    running.release()
    assert queue.enqueue(LOW, "key").is_admitted
