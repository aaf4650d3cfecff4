"""Recording of tool calls, without delay and without secrets (feature 42)."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, cast

import anyio
import anyio.to_thread
import pytest
from pydantic import Field

from scrubjay.core.errors import InvalidRequest, NotFound, UnknownTool
from scrubjay.core.ids import new_id
from scrubjay.features.sessions import call_history as history
from scrubjay.features.sessions.call_history import FLUSH_CALLS, CallRecorder
from scrubjay.features.sessions.models import ClientCall, ToolCall
from scrubjay.features.sessions.store import SessionStore
from scrubjay.tooling import call_excerpts
from scrubjay.tooling.call_excerpts import ARGUMENT_CHARACTERS, RESULT_CHARACTERS
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.services import Services

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


class SayRequest(Request):
    text: str = "hello"


class SayResult(Result):
    text: str


@tool("talk", read_only=True)
async def say(request: SayRequest) -> SayResult:
    """Say something."""
    return SayResult(text=request.text)


@tool("talk")
async def fail(request: SayRequest) -> SayResult:
    """Fail with a domain error."""
    raise NotFound(f"no {request.text}")


@tool("talk")
async def crash(request: SayRequest) -> SayResult:
    """Fail with a bug."""
    raise ZeroDivisionError


@tool("talk")
async def wait(request: SayRequest) -> SayResult:
    """Wait forever."""
    await anyio.sleep_forever()
    return SayResult(text="")


class FakeStore:
    """The part of `SessionStore` that the recorder uses."""

    def __init__(self) -> None:
        self.calls: list[ClientCall] = []
        self.projects: list[str | None] = []
        self.failure: Exception | None = None

    async def add_calls(self, calls: Sequence[ClientCall], default_project_id: str | None) -> None:
        if self.failure:
            raise self.failure
        self.calls.extend(calls)
        self.projects.append(default_project_id)

    @property
    def contents(self) -> list[tuple[str, Mapping[str, Any], str, bool]]:
        return [(entry.call.tool, entry.call.arguments, entry.call.result, entry.call.success) for entry in self.calls]


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def calls() -> CallRecorder:
    return CallRecorder(lambda: NOW)


@pytest.fixture
def dispatcher(calls: CallRecorder) -> Dispatcher:
    dispatcher = Dispatcher(Registry([say, fail, crash, wait]), Services())
    calls.subscribe(dispatcher.events)
    return dispatcher


ADA = CallContext(surface="python", client="ada")


async def flush(calls: CallRecorder, store: FakeStore) -> None:
    await calls.flush(cast(SessionStore, store), "prj_default")


async def test_042_every_call_of_a_client_is_recorded_with_its_outcome(
    dispatcher: Dispatcher, calls: CallRecorder, store: FakeStore
) -> None:
    await dispatcher.call("say", {"text": "ö 🚂"}, ADA)
    with pytest.raises(NotFound):
        await dispatcher.call("fail", {"text": "bread"}, ADA)
    with pytest.raises(Exception, match="unexpectedly"):
        await dispatcher.call("crash", {}, ADA)
    with pytest.raises(InvalidRequest):
        await dispatcher.call("say", {"txt": 1}, ADA)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await dispatcher.call("wait", {}, ADA)
    await flush(calls, store)
    assert store.contents == [
        ("say", {"text": "ö 🚂"}, '{"text":"ö 🚂"}', True),
        ("fail", {"text": "bread"}, "not_found: no bread", False),
        ("crash", {}, "internal", False),
        ("say", {"txt": 1}, "invalid_request: say: txt: unknown field", False),
        ("wait", {}, "given up", False),
    ]
    assert {entry.client for entry in store.calls} == {"ada"}
    assert store.projects == ["prj_default"]


async def test_042_calls_of_unidentified_clients_and_of_unknown_tools_are_not_recorded(
    dispatcher: Dispatcher, calls: CallRecorder, store: FakeStore
) -> None:
    await dispatcher.call("say", {}, CallContext(surface="rest"))
    with pytest.raises(UnknownTool):
        await dispatcher.call("sya", {}, ADA)
    await flush(calls, store)
    assert store.calls == []
    assert store.projects == []


async def test_042_a_call_is_recorded_with_its_start_time(calls: CallRecorder, store: FakeStore) -> None:
    calls.record("ada", "say", {}, SayResult(text="x"), 1500.25)
    await flush(calls, store)
    assert store.calls == [
        ClientCall(
            "ada",
            ToolCall(
                tool="say",
                arguments={},
                result='{"text":"x"}',
                success=True,
                milliseconds=1500.25,
                called_at=NOW - timedelta(milliseconds=1500.25),
            ),
        )
    ]
    assert store.calls[0].call.ended_at == NOW


async def test_042_secrets_in_arguments_results_and_errors_are_masked(calls: CallRecorder, store: FakeStore) -> None:
    arguments = {"text": f"my token is {TOKEN}", "nested": {"api_key": "whatever", "list": [TOKEN]}}
    cut_off = "x" * (RESULT_CHARACTERS - 30) + f" {TOKEN}"
    calls.record("ada", "say", arguments, SayResult(text=cut_off), 1)
    calls.record("ada", "say", {}, f"unavailable: {TOKEN} was refused", 1)
    await flush(calls, store)
    assert "ghp_" not in str(store.calls)
    assert "whatever" not in str(store.calls)
    assert "my token is [secret:" in str(store.calls[0].call.arguments)


async def test_042_passwords_in_commands_are_masked(calls: CallRecorder, store: FakeStore) -> None:
    command = "mysql -u root -pblue42horse"
    calls.record("ada", "terminal", {"command": command}, SayResult(text=""), 1)
    calls.record("ada", "terminal", {"command": f"{command} {'x' * ARGUMENT_CHARACTERS}"}, SayResult(text=""), 1)
    await flush(calls, store)
    first, second = (str(entry.call.arguments["command"]) for entry in store.calls)
    assert first == "mysql -u root -p[secret: password]"
    assert second.startswith('"mysql -u root -p[secret: password] xxx')


async def test_042_long_results_and_arguments_are_shortened(calls: CallRecorder, store: FakeStore) -> None:
    long = "word " * ARGUMENT_CHARACTERS
    calls.record("ada", "say", {"text": long, "entries": [long, long], "limit": 3}, SayResult(text=long), 1)
    calls.record("ada", "say", {f"{number}" * 50: 1 for number in range(1000)}, SayResult(text=""), 1)
    await flush(calls, store)
    (first, second) = (entry.call for entry in store.calls)
    assert first.result == ('{"text":"' + long)[:500]
    assert first.arguments == {
        "text": f'"{long[:499]}… (50002 characters)',
        "entries": f'["{long[:498]}… (100007 characters)',
        "limit": 3,
    }
    assert second.arguments == {}


class Anything(Result):
    data: Any
    inner: list[SayResult] = Field(default=[], serialization_alias="innerOnes")


def random_value(random: Random, depth: int = 0) -> Any:
    """Return random JSON data without anything that looks like a secret."""
    match random.randrange(7 if depth < 4 else 5):
        case 0:
            return None
        case 1:
            return random.random() < 0.5
        case 2:
            return random.choice([0, -7, 123_456, 0.25])
        case 3 | 4:
            return "ä b\n" * random.randrange(40)
        case 5:
            return [random_value(random, depth + 1) for _ in range(random.randrange(8))]
        case _:
            return {"n" * number: random_value(random, depth + 1) for number in range(random.randrange(8))}


@pytest.mark.parametrize("is_write", [True, False])
async def test_042_the_excerpt_of_any_result_is_a_prefix_of_its_json(
    calls: CallRecorder, store: FakeStore, is_write: bool
) -> None:
    random = Random(42)
    values = [random_value(random) for _ in range(2000)]
    for value in values:
        calls.record("ada", "say", {}, Anything(data=value, inner=[SayResult(text="x")]), 1, is_write=is_write)
    await flush(calls, store)
    inner = {"innerOnes": [{"text": "x"}]}
    texts = [json.dumps({"data": value} | inner, ensure_ascii=False, separators=(",", ":")) for value in values]
    assert [entry.call.result for entry in store.calls] == [text[:500] for text in texts]
    assert sum(len(text) > 500 for text in texts) > 200


async def test_042_calls_without_log_payload_are_recorded_without_contents(
    calls: CallRecorder, store: FakeStore
) -> None:
    calls.record("ada", "say", {"text": "in mind"}, SayResult(text=f"in mind {new_id('mem')}"), 1, log_payload=False)
    calls.record("ada", "say", {"text": "in mind"}, "too_large: no", 1, is_write=False, log_payload=False)
    await flush(calls, store)
    assert store.contents == [("say", {}, "", True), ("say", {}, "too_large: no", False)]
    assert store.calls[0].memory_ids == frozenset()


async def test_042_a_result_that_quotes_memories_is_not_recorded_but_their_ids_are(
    calls: CallRecorder, store: FakeStore
) -> None:
    memory_id = new_id("mem")
    answer = SayResult(text=f"{'a long text ' * 100} [{memory_id}]")
    calls.record("ada", "say", {"text": "tell me"}, answer, 1, is_write=False, log_result=False)
    calls.record("ada", "say", {"text": "tell me"}, "not_found: nothing", 1, is_write=False, log_result=False)
    await flush(calls, store)
    assert store.contents == [
        ("say", {"text": "tell me"}, "", True),
        ("say", {"text": "tell me"}, "not_found: nothing", False),
    ]
    assert [entry.memory_ids for entry in store.calls] == [{memory_id}, frozenset()]


@pytest.mark.parametrize("value", ["\x00", "\ud800", float("nan"), float("inf")])
async def test_042_arguments_that_cannot_be_stored_are_left_out(
    calls: CallRecorder, store: FakeStore, value: object
) -> None:
    calls.record("ada", "say", {"text": value}, "invalid_request: no", 1)
    await flush(calls, store)
    assert store.contents == [("say", {}, "invalid_request: no", False)]


async def test_042_a_result_with_invalid_unicode_is_repaired(calls: CallRecorder, store: FakeStore) -> None:
    calls.record("ada", "say", {"when": NOW}, SayResult(text="a\ud800b\x00c"), 1)
    calls.record("ada", "say", {}, "not_found: \udcff", 1)
    await flush(calls, store)
    assert [entry.call.result for entry in store.calls] == ['{"text":"a\\ud800b\\u0000c"}', "not_found: \\udcff"]
    assert store.calls[0].call.arguments == {"when": "2026-01-01T00:00:00Z"}


async def test_042_memory_ids_are_taken_from_the_whole_result_but_not_from_errors(
    calls: CallRecorder, store: FakeStore
) -> None:
    one, two, three = (new_id("mem") for _ in range(3))
    calls.record("ada", "say", {"text": three}, SayResult(text=f"{one} {'x' * 1000} {two}"), 1)
    calls.record("ada", "say", {}, f"not_found: there is no memory {one!r}", 1)
    await flush(calls, store)
    assert [entry.memory_ids for entry in store.calls] == [frozenset({one, two}), frozenset()]
    entries = [{"text": "x" * 300, "id": one}, {"text": "y" * 300, "id": two}, {"text": "z", "id": three}]
    calls.record("ada", "ask", {"text": three}, Anything(data=entries), 1, is_write=False)
    await flush(calls, store)
    assert store.calls[-1].memory_ids == frozenset({one, two})  # the third id is beyond the excerpt


async def test_042_a_failed_write_is_retried_and_stored_once(calls: CallRecorder, store: FakeStore) -> None:
    calls.record("ada", "say", {}, SayResult(text="1"), 1)
    store.failure = OSError("disk")
    with pytest.raises(OSError, match="disk"):
        await flush(calls, store)
    calls.record("ada", "say", {}, SayResult(text="2"), 1)
    store.failure = None
    await flush(calls, store)
    await flush(calls, store)
    assert [entry.call.result for entry in store.calls] == ['{"text":"1"}', '{"text":"2"}']


async def test_042_concurrent_flushes_store_each_call_once(calls: CallRecorder, store: FakeStore) -> None:
    for number in range(100):
        calls.record("ada", "say", {}, SayResult(text=str(number)), 1)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(flush, calls, store)
    assert len(store.calls) == 100


async def test_042_a_flush_is_due_after_a_delay_or_immediately_after_many_calls(
    calls: CallRecorder, store: FakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "FLUSH_SECONDS", 0.01)
    with anyio.move_on_after(0.05) as scope:
        await calls.wait_until_due()
    assert scope.cancelled_caught
    calls.record("ada", "say", {}, SayResult(text=""), 1)
    with anyio.fail_after(5):
        await calls.wait_until_due()
    await flush(calls, store)
    monkeypatch.setattr(history, "FLUSH_SECONDS", 3600)
    for _ in range(FLUSH_CALLS):
        calls.record("ada", "say", {}, SayResult(text=""), 1)
    with anyio.fail_after(5):
        await calls.wait_until_due()


async def test_042_a_call_recorded_during_a_flush_is_due_too(
    calls: CallRecorder, store: FakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "FLUSH_SECONDS", 0.01)
    run_sync = anyio.to_thread.run_sync

    async def run_and_record(work: Callable[..., Any], *arguments: Any) -> Any:
        result = await run_sync(work, *arguments)
        if not store.calls:
            calls.record("ada", "say", {}, SayResult(text="meanwhile"), 1)
        return result

    monkeypatch.setattr(anyio.to_thread, "run_sync", run_and_record)
    calls.record("ada", "say", {}, SayResult(text="first"), 1)
    with anyio.fail_after(5):
        for _ in range(2):
            await calls.wait_until_due()
            await flush(calls, store)
    assert [entry.call.result for entry in store.calls] == ['{"text":"first"}', '{"text":"meanwhile"}']


async def test_042_calls_beyond_the_buffer_are_dropped_with_a_warning(
    calls: CallRecorder, store: FakeStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(history, "MAX_PENDING", 3)
    for number in range(5):
        calls.record("ada", "say", {}, SayResult(text=str(number)), 1)
    await flush(calls, store)
    assert [entry.call.result for entry in store.calls] == [f'{{"text":"{number}"}}' for number in range(3)]
    (warning,) = caplog.records
    assert (warning.message, vars(warning)["calls"]) == ("calls were dropped from the history", 2)


async def test_042_a_call_whose_excerpt_fails_is_recorded_without_contents(
    calls: CallRecorder, store: FakeStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail_to_redact(value: object) -> object:
        raise ZeroDivisionError(value)

    monkeypatch.setattr(call_excerpts, "redacted", fail_to_redact)
    calls.record("ada", "say", {"text": "my-password"}, SayResult(text="x"), 1)
    await flush(calls, store)
    assert store.contents == [("say", {}, "", True)]
    (error,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "my-password" not in str(vars(error))
