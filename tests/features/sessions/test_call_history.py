"""What clients call is noted without making any call wait, and kept without secrets (feature 42)."""

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
from scrubjay.features.sessions.call_history import KEEP_AT_ONCE, CallHistory
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


class Saying(Request):
    text: str = "hello"


class Said(Result):
    text: str


@tool("talk", read_only=True)
async def say(request: Saying) -> Said:
    """Say something."""
    return Said(text=request.text)


@tool("talk")
async def fail(request: Saying) -> Said:
    """Fail as foreseen."""
    raise NotFound(f"no {request.text}")


@tool("talk")
async def crash(request: Saying) -> Said:
    """Fail by a bug."""
    raise ZeroDivisionError


@tool("talk")
async def wait(request: Saying) -> Said:
    """Wait for ever."""
    await anyio.sleep_forever()
    return Said(text="")


class Kept:
    """The one method of a store that the history needs."""

    def __init__(self) -> None:
        self.calls: list[ClientCall] = []
        self.projects: list[str | None] = []
        self.failure: Exception | None = None

    async def keep(self, calls: Sequence[ClientCall], default_project_id: str | None) -> None:
        if self.failure:
            raise self.failure
        self.calls.extend(calls)
        self.projects.append(default_project_id)

    @property
    def told(self) -> list[tuple[str, Mapping[str, Any], str, bool]]:
        return [(made.call.tool, made.call.arguments, made.call.result, made.call.success) for made in self.calls]


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def calls() -> CallHistory:
    return CallHistory(lambda: NOW)


@pytest.fixture
def dispatcher(calls: CallHistory) -> Dispatcher:
    made = Dispatcher(Registry([say, fail, crash, wait]), Services())
    calls.subscribe(made.events)
    return made


ADA = CallContext(surface="python", client="ada")


async def flush(calls: CallHistory, kept: Kept) -> None:
    await calls.flush(cast(SessionStore, kept), "prj_default")


async def test_042_every_call_of_a_client_is_kept_with_what_came_of_it(
    dispatcher: Dispatcher, calls: CallHistory, kept: Kept
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
    await flush(calls, kept)
    assert kept.told == [
        ("say", {"text": "ö 🚂"}, '{"text":"ö 🚂"}', True),
        ("fail", {"text": "bread"}, "not_found: no bread", False),
        ("crash", {}, "internal", False),
        ("say", {"txt": 1}, "invalid_request: say: txt: unknown field", False),
        ("wait", {}, "given up", False),
    ]
    assert {made.client for made in kept.calls} == {"ada"}
    assert kept.projects == ["prj_default"]


async def test_042_a_client_that_cannot_be_told_from_others_and_a_tool_that_is_none_have_no_history(
    dispatcher: Dispatcher, calls: CallHistory, kept: Kept
) -> None:
    await dispatcher.call("say", {}, CallContext(surface="rest"))
    with pytest.raises(UnknownTool):
        await dispatcher.call("sya", {}, ADA)
    await flush(calls, kept)
    assert kept.calls == []
    assert kept.projects == []


async def test_042_a_call_is_kept_at_the_time_it_was_made(calls: CallHistory, kept: Kept) -> None:
    calls.note("ada", "say", {}, Said(text="x"), 1500.25)
    await flush(calls, kept)
    assert kept.calls == [
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
    assert kept.calls[0].call.ended_at == NOW


async def test_042_secrets_are_kept_neither_of_arguments_nor_of_results_nor_of_problems(
    calls: CallHistory, kept: Kept
) -> None:
    arguments = {"text": f"my token is {TOKEN}", "nested": {"api_key": "whatever", "list": [TOKEN]}}
    cut = "x" * (RESULT_CHARACTERS - 30) + f" {TOKEN}"
    calls.note("ada", "say", arguments, Said(text=cut), 1)
    calls.note("ada", "say", {}, f"unavailable: {TOKEN} was refused", 1)
    await flush(calls, kept)
    assert "ghp_" not in str(kept.calls)
    assert "whatever" not in str(kept.calls)
    assert "my token is [secret:" in str(kept.calls[0].call.arguments)


async def test_042_of_a_result_the_beginning_is_kept_and_of_long_arguments_too(calls: CallHistory, kept: Kept) -> None:
    long = "word " * ARGUMENT_CHARACTERS
    calls.note("ada", "say", {"text": long, "entries": [long, long], "limit": 3}, Said(text=long), 1)
    calls.note("ada", "say", {f"{number}" * 50: 1 for number in range(1000)}, Said(text=""), 1)
    await flush(calls, kept)
    (first, second) = (made.call for made in kept.calls)
    assert first.result == ('{"text":"' + long)[:500]
    assert first.arguments == {
        "text": f'"{long[:499]}… (50002 characters)',
        "entries": f'["{long[:498]}… (100007 characters)',
        "limit": 3,
    }
    assert second.arguments == {}


class Anything(Result):
    data: Any
    inner: list[Said] = Field(default=[], serialization_alias="innerOnes")


def some_value(random: Random, depth: int = 0) -> Any:
    """Data as JSON has it, of which nothing looks like a secret."""
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
            return [some_value(random, depth + 1) for _ in range(random.randrange(8))]
        case _:
            return {"n" * number: some_value(random, depth + 1) for number in range(random.randrange(8))}


@pytest.mark.parametrize("brings", [True, False])
async def test_042_the_beginning_of_any_result_is_that_of_the_whole(
    calls: CallHistory, kept: Kept, brings: bool
) -> None:
    random = Random(42)
    values = [some_value(random) for _ in range(2000)]
    for value in values:
        calls.note("ada", "say", {}, Anything(data=value, inner=[Said(text="x")]), 1, brings=brings)
    await flush(calls, kept)
    shown = {"innerOnes": [{"text": "x"}]}
    wholes = [json.dumps({"data": value} | shown, ensure_ascii=False, separators=(",", ":")) for value in values]
    assert [made.call.result for made in kept.calls] == [whole[:500] for whole in wholes]
    assert sum(len(whole) > 500 for whole in wholes) > 200


async def test_042_of_what_is_soon_gone_only_that_it_was_called_is_kept(calls: CallHistory, kept: Kept) -> None:
    calls.note("ada", "say", {"text": "in mind"}, Said(text=f"in mind {new_id('mem')}"), 1, fleeting=True)
    calls.note("ada", "say", {"text": "in mind"}, "too_large: no", 1, brings=False, fleeting=True)
    await flush(calls, kept)
    assert kept.told == [("say", {}, "", True), ("say", {}, "too_large: no", False)]
    assert kept.calls[0].memory_ids == frozenset()


async def test_042_an_answer_that_quotes_memories_is_not_kept_but_of_which_it_told_is(
    calls: CallHistory, kept: Kept
) -> None:
    named = new_id("mem")
    answer = Said(text=f"{'a long text ' * 100} [{named}]")
    calls.note("ada", "say", {"text": "tell me"}, answer, 1, brings=False, quotes=True)
    calls.note("ada", "say", {"text": "tell me"}, "not_found: nothing", 1, brings=False, quotes=True)
    await flush(calls, kept)
    assert kept.told == [
        ("say", {"text": "tell me"}, "", True),
        ("say", {"text": "tell me"}, "not_found: nothing", False),
    ]
    assert [made.memory_ids for made in kept.calls] == [{named}, frozenset()]


@pytest.mark.parametrize("strange", ["\x00", "\ud800", float("nan"), float("inf")])
async def test_042_arguments_that_no_store_can_keep_are_left_out(
    calls: CallHistory, kept: Kept, strange: object
) -> None:
    calls.note("ada", "say", {"text": strange}, "invalid_request: no", 1)
    await flush(calls, kept)
    assert kept.told == [("say", {}, "invalid_request: no", False)]


async def test_042_a_result_that_is_not_unicode_is_kept_as_what_can_be_kept(calls: CallHistory, kept: Kept) -> None:
    calls.note("ada", "say", {"when": NOW}, Said(text="a\ud800b\x00c"), 1)
    calls.note("ada", "say", {}, "not_found: \udcff", 1)
    await flush(calls, kept)
    assert [made.call.result for made in kept.calls] == ['{"text":"a\\ud800b\\u0000c"}', "not_found: \\udcff"]
    assert kept.calls[0].call.arguments == {"when": "2026-01-01T00:00:00Z"}


async def test_042_the_memories_that_a_whole_result_tells_of_are_known_and_those_of_a_failure_are_not(
    calls: CallHistory, kept: Kept
) -> None:
    one, two, three = (new_id("mem") for _ in range(3))
    calls.note("ada", "say", {"text": three}, Said(text=f"{one} {'x' * 1000} {two}"), 1)
    calls.note("ada", "say", {}, f"not_found: there is no memory {one!r}", 1)
    await flush(calls, kept)
    assert [made.memory_ids for made in kept.calls] == [frozenset({one, two}), frozenset()]
    entries = [{"text": "x" * 300, "id": one}, {"text": "y" * 300, "id": two}, {"text": "z", "id": three}]
    calls.note("ada", "ask", {"text": three}, Anything(data=entries), 1, brings=False)
    await flush(calls, kept)
    assert kept.calls[-1].memory_ids == frozenset({one, two})  # the second one is cut before its id


async def test_042_what_cannot_be_written_now_is_written_next_time_and_once(calls: CallHistory, kept: Kept) -> None:
    calls.note("ada", "say", {}, Said(text="1"), 1)
    kept.failure = OSError("disk")
    with pytest.raises(OSError, match="disk"):
        await flush(calls, kept)
    calls.note("ada", "say", {}, Said(text="2"), 1)
    kept.failure = None
    await flush(calls, kept)
    await flush(calls, kept)
    assert [made.call.result for made in kept.calls] == ['{"text":"1"}', '{"text":"2"}']


async def test_042_two_who_write_at_the_same_time_write_each_call_once(calls: CallHistory, kept: Kept) -> None:
    for number in range(100):
        calls.note("ada", "say", {}, Said(text=str(number)), 1)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(flush, calls, kept)
    assert len(kept.calls) == 100


async def test_042_it_is_due_a_while_after_the_first_call_and_at_once_after_many(
    calls: CallHistory, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "KEEP_SECONDS", 0.01)
    with anyio.move_on_after(0.05) as silence:
        await calls.due()
    assert silence.cancelled_caught
    calls.note("ada", "say", {}, Said(text=""), 1)
    with anyio.fail_after(5):
        await calls.due()
    await flush(calls, kept)
    monkeypatch.setattr(history, "KEEP_SECONDS", 3600)
    for _ in range(KEEP_AT_ONCE):
        calls.note("ada", "say", {}, Said(text=""), 1)
    with anyio.fail_after(5):
        await calls.due()


async def test_042_a_call_noted_while_others_are_made_ready_is_due_too(
    calls: CallHistory, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "KEEP_SECONDS", 0.01)
    make_ready = anyio.to_thread.run_sync

    async def run_and_note(work: Callable[..., Any], *arguments: Any) -> Any:
        ready = await make_ready(work, *arguments)
        if not kept.calls:
            calls.note("ada", "say", {}, Said(text="meanwhile"), 1)
        return ready

    monkeypatch.setattr(anyio.to_thread, "run_sync", run_and_note)
    calls.note("ada", "say", {}, Said(text="first"), 1)
    with anyio.fail_after(5):
        for _ in range(2):
            await calls.due()
            await flush(calls, kept)
    assert [made.call.result for made in kept.calls] == ['{"text":"first"}', '{"text":"meanwhile"}']


async def test_042_more_than_can_wait_is_given_up_and_said(
    calls: CallHistory, kept: Kept, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(history, "MOST_WAITING", 3)
    for number in range(5):
        calls.note("ada", "say", {}, Said(text=str(number)), 1)
    await flush(calls, kept)
    assert [made.call.result for made in kept.calls] == [f'{{"text":"{number}"}}' for number in range(3)]
    (warning,) = caplog.records
    assert (warning.message, vars(warning)["calls"]) == ("calls are missing in the history", 2)


async def test_042_a_call_that_cannot_be_told_is_in_the_history_all_the_same(
    calls: CallHistory, kept: Kept, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def break_down(value: object) -> object:
        raise ZeroDivisionError(value)

    monkeypatch.setattr(call_excerpts, "redacted", break_down)
    calls.note("ada", "say", {"text": "my-password"}, Said(text="x"), 1)
    await flush(calls, kept)
    assert kept.told == [("say", {}, "", True)]
    (logged,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "my-password" not in str(vars(logged))
