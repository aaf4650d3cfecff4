"""What every backend keeps of sessions and of the calls made in them (features 42, 53, 94)."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.ids import new_id
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import Kind
from scrubjay.features.projects.models import Project
from scrubjay.features.sessions.models import IDLE, ClientCall, Session, SessionStatus, ToolCall
from tests.contracts.samples import NOW, ManualClock, write


@pytest.fixture
async def apollo(store: Store) -> Project:
    return await store.projects.ensure("/apollo", None)


@pytest.fixture
async def gemini(store: Store) -> Project:
    return await store.projects.ensure("/gemini", None)


def call(at: datetime, tool: str = "recall", *, milliseconds: float = 0.5, **fields: Any) -> ToolCall:
    """A call that ended at this moment."""
    defaults: dict[str, Any] = {"arguments": {"query": "ö 🚂"}, "result": "{}", "success": True}
    began = at - timedelta(milliseconds=milliseconds)
    return ToolCall(tool=tool, milliseconds=milliseconds, called_at=began, **(defaults | fields))


async def keep(store: Store, *calls: ToolCall, client: str = "ada", project: Project | None = None) -> None:
    await store.sessions.keep([ClientCall(client, one) for one in calls], project.id if project else None)


async def history(store: Store, session: Session, *, newest_first: bool = False, limit: int = 100) -> list[ToolCall]:
    found = await store.sessions.calls(session.project_id, session.id, newest_first=newest_first, limit=limit)
    return list(found)


async def test_053_a_session_without_an_id_gets_one_and_goes_on_for_its_client(
    store: Store, other: Store, apollo: Project, clock: ManualClock
) -> None:
    made, resumed = await store.sessions.start(apollo.id, "ada", None)
    assert made == Session(id=made.id, project_id=apollo.id, client="ada", started_at=NOW, last_activity=NOW)
    assert made.id.startswith("ses_")
    assert not resumed
    clock.advance(60)
    again, resumed = await other.sessions.start(apollo.id, "ada", None)
    assert again == replace(made, last_activity=clock.now)
    assert resumed
    bobs, resumed = await store.sessions.start(apollo.id, "bob", None)
    assert bobs.id != made.id
    assert not resumed
    assert await other.sessions.current("ada") == again
    assert await store.sessions.current("carol") is None


async def test_053_an_id_of_the_clients_own_is_one_session_in_each_project(
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


async def test_053_another_client_can_go_on_with_a_session(store: Store, apollo: Project, clock: ManualClock) -> None:
    made, _ = await store.sessions.start(apollo.id, "ada", "standup")
    clock.advance(10)
    await keep(store, call(clock.now, "remember"), client="ada", project=apollo)
    await store.sessions.end(apollo.id, "standup")
    clock.advance(10)
    taken, resumed = await store.sessions.start(apollo.id, "bob", "standup")
    assert resumed
    assert (taken.client, taken.ended_at, taken.started_at) == ("bob", None, made.started_at)
    clock.advance(1)
    await keep(store, call(clock.now), client="bob", project=apollo)
    assert [one.tool for one in await history(store, taken)] == ["remember", "recall"]


async def test_042_calls_are_kept_whole_and_told_in_the_order_of_time(
    store: Store, other: Store, apollo: Project, clock: ManualClock
) -> None:
    session, _ = await store.sessions.start(apollo.id, "ada", None)
    first = call(NOW + timedelta(seconds=1), "remember", arguments={"content": "x", "tags": ["a"]}, result='{"id":1}')
    second = call(NOW + timedelta(seconds=2), "forget", success=False, result="not_found: no memory", arguments={})
    third = call(NOW + timedelta(seconds=3), milliseconds=1500.25)
    await keep(store, third, project=apollo)
    await keep(other, second, first, project=apollo)
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


async def test_006_calls_of_all_sessions_of_a_project_are_told_by_when_they_ended(
    store: Store, apollo: Project, gemini: Project
) -> None:
    def at(seconds: int) -> datetime:
        return NOW + timedelta(seconds=seconds)

    long = call(at(5), "long", milliseconds=4_500.25)
    short = [call(at(second), f"short-{second}") for second in (1, 2, 6)]
    await keep(store, *short, client="ada", project=apollo)
    await keep(store, long, client="bob", project=apollo)
    await keep(store, call(at(3), "elsewhere"), client="cy", project=gemini)
    await keep(store, call(at(3), "nowhere"), client="dee")

    async def ended(
        project: Project | None, after: int, until: int, *, newest_first: bool = False, limit: int = 100
    ) -> list[str]:
        of = project.id if project else None
        found = await store.sessions.ended(of, at(after), at(until), newest_first=newest_first, limit=limit)
        return [one.tool for one in found]

    assert await ended(apollo, 0, 10) == ["short-1", "short-2", "long", "short-6"]
    assert await ended(apollo, 0, 10, limit=3) == ["short-1", "short-2", "long"]
    assert await ended(apollo, 0, 10, limit=3, newest_first=True) == ["short-6", "long", "short-2"]
    # After the first and until the last, to the microsecond.
    assert await ended(apollo, 1, 5) == ["short-2", "long"]
    assert await ended(None, 0, 10) == ["nowhere"]
    found = await store.sessions.ended(apollo.id, at(4), at(5), newest_first=False, limit=1)
    assert found == [long]


async def test_042_the_first_call_of_a_client_begins_its_session(store: Store, clock: ManualClock) -> None:
    await keep(store, call(NOW, "health_check"), call(NOW + timedelta(seconds=1)), call(NOW + timedelta(seconds=2)))
    await keep(store, call(NOW + timedelta(seconds=3)), client="bob")
    clock.advance(5)
    adas, bobs = await store.sessions.current("ada"), await store.sessions.current("bob")
    assert adas is not None
    assert bobs is not None
    assert (adas.calls, adas.tools, adas.project_id) == (3, {"recall": 2, "health_check": 1}, None)
    assert list(adas.tools) == ["recall", "health_check"]
    assert bobs.calls == 1
    assert await store.sessions.list(None, 1) == [bobs]


async def test_042_no_calls_are_no_write(store: Store) -> None:
    await store.sessions.keep([], None)
    assert await store.sessions.list(None, 10) == []


async def test_042_calls_written_late_go_where_their_client_was_at_that_time(
    store: Store, other: Store, apollo: Project, gemini: Project, clock: ManualClock
) -> None:
    await store.projects.activate("ada", apollo.id)
    in_apollo, _ = await store.sessions.start(apollo.id, "ada", None)
    clock.advance(100)
    await store.projects.activate("ada", gemini.id)
    clock.advance(100)
    late = [call(NOW + timedelta(seconds=50), "remember"), call(NOW + timedelta(seconds=150), "recall")]
    await keep(other, *late)
    assert [one.tool for one in await history(store, in_apollo)] == ["remember"]
    (in_gemini,) = await store.sessions.list(gemini.id, 10)
    assert [one.tool for one in await history(store, in_gemini)] == ["recall"]


async def test_042_the_call_that_sets_a_project_belongs_to_it(
    store: Store, apollo: Project, clock: ManualClock
) -> None:
    await store.projects.activate("ada", apollo.id)
    clock.advance(0.01)
    await keep(store, call(clock.now, "set_project", milliseconds=20))
    (session,) = await store.sessions.list(apollo.id, 10)
    assert session.tools == {"set_project": 1}
    assert await store.sessions.list(None, 10) == []


async def test_042_the_call_that_ends_a_session_belongs_to_it_and_the_next_begins_another(
    store: Store, apollo: Project, clock: ManualClock
) -> None:
    session, _ = await store.sessions.start(apollo.id, "ada", None)
    clock.advance(10)
    ended = await store.sessions.end(apollo.id, session.id)
    assert ended is not None
    assert ended == replace(session, ended_at=clock.now)
    assert ended.status(clock.now) is SessionStatus.CLOSED
    assert await store.sessions.current("ada") is None
    ending = call(clock.now + timedelta(seconds=1), "end_session", milliseconds=2000)
    following = call(clock.now + timedelta(seconds=2))
    await keep(store, ending, following, project=apollo)
    assert await history(store, session) == [ending]
    clock.advance(60)
    current = await store.sessions.current("ada")
    assert current is not None
    assert await history(store, current) == [following]
    assert await store.sessions.end(apollo.id, session.id) == replace(
        ended, last_activity=ending.ended_at, calls=1, tools={"end_session": 1}
    )
    assert await store.sessions.end(apollo.id, "ses_none") is None


async def test_042_after_a_night_a_call_begins_another_session(
    store: Store, apollo: Project, clock: ManualClock
) -> None:
    session, _ = await store.sessions.start(apollo.id, "ada", None)
    almost = call(NOW + IDLE, "remember")
    await keep(store, almost, project=apollo)
    too_late = call(almost.ended_at + IDLE + timedelta(seconds=1))
    await keep(store, too_late, project=apollo)
    assert await history(store, session) == [almost]
    clock.now = too_late.ended_at
    current = await store.sessions.current("ada")
    assert current is not None
    assert await history(store, current) == [too_late]
    clock.advance(IDLE.total_seconds() + 1)
    assert await store.sessions.current("ada") is None
    assert (await store.sessions.start(apollo.id, "ada", None))[1] is False


async def test_042_calls_written_together_go_where_each_would_alone(store: Store, apollo: Project) -> None:
    shared, _ = await store.sessions.start(apollo.id, "ada", None)
    await store.sessions.start(apollo.id, "bob", shared.id)
    # Bob finds the session alive only because of what Ada did in it, which is written in the same moment.
    adas = [call(NOW + IDLE / 2), call(NOW + IDLE), call(NOW + 1.4 * IDLE)]
    bobs = call(NOW + 2 * IDLE, "remember")
    one_day = [call(NOW + 4 * IDLE), call(NOW + 4.5 * IDLE, "forget")]
    next_day = [call(NOW + 6 * IDLE), call(NOW + 6.5 * IDLE)]
    together = [*(ClientCall("ada", one) for one in (*adas, *one_day, *next_day)), ClientCall("bob", bobs)]
    await store.sessions.keep(together, apollo.id)
    sessions = await store.sessions.list(apollo.id, 10)
    assert [await history(store, session) for session in sessions] == [next_day, one_day, [*adas, bobs]]
    last = [next_day[-1], one_day[-1], bobs]
    assert [session.last_activity for session in sessions] == [one.ended_at for one in last]
    assert sessions[-1].client == "bob"


async def test_042_calls_of_two_processes_share_a_session_whoever_writes_first(store: Store, other: Store) -> None:
    await keep(store, call(NOW + timedelta(seconds=5)))
    await keep(other, call(NOW, "remember"))
    (session,) = await store.sessions.list(None, 10)
    assert session.tools == {"recall": 1, "remember": 1}


async def test_042_a_clock_put_back_does_not_undo_what_a_client_chose(
    store: Store, apollo: Project, gemini: Project, clock: ManualClock
) -> None:
    await store.projects.activate("ada", apollo.id)
    await store.sessions.start(apollo.id, "ada", None)
    clock.advance(-3600)
    await store.projects.activate("ada", gemini.id)
    chosen, _ = await store.sessions.start(gemini.id, "ada", None)
    assert await store.projects.active("ada") == gemini
    assert await store.sessions.current("ada") == chosen


async def test_042_what_is_forgotten_is_gone_from_the_calls_that_told_of_it(
    store: Store, apollo: Project, clock: ManualClock
) -> None:
    kept, erased = new_id("mem"), new_id("mem")
    await store.memories.put([write("stays", id=kept), write("hedgehog", id=erased)])
    session, _ = await store.sessions.start(apollo.id, "ada", None)
    telling = call(NOW + timedelta(seconds=1), "remember", arguments={"content": "hedgehog"}, result=erased)
    staying = call(NOW + timedelta(seconds=2), "remember", arguments={"content": "stays"}, result=kept)
    both = call(NOW + timedelta(seconds=3), "recall", result="hedgehog")
    calls = [
        ClientCall("ada", telling, frozenset({erased})),
        ClientCall("ada", staying, frozenset({kept})),
        ClientCall("ada", both, frozenset({kept, erased})),
    ]
    await store.sessions.keep(calls, apollo.id)
    await store.memories.delete(Visibility(), [erased])
    forgetting = call(NOW + timedelta(seconds=4), "forget", result='{"forgotten": "hedgehog"}')
    await store.sessions.keep([ClientCall("ada", forgetting, frozenset({erased}))], apollo.id)
    assert await history(store, session) == [
        replace(telling, arguments={}, result="", erased=True),
        staying,
        replace(both, arguments={}, result="", erased=True),
        replace(forgetting, arguments={}, result="", erased=True),
    ]


async def test_094_sessions_are_told_by_the_summaries_that_the_asker_may_see(
    store: Store, apollo: Project, gemini: Project
) -> None:
    here: dict[str, Any] = {"kind": Kind.SUMMARY, "scope": Scope.PROJECT, "project_id": apollo.id}
    await store.memories.put(
        [
            write("monday's", key="summary:monday", **here),
            write("a fact", key="summary:tuesday", scope=Scope.PROJECT, project_id=apollo.id),
            write("elsewhere", key="summary:tuesday", kind=Kind.SUMMARY, scope=Scope.PROJECT, project_id=gemini.id),
            write("a day's", key="summary-day:monday", **here),
            write(
                "private",
                key="summary:friday",
                kind=Kind.SUMMARY,
                scope=Scope.SESSION,
                project_id=apollo.id,
                session_id="friday",
            ),
        ]
    )
    asked = ["monday", "tuesday", "friday"]
    assert await store.sessions.summaries(Visibility(apollo.id), asked) == {"monday": "monday's"}
    assert await store.sessions.summaries(Visibility(apollo.id, "friday"), asked) == {
        "monday": "monday's",
        "friday": "private",
    }
    assert await store.sessions.summaries(Visibility(gemini.id), []) == {}


async def test_042_old_calls_go_and_with_the_last_of_them_their_session(
    store: Store, apollo: Project, clock: ManualClock
) -> None:
    old, _ = await store.sessions.start(apollo.id, "ada", "old")
    await keep(store, call(NOW), call(NOW), project=apollo)
    clock.advance(1000)
    both, _ = await store.sessions.start(apollo.id, "ada", "both")
    await keep(store, call(NOW + timedelta(seconds=1001)), call(NOW + timedelta(seconds=3000)), project=apollo)
    assert await store.sessions.forget_before(NOW + timedelta(seconds=2000)) == 3
    assert [session.id for session in await store.sessions.list(apollo.id, 10)] == [both.id]
    assert len(await history(store, both)) == 1
    assert await history(store, old) == []
    assert await store.sessions.forget_before(NOW) == 0
    assert (await store.check()).problems == []
