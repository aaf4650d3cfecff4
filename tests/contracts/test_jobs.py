"""Store contract: jobs and their leases."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import anyio
import pytest

from scrubjay.app.store import Store
from scrubjay.core.callers import OWNER, Caller
from scrubjay.core.errors import ErrorCode, ErrorRecord
from scrubjay.core.progress import Progress
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.jobs.models import Job, JobState
from tests.contracts.samples import GLOBAL_ONLY, NOW, ManualClock, write
from tests.contracts.test_keys import key

HALF_WAY = Progress(1, 2, "half of it")
DONE = Progress(2, 2, "all of it")


async def test_a_job_with_an_owner_runs_at_once(store: Store) -> None:
    job = await store.jobs.add("index", {"path": "/a", "depth": [1, {"ü": None}]}, owner="me")
    assert job == Job(
        id=job.id,
        kind="index",
        payload={"path": "/a", "depth": [1, {"ü": None}]},
        state=JobState.RUNNING,
        attempts=1,
        owner="me",
        created_at=NOW,
        started_at=NOW,
    )
    assert await store.jobs.get(job.id) == job


async def test_a_job_without_an_owner_waits_in_the_queue(store: Store) -> None:
    job = await store.jobs.add("index", {}, owner=None)
    assert job == Job(id=job.id, kind="index", state=JobState.QUEUED, created_at=NOW)
    assert await store.jobs.get("job_none") is None


async def test_jobs_are_listed_newest_first_by_state_and_kind(store: Store) -> None:
    first = await store.jobs.add("index", {}, owner=None)
    second = await store.jobs.add("index", {}, owner="me")
    third = await store.jobs.add("rebuild", {}, owner=None)
    assert await store.jobs.list(limit=10) == [third, second, first]
    assert await store.jobs.list(limit=2) == [third, second]
    assert await store.jobs.list(states=[JobState.QUEUED], limit=10) == [third, first]
    assert await store.jobs.list(states=[JobState.QUEUED, JobState.RUNNING], kind="index", limit=10) == [second, first]
    assert await store.jobs.list(states=[JobState.FAILED], limit=10) == []


async def test_the_oldest_queued_job_of_a_known_kind_is_claimed_first(store: Store, clock: ManualClock) -> None:
    await store.jobs.add("foreign", {}, owner=None)
    first = await store.jobs.add("index", {}, owner=None)
    second = await store.jobs.add("rebuild", {}, owner=None)
    clock.advance(5)
    claimed = await store.jobs.claim(["rebuild", "index"], "me")
    assert claimed == replace(first, state=JobState.RUNNING, attempts=1, owner="me", started_at=clock.now)
    assert await store.jobs.get(first.id) == claimed
    assert (await store.jobs.claim(["rebuild", "index"], "me")) == replace(
        second, state=JobState.RUNNING, attempts=1, owner="me", started_at=clock.now
    )
    assert await store.jobs.claim(["rebuild", "index"], "me") is None
    assert await store.jobs.claim([], "me") is None


async def test_a_queued_job_is_claimed_by_one_process_only(store: Store, other: Store) -> None:
    job = await store.jobs.add("index", {}, owner=None)
    claimed = [await store.jobs.claim(["index"], "me"), await other.jobs.claim(["index"], "you")]
    assert [result.id if result else None for result in claimed] == [job.id, None]


async def test_a_job_whose_lease_expired_is_taken_over(store: Store, other: Store, clock: ManualClock) -> None:
    job = await store.jobs.add("index", {}, owner="dead")
    await store.jobs.renew("dead", {job.id: HALF_WAY})
    clock.advance(29.999)
    assert await other.jobs.claim(["index"], "heir") is None
    clock.advance(0.001)
    assert await other.jobs.get(job.id) == replace(job, progress=HALF_WAY, owner=None)
    claimed = await other.jobs.claim(["index"], "heir")
    assert claimed == replace(job, progress=HALF_WAY, attempts=2, owner="heir")


async def test_renewing_extends_the_lease_and_stores_progress(store: Store, clock: ManualClock) -> None:
    job = await store.jobs.add("index", {}, owner="me")
    clock.advance(20)
    assert await store.jobs.renew("me", {job.id: HALF_WAY}) == {job.id: JobState.RUNNING}
    clock.advance(20)
    assert await store.jobs.claim(["index"], "heir") is None
    assert await store.jobs.get(job.id) == replace(job, progress=HALF_WAY)
    assert await store.jobs.renew("me", {}) == {}


async def test_an_expired_lease_can_be_renewed_until_the_job_is_claimed(store: Store, clock: ManualClock) -> None:
    job = await store.jobs.add("index", {}, owner="slow")
    clock.advance(100)
    assert await store.jobs.renew("slow", {job.id: HALF_WAY}) == {job.id: JobState.RUNNING}
    assert await store.jobs.claim(["index"], "heir") is None


async def test_an_owner_without_the_lease_can_neither_renew_finish_nor_release(
    store: Store, clock: ManualClock
) -> None:
    job = await store.jobs.add("index", {}, owner="slow")
    clock.advance(30)
    claimed = await store.jobs.claim(["index"], "heir")
    assert await store.jobs.renew("slow", {job.id: DONE}) == {}
    assert not await store.jobs.finish(job.id, "slow", JobState.COMPLETED, progress=DONE, result={})
    await store.jobs.release(job.id, "slow")
    assert await store.jobs.get(job.id) == claimed


async def test_a_completed_job_keeps_its_result(store: Store, clock: ManualClock) -> None:
    job = await store.jobs.add("index", {}, owner="me")
    clock.advance(3)
    assert await store.jobs.finish(job.id, "me", JobState.COMPLETED, progress=DONE, result={"files": 3, "é": [None]})
    ended = replace(
        job,
        state=JobState.COMPLETED,
        progress=DONE,
        result={"files": 3, "é": [None]},
        owner=None,
        ended_at=clock.now,
    )
    assert await store.jobs.get(job.id) == ended
    assert not await store.jobs.finish(job.id, "me", JobState.FAILED, progress=DONE)
    assert await store.jobs.renew("me", {job.id: DONE}) == {}
    await store.jobs.release(job.id, "me")
    assert await store.jobs.get(job.id) == ended


async def test_a_failed_job_keeps_its_error(store: Store) -> None:
    job = await store.jobs.add("index", {}, owner="me")
    error = ErrorRecord(ErrorCode.NOT_FOUND, "no such folder", "name one", {"path": "/ä"})
    assert await store.jobs.finish(job.id, "me", JobState.FAILED, progress=HALF_WAY, error=error)
    assert await store.jobs.get(job.id) == replace(
        job, state=JobState.FAILED, progress=HALF_WAY, error=error, owner=None, ended_at=NOW
    )


async def test_a_released_job_returns_to_the_queue_and_is_started_again(store: Store) -> None:
    job = await store.jobs.add("index", {}, owner="leaving")
    await store.jobs.release(job.id, "leaving")
    assert await store.jobs.get(job.id) == replace(job, state=JobState.QUEUED, owner=None)
    assert await store.jobs.claim(["index"], "heir") == replace(job, attempts=2, owner="heir")


async def test_a_job_released_while_being_cancelled_is_cancelled(store: Store) -> None:
    job = await store.jobs.add("index", {}, owner="leaving")
    await store.jobs.request_cancel(job.id)
    await store.jobs.release(job.id, "leaving")
    assert await store.jobs.get(job.id) == replace(job, state=JobState.CANCELLED, owner=None, ended_at=NOW)
    assert await store.jobs.claim(["index"], "heir") is None


async def test_a_queued_job_is_cancelled_at_once(store: Store) -> None:
    job = await store.jobs.add("index", {}, owner=None)
    cancelled = replace(job, state=JobState.CANCELLED, ended_at=NOW)
    assert await store.jobs.request_cancel(job.id) == cancelled
    assert await store.jobs.get(job.id) == cancelled
    assert await store.jobs.claim(["index"], "me") is None
    assert await store.jobs.request_cancel("job_none") is None


async def test_the_owner_of_a_running_job_learns_of_its_cancellation(store: Store, other: Store) -> None:
    job = await store.jobs.add("index", {}, owner="me")
    cancelling = replace(job, state=JobState.CANCELLING)
    assert await other.jobs.request_cancel(job.id) == cancelling
    assert await other.jobs.request_cancel(job.id) == cancelling
    assert await store.jobs.renew("me", {job.id: HALF_WAY}) == {job.id: JobState.CANCELLING}
    assert await store.jobs.finish(job.id, "me", JobState.CANCELLED, progress=HALF_WAY)
    ended = replace(job, state=JobState.CANCELLED, progress=HALF_WAY, owner=None, ended_at=NOW)
    assert await other.jobs.get(job.id) == ended
    assert await other.jobs.request_cancel(job.id) == ended


async def test_work_that_finishes_before_it_can_stop_is_completed(store: Store) -> None:
    job = await store.jobs.add("index", {}, owner="me")
    await store.jobs.request_cancel(job.id)
    assert await store.jobs.finish(job.id, "me", JobState.COMPLETED, progress=DONE, result={"n": 1})
    assert await store.jobs.get(job.id) == replace(
        job, state=JobState.COMPLETED, progress=DONE, result={"n": 1}, owner=None, ended_at=NOW
    )


async def test_a_job_being_cancelled_whose_owner_died_is_cancelled_and_not_claimed(
    store: Store, clock: ManualClock
) -> None:
    job = await store.jobs.add("index", {}, owner="dead")
    await store.jobs.request_cancel(job.id)
    clock.advance(29)
    assert await store.jobs.claim(["other"], "heir") is None
    assert await store.jobs.get(job.id) == replace(job, state=JobState.CANCELLING)
    clock.advance(1)
    assert await store.jobs.claim(["other"], "heir") is None
    assert await store.jobs.get(job.id) == replace(job, state=JobState.CANCELLED, owner=None, ended_at=clock.now)


async def test_only_one_of_several_processes_starts_an_exclusive_job(
    store: Store, other: Store, clock: ManualClock
) -> None:
    results: list[Job | None] = []

    async def start(own_store: Store, owner: str) -> None:
        results.append(await own_store.jobs.add_unless_recent("upkeep", {}, owner=owner, minimum_interval=60))

    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(start, store if number % 2 else other, f"owner-{number}")
    (job,) = [job for job in results if job is not None]
    assert job.state is JobState.RUNNING
    assert await store.jobs.list(kind="upkeep", limit=10) == [job]
    assert await store.jobs.add_unless_recent("something else", {}, owner=None, minimum_interval=60) is not None


async def test_an_exclusive_job_is_not_started_again_within_its_interval(store: Store, clock: ManualClock) -> None:
    job = await store.jobs.add_unless_recent("upkeep", {}, owner="me", minimum_interval=60)
    assert job is not None
    clock.advance(100)
    assert (
        await store.jobs.add_unless_recent("upkeep", {}, owner="you", minimum_interval=60) is None
    )  # it has not ended
    await store.jobs.finish(job.id, "me", JobState.FAILED, progress=DONE)
    assert await store.jobs.add_unless_recent("upkeep", {}, owner="you", minimum_interval=101) is None
    assert await store.jobs.add_unless_recent("upkeep", {}, owner="you", minimum_interval=60) is not None


async def test_forgetting_a_memory_erases_the_results_of_jobs_that_named_it(store: Store) -> None:
    first, second = write("hedgehog"), write("tortoise")
    await store.memories.put([first, second])
    payload = {"arguments": {"sessionId": "about hedgehogs"}}
    both = await store.jobs.add("summarize_sessions", payload, owner="me")
    other = await store.jobs.add("summarize_sessions", {}, owner="me")
    result = {"titles": ["hedgehog", "tortoise"]}
    await store.jobs.finish(
        both.id,
        "me",
        JobState.COMPLETED,
        progress=DONE,
        result=result,
        memory_ids={first.memory.id, second.memory.id},
    )
    await store.jobs.finish(
        other.id,
        "me",
        JobState.COMPLETED,
        progress=DONE,
        result={"titles": ["tortoise"]},
        memory_ids=[second.memory.id],
    )
    stored = await store.jobs.get(both.id), await store.jobs.get(other.id)
    assert [job and job.result for job in stored] == [result, {"titles": ["tortoise"]}]
    await store.memories.delete(GLOBAL_ONLY, [first.memory.id])
    assert stored[0] is not None
    erased = replace(
        stored[0], payload={}, result=None, progress=replace(DONE, message="erased: it named a forgotten memory")
    )
    assert await store.jobs.get(both.id) == erased
    assert await store.jobs.get(other.id) == stored[1]


async def test_a_job_that_ends_after_its_memory_was_forgotten_stores_no_result(store: Store) -> None:
    forgotten = write("hedgehog")
    await store.memories.put([forgotten])
    job = await store.jobs.add("summarize_sessions", {"about": "hedgehogs"}, owner="me")
    await store.memories.delete(GLOBAL_ONLY, [forgotten.memory.id])
    outcome: dict[str, Any] = {"progress": DONE, "result": {"title": "hedgehog"}, "memory_ids": [forgotten.memory.id]}
    assert not await store.jobs.finish(job.id, "somebody else", JobState.COMPLETED, **outcome)
    assert await store.jobs.finish(job.id, "me", JobState.COMPLETED, **outcome)
    stored = await store.jobs.get(job.id)
    assert stored == replace(
        job,
        payload={},
        state=JobState.COMPLETED,
        progress=replace(DONE, message="erased: it named a forgotten memory"),
        owner=None,
        ended_at=NOW,
    )


async def test_only_jobs_that_ended_long_ago_are_erased(store: Store, other: Store, clock: ManualClock) -> None:
    completed, failed, running = [await store.jobs.add("index", {}, owner="me") for _ in range(3)]
    cancelled, queued = [await store.jobs.add("index", {}, owner=None) for _ in range(2)]
    await store.jobs.finish(completed.id, "me", JobState.COMPLETED, progress=DONE, result={"files": 1})
    await store.jobs.finish(failed.id, "me", JobState.FAILED, progress=HALF_WAY)
    await store.jobs.request_cancel(cancelled.id)
    clock.advance(60)
    late = await store.jobs.add("index", {}, owner="me")
    await store.jobs.finish(late.id, "me", JobState.COMPLETED, progress=DONE)
    assert await store.jobs.forget_ended(timedelta(seconds=60)) == 0
    clock.advance(0.001)
    assert await store.jobs.forget_ended(timedelta(seconds=60)) == 3
    assert [job.id for job in await other.jobs.list(limit=10)] == [late.id, queued.id, running.id]
    assert await other.jobs.get(completed.id) is None
    assert await store.jobs.forget_ended(timedelta(seconds=60)) == 0


async def test_025_jobs_are_counted_by_their_state(store: Store) -> None:
    assert await store.jobs.counts() == dict.fromkeys(JobState, 0)
    await store.jobs.add("work", {}, owner="a")
    for _ in range(2):
        await store.jobs.add("work", {}, owner=None)
    counted = {JobState.RUNNING: 1, JobState.QUEUED: 2}
    assert await store.jobs.counts() == {**dict.fromkeys(JobState, 0), **counted}


def of_key(key_id: str | None) -> dict[str, Any]:
    """Return the payload of a job that the holder of this key started; None means the owner."""
    caller = OWNER if key_id is None else Caller("ada", frozenset({"code"}), key_id)
    return {"arguments": {}, "context": CallContext(surface="rest", caller=caller).kept()}


async def end_key(store: Store, clock: ManualClock, number: int, how: str) -> None:
    """End the key of this number; one that expires does so within ten seconds."""
    match how:
        case "revoked":
            await store.keys.revoke("ada", clock.now)
        case "replaced":
            await store.keys.replace("ada", key(number + 1), clock.now)
        case "expired":
            clock.advance(10)
        case _:
            await store.keys.revoke("ada", clock.now)
            assert await store.keys.delete_ended("ada", clock.now)


@pytest.mark.parametrize("how", ["revoked", "replaced", "expired", "deleted"])
async def test_jobs_of_an_ended_key_are_cancelled_and_say_why(
    store: Store, other: Store, clock: ManualClock, how: str
) -> None:
    left = await store.jobs.add("index", of_key("key_1"), owner="dead")
    clock.advance(30)  # the lease of the dead process has ended
    await store.keys.add(key(1, expires_at=NOW + timedelta(seconds=40) if how == "expired" else None))
    await store.keys.add(key(7, "grace"))
    await store.keys.replace("grace", key(8, "grace"), NOW + timedelta(hours=1))
    untouched = [None, "environment", "key_7", "key_8"]
    running = [await store.jobs.add("index", of_key(one), owner="me") for one in ("key_1", *untouched)]
    queued = [await store.jobs.add("index", of_key(one), owner=None) for one in ("key_1", *untouched)]
    await end_key(store, clock, 1, how)
    states = await store.jobs.renew("me", {job.id: HALF_WAY for job in running})
    assert [states[job.id] for job in running] == [JobState.CANCELLING, *[JobState.RUNNING] * 4]
    claimed = [await other.jobs.claim(["index"], "heir") for _ in range(5)]
    assert [job.id if job else None for job in claimed] == [*(job.id for job in queued[1:]), None]
    assert await store.jobs.finish(running[0].id, "me", JobState.CANCELLED, progress=HALF_WAY)
    for job in (running[0], queued[0], left):
        ended = await store.jobs.get(job.id)
        assert ended is not None
        assert (ended.state, ended.ended_at) == (JobState.CANCELLED, clock.now)
        assert ended.error is not None
        assert ended.error.message == "the key that started this job was revoked or has expired"


async def test_a_job_that_was_completed_before_it_noticed_the_end_of_its_key_has_no_error(
    store: Store, clock: ManualClock
) -> None:
    await store.keys.add(key(1))
    job = await store.jobs.add("index", of_key("key_1"), owner="me")
    await store.keys.revoke("ada", clock.now)
    assert await store.jobs.renew("me", {job.id: HALF_WAY}) == {job.id: JobState.CANCELLING}
    assert await store.jobs.finish(job.id, "me", JobState.COMPLETED, progress=DONE, result={})
    done = await store.jobs.get(job.id)
    assert done is not None
    assert (done.state, done.error) == (JobState.COMPLETED, None)


async def test_a_job_of_an_ended_key_is_cancelled_when_its_process_exits(store: Store, clock: ManualClock) -> None:
    await store.keys.add(key(1))
    job = await store.jobs.add("index", of_key("key_1"), owner="me")
    await store.keys.revoke("ada", clock.now)
    await store.jobs.renew("me", {job.id: HALF_WAY})
    await store.jobs.release(job.id, "me")
    released = await store.jobs.get(job.id)
    assert released is not None
    assert released.state is JobState.CANCELLED
    assert released.error is not None


async def test_a_queued_job_of_an_ended_key_is_not_claimed(store: Store, clock: ManualClock) -> None:
    await store.keys.add(key(1))
    job = await store.jobs.add("index", of_key("key_1"), owner=None)
    await store.keys.revoke("ada", clock.now)
    assert await store.jobs.claim(["index"], "me") is None
    cancelled = await store.jobs.get(job.id)
    assert cancelled is not None
    assert cancelled.state is JobState.CANCELLED
