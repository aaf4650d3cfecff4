"""What is told of calls, to whom, and for how long it is kept."""

from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from scrubjay.core.callers import OWNER, Caller
from scrubjay.core.errors import Cancelled, Forbidden, InvalidRequest
from scrubjay.tooling.call_events import (
    KEPT_AFTER_LAST_LISTENER,
    MOST_KEPT,
    Announcement,
    CallEvent,
    CallEvents,
    FileChange,
    Happening,
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


class Said(Result):
    text: str


@tool("toys", read_only=True)
async def say(request: Text) -> Said:
    """Say it."""
    return Said(text=request.text)


@tool("toys", destructive=True)
async def erase(request: Text) -> Said:
    """Erase it."""
    return Said(text=request.text)


class Chosen(Text):
    action: str


@tool("toys", destructive=True, reading_operations=["show"])
async def tend(request: Chosen) -> Said:
    """Show it, or erase it."""
    return Said(text=request.text)


@tool("toys", read_only=True, fleeting=True)
async def whisper(request: Text) -> Said:
    """Say what is soon gone."""
    return Said(text=request.text)


@tool("toys", read_only=True)
async def wait(request: Text) -> Said:
    """Wait for ever."""
    await anyio.sleep_forever()
    return Said(text=request.text)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


class Scene:
    """A dispatcher whose calls are observed."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.events = CallEvents({say.name: lambda answer: len(answer.text)}, self.clock)
        self.dispatcher = Dispatcher(Registry([say, erase, tend, whisper, wait]), Services())
        self.events.subscribe(self.dispatcher.events)
        self.heard: list[tuple[str, int | None]] = []

    def hear(self, happening: Happening) -> None:
        assert isinstance(happening, CallEvent)
        self.heard.append((happening.tool, happening.ended_id))

    async def call(self, name: str, caller: Caller = OWNER, **arguments: Any) -> Said:
        answer: Any = await self.dispatcher.call(name, arguments, CallContext(surface="python", caller=caller))
        return answer

    @property
    def kept(self) -> list[CallEvent]:
        return [one for one in self.events.kept() if isinstance(one, CallEvent)]


async def test_6_ids_grow_also_while_the_clock_stands_still_and_over_restarts() -> None:
    scene = Scene()
    scene.events.listen(scene.hear)
    for _ in range(3):
        await scene.call("say")
    ids = [one for event in scene.kept for one in (event.started_id, event.ended_id or 0)]
    assert ids == sorted(set(ids))
    assert moment_of(id_at(NOW)) == NOW
    later = CallEvents(clock=lambda: NOW + timedelta(seconds=1))
    assert later.new_id() > ids[-1]
    assert moment_of(2**62) > moment_of(id_at(NOW)) > moment_of(-(2**62))


async def test_6_each_call_is_told_when_it_begins_and_once_when_it_has_ended() -> None:
    scene = Scene()
    leave = scene.events.listen(scene.hear)
    await scene.call("say", text="four")
    with pytest.raises(InvalidRequest):
        await scene.call("say", txt="?")
    with pytest.raises(Forbidden):
        await scene.call("say", Caller("nobody", frozenset()))  # it was not let in, so there was no call
    assert [(name, ended is not None) for name, ended in scene.heard] == [("say", False), ("say", True)] * 2
    first, second = scene.kept
    assert (first.arguments, first.result, first.success) == ({"text": "four"}, '{"text":"four"}', True)
    assert (first.memories_added, second.memories_added) == (4, 0)
    assert (second.success, second.result.split(":")[0]) == (False, "invalid_request")
    leave()
    await scene.call("say")
    assert len(scene.heard) == 4


async def test_6_what_is_fleeting_or_erased_is_not_told() -> None:
    scene = Scene()
    scene.events.listen(scene.hear)
    await scene.call("say", text="a secret of the sea")
    await scene.call("whisper", text="a secret of the sea")
    assert (scene.kept[1].arguments, scene.kept[1].result) == ({}, "")
    await scene.call("erase", text="a secret")
    assert [(event.arguments, event.result) for event in scene.kept[:2]] == [({}, "")] * 2
    assert scene.kept[2].result == ""
    await scene.call("say", text="what comes after")
    assert scene.kept[3].arguments == {"text": "what comes after"}


async def test_6_a_look_by_a_tool_that_could_erase_takes_nothing_away() -> None:
    scene = Scene()
    scene.events.listen(scene.hear)
    await scene.call("say", text="the sea")
    await scene.call("tend", action="show", text="what there is")
    assert [event.result for event in scene.kept] == ['{"text":"the sea"}', '{"text":"what there is"}']
    await scene.call("tend", action="erase")
    assert [event.result for event in scene.kept] == ["", "", ""]


async def test_6_contents_are_kept_while_somebody_listens_and_a_while_longer() -> None:
    scene = Scene()
    await scene.call("say")
    assert scene.kept == []
    leave = scene.events.listen(scene.hear)
    began = scene.events.complete_after
    await scene.call("say")
    leave()
    scene.clock.now += KEPT_AFTER_LAST_LISTENER
    await scene.call("say")
    assert len(scene.kept) == 2
    scene.events.listen(scene.hear)()
    assert scene.events.complete_after == began  # nothing was missed in between
    scene.clock.now += KEPT_AFTER_LAST_LISTENER + timedelta(seconds=1)
    await scene.call("say")
    assert scene.kept == []
    scene.events.listen(scene.hear)
    assert scene.events.complete_after > began


async def test_6_only_so_much_is_kept_and_what_is_missing_is_known() -> None:
    events = CallEvents()
    events.listen(lambda happening: None)
    ids = [events.announce({"number": number}).id for number in range(MOST_KEPT + 5)]
    kept = events.kept()
    assert len(kept) == MOST_KEPT
    assert isinstance(kept[0], Announcement)
    assert kept[0].payload == {"number": 5}
    assert (id_of(kept[0]), events.complete_after) == (ids[5], ids[4])


async def test_6_a_call_that_is_stopped_ends_as_cancelled() -> None:
    scene = Scene()
    scene.events.listen(scene.hear)
    problems: list[Cancelled] = []

    async def call() -> None:
        try:
            await scene.call("wait")
        except Cancelled as problem:
            problems.append(problem)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        while not scene.events.running():
            await anyio.lowlevel.checkpoint()
        assert scene.events.stop(lambda event: event.tool == "say") == []
        assert len(scene.events.stop(lambda event: event.tool == "wait")) == 1
    assert len(problems) == 1
    assert (scene.kept[-1].success, scene.events.running()) == (False, [])


def test_6_who_sees_what() -> None:
    everything, reader = Caller("admin", key_id="k1"), Caller("reader", frozenset({"*:read"}), "k2")
    other = Caller("other", frozenset({"memory"}), "k3")
    call = CallEvent(call_id="c", tool="t", caller=other, client=None, surface="rest", started_id=1, arguments={})
    assert [may_see(caller, call) for caller in (OWNER, everything, reader, other)] == [True, True, False, True]
    own = CallEvent(call_id="c", tool="t", caller=OWNER, client=None, surface="rest", started_id=1, arguments={})
    # Nobody else has no key because the owner has none.
    assert not may_see(Caller("stranger", frozenset()), own)
    change = FileChange(id=1, family="code", path="/a", kind="created")
    assert [may_see(caller, change) for caller in (OWNER, reader, other)] == [True, True, False]
    assert may_see(other, Announcement(id=1, payload={}))
