"""Store contract: sessions and their calls (features 42, 53, 94)."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.ids import new_id
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.projects.models import Project
from scrubjay.features.sessions.models import IDLE_TIMEOUT, ClientCall, Session, SessionStatus, ToolCall
from tests.contracts.samples import NOW, ManualClock, write


@pytest.fixture
async def apollo(store: Store) -> Project:
    return await store.projects.ensure("/apollo", None)


@pytest.fixture
async def gemini(store: Store) -> Project:
    return await store.projects.ensure("/gemini", None)


def call(at: datetime, tool: str = "recall", *, milliseconds: float = 0.5, **fields: Any) -> ToolCall:
    """Return a call that ended at this time."""
    defaults: dict[str, Any] = {"arguments": {"query": "ö 🚂"}, "result": "{}", "success": True}
    began = at - timedelta(milliseconds=milliseconds)
    return ToolCall(tool=tool, milliseconds=milliseconds, called_at=began, **(defaults | fields))


async def write_calls(store: Store, *calls: ToolCall, client: str = "ada", project: Project | None = None) -> None:
    await store.sessions.add_calls([ClientCall(client, one) for one in calls], project.id if project else None)


async def history(store: Store, session: Session, *, newest_first: bool = False, limit: int = 100) -> list[ToolCall]:
    calls = await store.sessions.calls(session.project_id, session.id, newest_first=newest_first, limit=limit)
    return list(calls)


async def test_053_a_session_without_an_id_gets_one_and_continues_for_its_client(
    store: Store, other: Store, apollo: Project, clock: ManualClock
) -> None:
    session, resumed = await store.sessions.start(apollo.id, "ada", None)
    assert session == Session(id=session.id, project_id=apollo.id, client="ada", started_at=NOW, last_activity=NOW)
    assert session.id.startswith("ses_")
    assert not resumed
    clock.advance(60)
    again, resumed = await other.sessions.start(apollo.id, "ada", None)
    assert again == replace(session, last_activity=clock.now)
    assert resumed
    bobs, resumed = await store.sessions.start(apollo.id, "bob", None)
    assert bobs.id != session.id
    assert not resumed
    assert await other.sessions.current("ada") == again
    assert await store.sessions.current("carol") is None
    assert await other.sessions.current_id(apollo.id, "ada") == session.id
    assert await other.sessions.current_id(None, "ada") is None
    assert await other.sessions.current_id(apollo.id, "carol") is None


async def test_053_an_id_chosen_by_the_client_is_a_separate_session_in_each_project(
    store: Store, apollo: Project, gemini: Project
) -> None:
    here, resumed = await store.sessions.start(apollo.id, "ada", "standup")
    there, also_resumed = await store.sessions.start(gemini.id, "ada", "standup")
    nowhere, _ = await store.sessions.start(None, None, "standup")
    assert (here.id, there.id, nowhere.id) == ("standup", "standup", "standup")
    assert (resumed, also_resumed) == (False, False)
    assert await store.sessions.get(apollo.id, "standup") == here
    assert await store.sessions.get(gemini.id, "standup") == there
    assert await store.sessions.get(None, "standup") == nowhere
    assert await store.sessions.get(None, "stand") is None
    assert await store.sessions.list(apollo.id, 10) == [here]
    assert await store.sessions.list(None, 10) == [nowhere]


async def test_053_another_client_can_continue_a_session(store: Store, apollo: Project, clock: ManualClock) -> None:
    session, _ = await store.sessions.start(apollo.id, "ada", "standup")
    clock.advance(10)
    await write_calls(store, call(clock.now, "remember"), client="ada", project=apollo)
    await store.sessions.end(apollo.id, "standup")
    clock.advance(10)
    resumed_session, resumed = await store.sessions.start(apollo.id, "bob", "standup")
    assert resumed
    assert (resumed_session.client, resumed_session.ended_at, resumed_session.started_at) == (
        "bob",
        None,
        session.started_at,
    )
    clock.advance(1)
    await write_calls(store, call(clock.now), client="bob", project=apollo)
    assert [one.tool for one in await history(store, resumed_session)] == ["remember", "recall"]


async def test_042_calls_are_stored_completely_and_listed_by_time(
    store: Store, other: Store, apollo: Project, clock: ManualClock
) -> None:
    session, _ = await store.sessions.start(apollo.id, "ada", None)
    first = call(NOW + timedelta(seconds=1), "remember", arguments={"content": "x", "tags": ["a"]}, result='{"id":1}')
    second = call(NOW + timedelta(seconds=2), "forget", success=False, result="not_found: no memory", arguments={})
    third = call(NOW + timedelta(seconds=3), milliseconds=1500.25)
    await write_calls(store, third, project=apollo)
    await write_calls(other, second, first, project=apollo)
    assert await history(store, session) == [first, third, second]
    assert await history(store, session, newest_first=True, limit=2) == [second, third]
    assert await store.sessions.get(apollo.id, session.id) == replace(
        session,
        last_activity=third.ended_at,
        calls=3,
        failed=1,
        tools={"forget": 1, "recall": 1, "remember": 1},
    )
    assert await store.sessions.calls(apollo.id, "ses_none", newest_first=True, limit=5) == []
    assert await store.sessions.calls(None, session.id, newest_first=True, limit=5) == []


async def test_006_calls_of_a_project_are_listed_by_their_end(store: Store, apollo: Project, gemini: Project) -> None:
    def at(seconds: int) -> datetime:
        return NOW + timedelta(seconds=seconds)

    long = call(at(5), "long", milliseconds=4_500.25)
    short = [call(at(second), f"short-{second}") for second in (1, 2, 6)]
    await write_calls(store, *short, client="ada", project=apollo)
    await write_calls(store, long, client="bob", project=apollo)
    await write_calls(store, call(at(3), "elsewhere"), client="cy", project=gemini)
    await write_calls(store, call(at(3), "nowhere"), client="dee")

    async def ended(
        project: Project | None, after: int, until: int, *, newest_first: bool = False, limit: int = 100
    ) -> list[str]:
        of = project.id if project else None
        calls = await store.sessions.calls_ended_between(
            of, at(after), at(until), newest_first=newest_first, limit=limit
        )
        return [one.tool for one in calls]

    assert await ended(apollo, 0, 10) == ["short-1", "short-2", "long", "short-6"]
    assert await ended(apollo, 0, 10, limit=3) == ["short-1", "short-2", "long"]
    assert await ended(apollo, 0, 10, limit=3, newest_first=True) == ["short-6", "long", "short-2"]
    # After the first and until the last, to the microsecond.
    assert await ended(apollo, 1, 5) == ["short-2", "long"]
    assert await ended(None, 0, 10) == ["nowhere"]
    calls = await store.sessions.calls_ended_between(apollo.id, at(4), at(5), newest_first=False, limit=1)
    assert calls == [long]


async def test_042_the_first_call_of_a_client_starts_its_session(store: Store, clock: ManualClock) -> None:
    await write_calls(
        store, call(NOW, "health_check"), call(NOW + timedelta(seconds=1)), call(NOW + timedelta(seconds=2))
    )
    await write_calls(store, call(NOW + timedelta(seconds=3)), client="bob")
    clock.advance(5)
    adas, bobs = await store.sessions.current("ada"), await store.sessions.current("bob")
    assert adas is not None
    assert bobs is not None
    assert (adas.calls, adas.tools, adas.project_id) == (3, {"recall": 2, "health_check": 1}, None)
    assert list(adas.tools) == ["recall", "health_check"]
    assert bobs.calls == 1
    assert await store.sessions.list(None, 1) == [bobs]


async def test_042_writing_no_calls_writes_nothing(store: Store) -> None:
    await store.sessions.add_calls([], None)
    assert await store.sessions.list(None, 10) == []


async def test_042_calls_written_late_belong_to_the_session_of_their_time(
    store: Store, other: Store, apollo: Project, gemini: Project, clock: ManualClock
) -> None:
    await store.projects.activate("ada", apollo.id)
    in_apollo, _ = await store.sessions.start(apollo.id, "ada", None)
    clock.advance(100)
    await store.projects.activate("ada", gemini.id)
    clock.advance(100)
    late = [call(NOW + timedelta(seconds=50), "remember"), call(NOW + timedelta(seconds=150), "recall")]
    await write_calls(other, *late)
    assert [one.tool for one in await history(store, in_apollo)] == ["remember"]
    (in_gemini,) = await store.sessions.list(gemini.id, 10)
    assert [one.tool for one in await history(store, in_gemini)] == ["recall"]


async def test_042_the_call_that_sets_a_project_belongs_to_it(
    store: Store, apollo: Project, clock: ManualClock
) -> None:
    await store.projects.activate("ada", apollo.id)
    clock.advance(0.01)
    await write_calls(store, call(clock.now, "set_project", milliseconds=20))
    (session,) = await store.sessions.list(apollo.id, 10)
    assert session.tools == {"set_project": 1}
    assert await store.sessions.list(None, 10) == []


async def test_042_the_call_that_ends_a_session_belongs_to_it_and_the_next_starts_another(
    store: Store, apollo: Project, clock: ManualClock
) -> None:
    session, _ = await store.sessions.start(apollo.id, "ada", None)
    clock.advance(10)
    ended = await store.sessions.end(apollo.id, session.id)
    assert ended is not None
    assert ended == replace(session, ended_at=clock.now)
    assert ended.status(clock.now) is SessionStatus.CLOSED
    assert await store.sessions.current("ada") is None
    assert await store.sessions.current_id(apollo.id, "ada") is None
    ending = call(clock.now + timedelta(seconds=1), "end_session", milliseconds=2000)
    following = call(clock.now + timedelta(seconds=2))
    await write_calls(store, ending, following, project=apollo)
    assert await history(store, session) == [ending]
    clock.advance(60)
    current = await store.sessions.current("ada")
    assert current is not None
    assert await history(store, current) == [following]
    assert await store.sessions.end(apollo.id, session.id) == replace(
        ended, last_activity=ending.ended_at, calls=1, tools={"end_session": 1}
    )
    assert await store.sessions.end(apollo.id, "ses_none") is None


async def test_042_a_call_after_a_long_pause_starts_another_session(
    store: Store, apollo: Project, clock: ManualClock
) -> None:
    session, _ = await store.sessions.start(apollo.id, "ada", None)
    almost = call(NOW + IDLE_TIMEOUT, "remember")
    await write_calls(store, almost, project=apollo)
    too_late = call(almost.ended_at + IDLE_TIMEOUT + timedelta(seconds=1))
    await write_calls(store, too_late, project=apollo)
    assert await history(store, session) == [almost]
    clock.now = too_late.ended_at
    current = await store.sessions.current("ada")
    assert current is not None
    assert await history(store, current) == [too_late]
    clock.advance(IDLE_TIMEOUT.total_seconds() + 1)
    assert await store.sessions.current("ada") is None
    assert (await store.sessions.start(apollo.id, "ada", None))[1] is False


async def test_042_calls_written_together_are_assigned_like_single_ones(store: Store, apollo: Project) -> None:
    shared, _ = await store.sessions.start(apollo.id, "ada", None)
    await store.sessions.start(apollo.id, "bob", shared.id)
    # For Bob the session is still active only because of Ada's calls in the same batch.
    adas = [call(NOW + IDLE_TIMEOUT / 2), call(NOW + IDLE_TIMEOUT), call(NOW + 1.4 * IDLE_TIMEOUT)]
    bobs = call(NOW + 2 * IDLE_TIMEOUT, "remember")
    one_day = [call(NOW + 4 * IDLE_TIMEOUT), call(NOW + 4.5 * IDLE_TIMEOUT, "forget")]
    next_day = [call(NOW + 6 * IDLE_TIMEOUT), call(NOW + 6.5 * IDLE_TIMEOUT)]
    together = [*(ClientCall("ada", one) for one in (*adas, *one_day, *next_day)), ClientCall("bob", bobs)]
    await store.sessions.add_calls(together, apollo.id)
    sessions = await store.sessions.list(apollo.id, 10)
    assert [await history(store, session) for session in sessions] == [next_day, one_day, [*adas, bobs]]
    last = [next_day[-1], one_day[-1], bobs]
    assert [session.last_activity for session in sessions] == [one.ended_at for one in last]
    assert sessions[-1].client == "bob"


async def test_042_calls_of_two_processes_share_a_session_in_any_order(store: Store, other: Store) -> None:
    await write_calls(store, call(NOW + timedelta(seconds=5)))
    await write_calls(other, call(NOW, "remember"))
    (session,) = await store.sessions.list(None, 10)
    assert session.tools == {"recall": 1, "remember": 1}


async def test_042_a_clock_set_back_does_not_undo_a_choice_of_the_client(
    store: Store, apollo: Project, gemini: Project, clock: ManualClock
) -> None:
    await store.projects.activate("ada", apollo.id)
    await store.sessions.start(apollo.id, "ada", None)
    clock.advance(-3600)
    await store.projects.activate("ada", gemini.id)
    chosen, _ = await store.sessions.start(gemini.id, "ada", None)
    assert await store.projects.active("ada") == gemini
    assert await store.sessions.current("ada") == chosen


async def test_042_forgetting_a_memory_erases_the_calls_that_named_it(
    store: Store, apollo: Project, clock: ManualClock
) -> None:
    kept_id, erased_id = new_id("mem"), new_id("mem")
    await store.memories.put([write("stays", id=kept_id), write("hedgehog", id=erased_id)])
    session, _ = await store.sessions.start(apollo.id, "ada", None)
    naming_call = call(NOW + timedelta(seconds=1), "remember", arguments={"content": "hedgehog"}, result=erased_id)
    staying = call(NOW + timedelta(seconds=2), "remember", arguments={"content": "stays"}, result=kept_id)
    both = call(NOW + timedelta(seconds=3), "recall", result="hedgehog")
    calls = [
        ClientCall("ada", naming_call, frozenset({erased_id})),
        ClientCall("ada", staying, frozenset({kept_id})),
        ClientCall("ada", both, frozenset({kept_id, erased_id})),
    ]
    await store.sessions.add_calls(calls, apollo.id)
    await store.memories.delete(Visibility(), [erased_id])
    forgetting = call(NOW + timedelta(seconds=4), "forget", result='{"forgotten": "hedgehog"}')
    await store.sessions.add_calls([ClientCall("ada", forgetting, frozenset({erased_id}))], apollo.id)
    assert await history(store, session) == [
        replace(naming_call, arguments={}, result="", erased=True),
        staying,
        replace(both, arguments={}, result="", erased=True),
        replace(forgetting, arguments={}, result="", erased=True),
    ]


async def test_094_sessions_are_listed_with_the_summaries_that_the_caller_may_see(
    store: Store, apollo: Project, gemini: Project
) -> None:
    here: dict[str, Any] = {"kind": MemoryKind.SUMMARY, "scope": Scope.PROJECT, "project_id": apollo.id}
    await store.memories.put(
        [
            write("monday's", key="summary:monday", **here),
            write("a fact", key="summary:tuesday", scope=Scope.PROJECT, project_id=apollo.id),
            write(
                "elsewhere", key="summary:tuesday", kind=MemoryKind.SUMMARY, scope=Scope.PROJECT, project_id=gemini.id
            ),
            write("a day's", key="summary-day:monday", **here),
            write(
                "private",
                key="summary:friday",
                kind=MemoryKind.SUMMARY,
                scope=Scope.SESSION,
                project_id=apollo.id,
                session_id="friday",
            ),
        ]
    )
    session_ids = ["monday", "tuesday", "friday"]
    assert await store.sessions.summaries(Visibility(apollo.id), session_ids) == {"monday": "monday's"}
    assert await store.sessions.summaries(Visibility(apollo.id, "friday"), session_ids) == {
        "monday": "monday's",
        "friday": "private",
    }
    assert await store.sessions.summaries(Visibility(gemini.id), []) == {}


async def test_042_old_calls_are_erased_and_their_session_with_the_last_one(
    store: Store, apollo: Project, clock: ManualClock
) -> None:
    old, _ = await store.sessions.start(apollo.id, "ada", "old")
    await write_calls(store, call(NOW), call(NOW), project=apollo)
    clock.advance(1000)
    both, _ = await store.sessions.start(apollo.id, "ada", "both")
    await write_calls(store, call(NOW + timedelta(seconds=1001)), call(NOW + timedelta(seconds=3000)), project=apollo)
    assert await store.sessions.forget_before(NOW + timedelta(seconds=2000)) == 3
    assert [session.id for session in await store.sessions.list(apollo.id, 10)] == [both.id]
    assert len(await history(store, both)) == 1
    assert await history(store, old) == []
    assert await store.sessions.forget_before(NOW) == 0
    assert (await store.check()).problems == []
