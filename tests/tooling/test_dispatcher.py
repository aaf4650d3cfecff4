"""Calls of tools: validation, injection, counting, logging and typed errors."""

import logging
from collections.abc import Mapping
from contextlib import nullcontext

import anyio
import anyio.lowlevel
import pytest
from pydantic import BaseModel

from scrubjay.core.callers import Caller
from scrubjay.core.errors import Forbidden, Internal, InvalidRequest, NotFound, UnknownTool
from scrubjay.core.progress import Reporter
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.services import Services
from scrubjay.tooling.usage.counter import UsageCounter


class Greeting(Request):
    name: str = "world"


class GreetResult(Result):
    text: str
    surface: str


class Greeter:
    def __init__(self, word: str) -> None:
        self.word = word


@tool("talk", read_only=True)
async def greet(request: Greeting, greeter: Greeter, context: CallContext) -> GreetResult:
    """Greet a person."""
    return GreetResult(text=f"{greeter.word} {request.name}", surface=context.surface)


@tool("talk")
async def fail(request: Greeting) -> GreetResult:
    """Fail with an expected error."""
    raise NotFound(f"no {request.name}", hint="look elsewhere")


@tool("talk")
async def crash(request: Greeting) -> GreetResult:
    """Fail with a bug."""
    raise ZeroDivisionError(request.name)


@tool("talk")
async def count(request: Greeting, reporter: Reporter) -> GreetResult:
    """Report progress."""
    await reporter.report(1, 2, "half")
    return GreetResult(text="", surface="")


@tool("talk")
async def wait(request: Greeting) -> GreetResult:
    """Wait forever."""
    await anyio.sleep_forever()
    return GreetResult(text="", surface="")


class MemoryUsage:
    def __init__(self) -> None:
        self.stored: dict[str, int] = {}
        self.broken = False

    async def add(self, calls: Mapping[str, int]) -> None:
        if self.broken:
            raise OSError("disk")
        for name, number in calls.items():
            self.stored[name] = self.stored.get(name, 0) + number

    async def counts(self) -> dict[str, int]:
        return self.stored


CONTEXT = CallContext(surface="python", request_id="req_test")


def dispatcher(usage: UsageCounter | None = None) -> Dispatcher:
    services = Services()
    services.provide_ready(Greeter, Greeter("hello"))
    result = Dispatcher(Registry([greet, fail, crash, count, wait]), services)
    if usage is not None:
        usage.subscribe(result.events)
    return result


async def test_a_call_gets_its_defaults_and_its_services() -> None:
    answer = await dispatcher().call("greet", {}, CONTEXT)
    assert answer == GreetResult(text="hello world", surface="python")


@pytest.mark.parametrize(
    ("scopes", "may_read", "may_change"),
    [
        ("*", True, True),
        ("*:read", True, False),
        ("talk", True, True),
        ("talk:read", True, False),
        ("memory", False, False),
        ("", False, False),
    ],
)
async def test_13_15_a_key_can_call_the_tools_of_its_scopes(scopes: str, may_read: bool, may_change: bool) -> None:
    context = CallContext(surface="rest", caller=Caller("agent", frozenset(scopes.split())))
    for name, may, otherwise in (("greet", may_read, None), ("fail", may_change, NotFound)):
        expected = otherwise if may else Forbidden
        with pytest.raises(expected) if expected else nullcontext():
            await dispatcher().call(name, {}, context)


async def test_a_missing_service_is_detected_before_the_first_call() -> None:
    with pytest.raises(LookupError, match="greet needs a Greeter for 'greeter'"):
        Dispatcher(Registry([greet]), Services())


async def test_an_expected_error_reaches_the_caller_unchanged() -> None:
    with pytest.raises(NotFound, match="no bread") as caught:
        await dispatcher().call("fail", {"name": "bread"}, CONTEXT)
    assert caught.value.hint == "look elsewhere"


async def test_a_bug_becomes_a_typed_error_that_hides_the_data_and_names_the_log_entry(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(Internal) as caught:
        await dispatcher().call("crash", {"name": "my-password"}, CONTEXT)
    text = f"{caught.value.message} {caught.value.hint} {caught.value.details}"
    assert "req_test" in text
    assert "my-password" not in text
    (logged,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert vars(logged)["request_id"] == "req_test"
    assert vars(logged)["error"] == "ZeroDivisionError"
    assert "in crash" in vars(logged)["stack"]
    assert "my-password" not in str(vars(logged))


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [("gret", {}, UnknownTool), ("greet", {"nmae": 1}, InvalidRequest), ("\ud800", {}, UnknownTool)],
)
async def test_invalid_arguments_are_refused(name: str, arguments: dict[str, object], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        await dispatcher().call(name, arguments, CONTEXT)


async def test_every_call_is_logged_with_its_outcome_and_without_its_arguments(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "scrubjay.calls")
    await dispatcher().call("greet", {"name": "secret"}, CONTEXT)
    with pytest.raises(NotFound):
        await dispatcher().call("fail", {}, CONTEXT)
    logged = [(vars(record)["tool"], vars(record)["outcome"]) for record in caplog.records]
    assert logged == [("greet", "ok"), ("fail", "not_found")]
    assert all(vars(record)["ms"] >= 0 for record in caplog.records)
    assert "secret" not in caplog.text


async def test_a_call_abandoned_by_its_caller_is_not_logged_as_successful(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "scrubjay.calls")
    with anyio.CancelScope() as scope:
        scope.cancel()
        await dispatcher().call("wait", {}, CONTEXT)
    assert [vars(record)["outcome"] for record in caplog.records] == ["given up"]


async def test_calls_are_counted_and_a_failed_write_of_counts_is_retried() -> None:
    usage, store = UsageCounter(), MemoryUsage()
    calls = dispatcher(usage)
    for _ in range(3):
        await calls.call("greet", {}, CONTEXT)
    store.broken = True
    with pytest.raises(OSError, match="disk"):
        await usage.flush(store)
    store.broken = False
    await usage.flush(store)
    await usage.flush(store)
    assert store.stored == {"greet": 3}


async def test_progress_reaches_the_caller() -> None:
    class RecordingReporter:
        def __init__(self) -> None:
            self.steps: list[tuple[float, float | None, str]] = []

        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            self.steps.append((done, total, message))

    reporter = RecordingReporter()
    await dispatcher().call("count", {}, CallContext(surface="python", reporter=reporter))
    assert reporter.steps == [(1, 2, "half")]


async def test_concurrent_requests_build_a_service_once() -> None:
    builds: list[int] = []
    services = Services()

    async def build() -> Greeter:
        await anyio.lowlevel.checkpoint()
        builds.append(1)
        return Greeter("once")

    services.provide(Greeter, build)
    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(services.get, Greeter)
    assert builds == [1]


async def test_a_service_that_failed_to_start_is_tried_again() -> None:
    attempts: list[int] = []
    services = Services()

    async def build() -> Greeter:
        attempts.append(1)
        if len(attempts) == 1:
            raise NotFound("not yet")
        return Greeter("now")

    services.provide(Greeter, build)
    with pytest.raises(NotFound):
        await services.get(Greeter)
    assert (await services.get(Greeter)).word == "now"


def test_all_results_are_models() -> None:
    assert issubclass(greet.answer, BaseModel)
