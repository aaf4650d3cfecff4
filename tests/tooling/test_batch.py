"""Batches: order, concurrency, and skipped operations."""

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import pytest

from scrubjay.core.errors import InvalidRequest, NotFound, TooLarge
from scrubjay.tooling.batch import CallBatch, Mode, Operation


def operation(name: str, *needs: str, **arguments: Any) -> Operation:
    return Operation(name, "tool", {"name": name, **arguments}, needs)


class Calls:
    """Records calls, their arguments and their concurrency; calls of the names in `failing` fail."""

    def __init__(self, *failing: str) -> None:
        self._failing = failing
        self.seen: list[Mapping[str, Any]] = []
        self.running = self.most = 0

    @property
    def names(self) -> list[str]:
        return [arguments["name"] for arguments in self.seen]

    async def __call__(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self.seen.append(arguments)
        self.running += 1
        self.most = max(self.most, self.running)
        await anyio.wait_all_tasks_blocked()
        self.running -= 1
        if arguments["name"] in self._failing:
            raise NotFound(f"no {arguments['name']}")
        return {"said": {"by": arguments["name"], "words": ["one", {"a/b": "two"}]}}


async def run(
    calls: Calls, operations: Sequence[Operation], mode: Mode = Mode.PARALLEL, at_once: int = 10
) -> list[str]:
    """Return each outcome: ok, failed, or skipped with the reason."""
    outcomes = await CallBatch(operations, mode, at_once).run(calls)
    assert [outcome.id for outcome in outcomes] == [outcome.id for outcome in operations]
    return [
        "ok" if outcome.succeeded else "failed" if outcome.failure else f"skipped: {', '.join(outcome.skipped_because)}"
        for outcome in outcomes
    ]


async def test_9_independent_operations_run_concurrently_up_to_the_limit():
    calls = Calls()
    operations = [operation(name) for name in "abcdef"]
    assert await run(calls, operations, at_once=3) == ["ok"] * 6
    assert calls.most == 3
    calls = Calls()
    await run(calls, operations, Mode.SEQUENTIAL)
    assert (calls.most, calls.names) == (1, [*"abcdef"])


@pytest.mark.parametrize("mode", Mode)
async def test_9_an_operation_starts_after_all_its_dependencies(mode: Mode):
    calls = Calls()
    operations = [operation("last", "middle", "first"), operation("middle", "first"), operation("first")]
    assert await run(calls, operations, mode) == ["ok"] * 3
    assert calls.names == ["first", "middle", "last"]


@pytest.mark.parametrize("mode", [Mode.PARALLEL, Mode.SEQUENTIAL])
async def test_9_dependents_of_a_failure_are_skipped_and_all_others_run(mode: Mode):
    calls = Calls("bad")
    operations = [operation("bad"), operation("on bad", "bad"), operation("further", "on bad"), operation("other")]
    assert await run(calls, operations, mode) == ["failed", "skipped: bad", "skipped: on bad", "ok"]
    assert sorted(calls.names) == ["bad", "other"]


async def test_9_in_failfast_mode_nothing_starts_after_a_failure():
    calls = Calls("bad")
    operations = [operation("good"), operation("bad"), operation("late"), operation("later")]
    assert await run(calls, operations, Mode.FAILFAST, at_once=1) == ["ok", "failed", "skipped: bad", "skipped: bad"]
    assert calls.names == ["good", "bad"]


async def test_9_a_result_can_be_an_argument_of_another_operation_which_waits_for_it():
    calls = Calls()
    dependent = operation(
        "second",
        by={"$result": "first", "pointer": "/said/by"},
        words=[{"$result": "first", "pointer": "/said/words/1/a~1b"}, {"inner": {"$result": "first"}}],
        plain={"$result": "first", "other": "is no reference"},
    )
    assert await run(calls, [dependent, operation("first")]) == ["ok", "ok"]
    arguments = calls.seen[1]
    assert (arguments["by"], arguments["words"][0], arguments["words"][1]["inner"]["said"]["by"]) == (
        "first",
        "two",
        "first",
    )
    assert arguments["plain"] == {"$result": "first", "other": "is no reference"}


@pytest.mark.parametrize(
    "pointer",
    ["/said/nothing", "/said/words/7", "/said/words/x", "/said/by/0", "said", 3, "/said/words/" + "9" * 5_000],
)
async def test_9_a_missing_part_of_a_result_fails_the_operation_without_a_call(pointer: object):
    calls = Calls()
    dependent = operation("second", what={"$result": "first", "pointer": pointer})
    assert await run(calls, [operation("first"), dependent]) == ["ok", "failed"]
    assert calls.names == ["first"]


async def test_9_inserted_results_are_limited_in_size():
    calls = Calls()
    small, large = (
        operation(name, what=[{"$result": "first"}] * times) for name, times in (("b", 1_000), ("c", 20_000))
    )
    outcomes = await CallBatch([operation("first"), small, large], Mode.PARALLEL, 10).run(calls)
    assert [outcome.succeeded for outcome in outcomes] == [True, True, False]
    assert isinstance(outcomes[2].failure, TooLarge)
    assert calls.names == ["first", "b"]


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ([operation("a"), operation("a")], "same id"),
        ([operation("a", "nobody")], "nobody, which is not in this batch"),
        ([operation("a", what={"$result": "nobody"})], "nobody, which is not in this batch"),
        ([operation("a", "a")], "depend on each other: a"),
        (
            [operation("a", "b"), operation("b", "c"), operation("c", "a"), operation("d")],
            "depend on each other: a, b, c",
        ),
    ],
)
def test_9_an_invalid_batch_is_refused_before_the_first_call(operations: Sequence[Operation], message: str):
    with pytest.raises(InvalidRequest, match=message):
        CallBatch(operations, Mode.PARALLEL, 10)


async def test_9_cancelling_a_batch_stops_its_running_calls():
    stopped: list[str] = []

    async def endless(tool: str, arguments: Mapping[str, Any]) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            stopped.append(arguments["name"])

    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(CallBatch([operation("a"), operation("b")], Mode.PARALLEL, 10).run, endless)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
    assert sorted(stopped) == ["a", "b"]
