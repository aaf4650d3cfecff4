"""Events of calls: their content, their receivers, and how long they are buffered."""

from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from scrubjay.core.callers import OWNER, Caller
from scrubjay.core.errors import Cancelled, Forbidden, InvalidRequest
from scrubjay.tooling.call_events import (
    BUFFERED_AFTER_LAST_LISTENER,
    MAX_BUFFERED,
    Announcement,
    CallEvent,
    CallEvents,
    StreamEvent,
    WatchedFileChange,
    id_at,
    id_of,
    may_see,
    moment_of,
)
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.services import Services

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


class Text(Request):
    text: str = "hello"


class TextResult(Result):
    text: str


@tool("toys", read_only=True)
async def say(request: Text) -> TextResult:
    """Return the text."""
    return TextResult(text=request.text)


@tool("toys", destructive=True)
async def erase(request: Text) -> TextResult:
    """Return the text, as a destructive tool."""
    return TextResult(text=request.text)


class ChosenAction(Text):
    action: str


@tool("toys", destructive=True, reading_operations=["show"])
async def show_or_erase(request: ChosenAction) -> TextResult:
    """Return the text; only the action `show` is not destructive."""
    return TextResult(text=request.text)


@tool("toys", read_only=True, log_payload=False)
async def whisper(request: Text) -> TextResult:
    """Return the text, which is not logged."""
    return TextResult(text=request.text)


@tool("toys", read_only=True)
async def wait(request: Text) -> TextResult:
    """Wait forever."""
    await anyio.sleep_forever()
    return TextResult(text=request.text)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


class ObservedDispatcher:
    """A dispatcher whose calls are observed."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.events = CallEvents(self.clock)
        self.dispatcher = Dispatcher(Registry([say, erase, show_or_erase, whisper, wait]), Services())
        self.events.subscribe(self.dispatcher.events)
        self.received: list[tuple[str, int | None]] = []

    def receive(self, event: StreamEvent) -> None:
        assert isinstance(event, CallEvent)
        self.received.append((event.tool, event.ended_id))

    async def call(self, name: str, caller: Caller = OWNER, **arguments: Any) -> TextResult:
        answer: Any = await self.dispatcher.call(name, arguments, CallContext(surface="python", caller=caller))
        return answer

    @property
    def buffered(self) -> list[CallEvent]:
        return [one for one in self.events.buffered() if isinstance(one, CallEvent)]


async def test_6_event_ids_increase_while_the_clock_stands_still_and_across_restarts() -> None:
    observed = ObservedDispatcher()
    observed.events.listen(observed.receive)
    for _ in range(3):
        await observed.call("say")
    ids = [one for event in observed.buffered for one in (event.started_id, event.ended_id or 0)]
    assert ids == sorted(set(ids))
    assert moment_of(id_at(NOW)) == NOW
    later = CallEvents(clock=lambda: NOW + timedelta(seconds=1))
    assert later.new_id() > ids[-1]
    assert moment_of(2**62) > moment_of(id_at(NOW)) > moment_of(-(2**62))


async def test_6_each_call_is_published_when_it_starts_and_once_when_it_ends() -> None:
    observed = ObservedDispatcher()
    leave = observed.events.listen(observed.receive)
    await observed.call("say", text="four")
    with pytest.raises(InvalidRequest):
        await observed.call("say", txt="?")
    with pytest.raises(Forbidden):
        await observed.call("say", Caller("nobody", frozenset()))  # refused before the call started
    assert [(name, ended is not None) for name, ended in observed.received] == [("say", False), ("say", True)] * 2
    first, second = observed.buffered
    assert (first.arguments, first.result, first.success) == ({"text": "four"}, '{"text":"four"}', True)
    assert (second.success, second.result.split(":")[0]) == (False, "invalid_request")
    leave()
    await observed.call("say")
    assert len(observed.received) == 4


async def test_6_payloads_that_are_private_or_erased_are_not_published() -> None:
    observed = ObservedDispatcher()
    observed.events.listen(observed.receive)
    await observed.call("say", text="a secret of the sea")
    await observed.call("whisper", text="a secret of the sea")
    assert (observed.buffered[1].arguments, observed.buffered[1].result) == ({}, "")
    await observed.call("erase", text="a secret")
    assert [(event.arguments, event.result) for event in observed.buffered[:2]] == [({}, "")] * 2
    assert observed.buffered[2].result == ""
    await observed.call("say", text="a later text")
    assert observed.buffered[3].arguments == {"text": "a later text"}


async def test_6_a_read_by_a_destructive_tool_keeps_the_buffered_contents() -> None:
    observed = ObservedDispatcher()
    observed.events.listen(observed.receive)
    await observed.call("say", text="the sea")
    await observed.call("show_or_erase", action="show", text="a shown text")
    assert [event.result for event in observed.buffered] == ['{"text":"the sea"}', '{"text":"a shown text"}']
    await observed.call("show_or_erase", action="erase")
    assert [event.result for event in observed.buffered] == ["", "", ""]


async def test_6_contents_are_buffered_while_there_is_a_listener_and_for_a_while_after() -> None:
    observed = ObservedDispatcher()
    await observed.call("say")
    assert observed.buffered == []
    leave = observed.events.listen(observed.receive)
    began = observed.events.complete_after
    await observed.call("say")
    leave()
    observed.clock.now += BUFFERED_AFTER_LAST_LISTENER
    await observed.call("say")
    assert len(observed.buffered) == 2
    observed.events.listen(observed.receive)()
    assert observed.events.complete_after == began  # no event was missed in between
    observed.clock.now += BUFFERED_AFTER_LAST_LISTENER + timedelta(seconds=1)
    await observed.call("say")
    assert observed.buffered == []
    observed.events.listen(observed.receive)
    assert observed.events.complete_after > began


async def test_6_the_buffer_is_limited_and_reports_since_when_it_is_complete() -> None:
    events = CallEvents()
    events.listen(lambda event: None)
    ids = [events.announce({"number": number}).id for number in range(MAX_BUFFERED + 5)]
    kept = events.buffered()
    assert len(kept) == MAX_BUFFERED
    assert isinstance(kept[0], Announcement)
    assert kept[0].payload == {"number": 5}
    assert (id_of(kept[0]), events.complete_after) == (ids[5], ids[4])


async def test_6_a_stopped_call_ends_as_cancelled() -> None:
    observed = ObservedDispatcher()
    observed.events.listen(observed.receive)
    problems: list[Cancelled] = []

    async def call() -> None:
        try:
            await observed.call("wait")
        except Cancelled as problem:
            problems.append(problem)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        while not observed.events.running():
            await anyio.lowlevel.checkpoint()
        assert observed.events.stop(lambda event: event.tool == "say") == []
        assert len(observed.events.stop(lambda event: event.tool == "wait")) == 1
    assert len(problems) == 1
    assert (observed.buffered[-1].success, observed.events.running()) == (False, [])


def test_6_callers_see_the_events_of_their_own_key() -> None:
    everything, reader = Caller("admin", key_id="k1"), Caller("reader", frozenset({"*:read"}), "k2")
    other = Caller("other", frozenset({"memory"}), "k3")
    call = CallEvent(call_id="c", tool="t", caller=other, client=None, surface="rest", started_id=1, arguments={})
    assert [may_see(caller, call) for caller in (OWNER, everything, reader, other)] == [True, True, False, True]
    own = CallEvent(call_id="c", tool="t", caller=OWNER, client=None, surface="rest", started_id=1, arguments={})
    # The owner has no key either, but is not confused with other callers without one.
    assert not may_see(Caller("stranger", frozenset()), own)
    change = WatchedFileChange(id=1, family="code", path="/a", kind="created")
    assert [may_see(caller, change) for caller in (OWNER, reader, other)] == [True, True, False]
    assert may_see(other, Announcement(id=1, payload={}))
