"""A batch: in the right order, as much at once as may be, and nothing is called in vain."""

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import pytest

from scrubjay.core.errors import InvalidRequest, NotFound, TooLarge
from scrubjay.tooling.batch import Batch, Mode, Operation


def operation(name: str, *needs: str, **arguments: Any) -> Operation:
    return Operation(name, "tool", {"name": name, **arguments}, needs)


class Calls:
    """Notes what is called with what and how many run at once; those of the names in `failing` fail."""

    def __init__(self, *failing: str) -> None:
        self._failing = failing
        self.seen: list[Mapping[str, Any]] = []
        self.running = self.most = 0

    @property
    def names(self) -> list[str]:
        return [own["name"] for own in self.seen]

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
    """How each ended: ok, failed, or skipped with the reason."""
    outcomes = await Batch(operations, mode, at_once).run(calls)
    assert [own.id for own in outcomes] == [own.id for own in operations]
    return [
        "ok" if own.succeeded else "failed" if own.failure else f"skipped: {', '.join(own.skipped_because)}"
        for own in outcomes
    ]


async def test_9_what_does_not_depend_on_each_other_runs_at_once_up_to_the_limit():
    calls = Calls()
    operations = [operation(name) for name in "abcdef"]
    assert await run(calls, operations, at_once=3) == ["ok"] * 6
    assert calls.most == 3
    calls = Calls()
    await run(calls, operations, Mode.SEQUENTIAL)
    assert (calls.most, calls.names) == (1, [*"abcdef"])


@pytest.mark.parametrize("mode", Mode)
async def test_9_an_operation_begins_after_all_that_it_depends_on(mode: Mode):
    calls = Calls()
    operations = [operation("last", "middle", "first"), operation("middle", "first"), operation("first")]
    assert await run(calls, operations, mode) == ["ok"] * 3
    assert calls.names == ["first", "middle", "last"]


@pytest.mark.parametrize("mode", [Mode.PARALLEL, Mode.SEQUENTIAL])
async def test_9_what_depends_on_a_failure_is_skipped_and_says_so_and_all_else_runs(mode: Mode):
    calls = Calls("bad")
    operations = [operation("bad"), operation("on bad", "bad"), operation("further", "on bad"), operation("other")]
    assert await run(calls, operations, mode) == ["failed", "skipped: bad", "skipped: on bad", "ok"]
    assert sorted(calls.names) == ["bad", "other"]


async def test_9_after_a_failure_nothing_more_begins_if_that_is_asked_for():
    calls = Calls("bad")
    operations = [operation("good"), operation("bad"), operation("late"), operation("later")]
    assert await run(calls, operations, Mode.FAILFAST, at_once=1) == ["ok", "failed", "skipped: bad", "skipped: bad"]
    assert calls.names == ["good", "bad"]


async def test_9_what_one_answered_can_be_an_argument_of_another_which_then_waits_for_it():
    calls = Calls()
    used = operation(
        "second",
        by={"$result": "first", "pointer": "/said/by"},
        words=[{"$result": "first", "pointer": "/said/words/1/a~1b"}, {"inner": {"$result": "first"}}],
        plain={"$result": "first", "other": "is no reference"},
    )
    assert await run(calls, [used, operation("first")]) == ["ok", "ok"]
    given = calls.seen[1]
    assert (given["by"], given["words"][0], given["words"][1]["inner"]["said"]["by"]) == ("first", "two", "first")
    assert given["plain"] == {"$result": "first", "other": "is no reference"}


@pytest.mark.parametrize(
    "pointer",
    ["/said/nothing", "/said/words/7", "/said/words/x", "/said/by/0", "said", 3, "/said/words/" + "9" * 5_000],
)
async def test_9_a_result_that_is_not_there_fails_the_operation_that_wants_it_and_is_not_called(pointer: object):
    calls = Calls()
    wanting = operation("second", what={"$result": "first", "pointer": pointer})
    assert await run(calls, [operation("first"), wanting]) == ["ok", "failed"]
    assert calls.names == ["first"]


async def test_9_a_short_batch_does_not_become_an_endless_call():
    calls = Calls()
    some, many = (operation(name, what=[{"$result": "first"}] * times) for name, times in (("b", 1_000), ("c", 20_000)))
    outcomes = await Batch([operation("first"), some, many], Mode.PARALLEL, 10).run(calls)
    assert [own.succeeded for own in outcomes] == [True, True, False]
    assert isinstance(outcomes[2].failure, TooLarge)
    assert calls.names == ["first", "b"]


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ([operation("a"), operation("a")], "same id"),
        ([operation("a", "nobody")], "nobody, which is no operation"),
        ([operation("a", what={"$result": "nobody"})], "nobody, which is no operation"),
        ([operation("a", "a")], "wait for each other: a"),
        (
            [operation("a", "b"), operation("b", "c"), operation("c", "a"), operation("d")],
            "wait for each other: a, b, c",
        ),
    ],
)
def test_9_a_batch_that_cannot_be_run_is_refused_before_anything_is_called(
    operations: Sequence[Operation], message: str
):
    with pytest.raises(InvalidRequest, match=message):
        Batch(operations, Mode.PARALLEL, 10)


async def test_9_a_batch_that_is_given_up_stops_what_runs():
    stopped: list[str] = []

    async def endless(tool: str, arguments: Mapping[str, Any]) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            stopped.append(arguments["name"])

    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Batch([operation("a"), operation("b")], Mode.PARALLEL, 10).run, endless)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
    assert sorted(stopped) == ["a", "b"]
