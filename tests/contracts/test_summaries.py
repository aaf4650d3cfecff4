"""Store contract: sessions, days and weeks that need a summary."""

from datetime import UTC, datetime, timedelta
from typing import Any

from scrubjay.app.store import Store
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.summaries.models import Level, PendingPeriod, PendingSession
from tests.contracts.samples import NOW, write

HERE = Visibility("prj_here")
IN_PROJECT: dict[str, Any] = {"scope": Scope.PROJECT, "project_id": "prj_here"}


async def store_memory(store: Store, content: str, kind: MemoryKind, **fields: Any) -> str:
    (outcome,) = await store.memories.put([write(content, kind=kind, **(IN_PROJECT | fields))])
    return outcome.memory.id


async def turn(store: Store, session: str, number: int = 1, **fields: Any) -> str:
    return await store_memory(store, "a turn", MemoryKind.TURN, id=f"mem_{number}", session_id=session, **fields)


async def summary(store: Store, session: str, turns: int, through: str, **details: Any) -> None:
    details = {"level": 1, "turns": turns, "through": through, **details}
    await store_memory(
        store, "a summary", MemoryKind.SUMMARY, key=f"summary:{session}", session_id=session, details=details
    )


def missing(session: str, turns: int, through: str, scope: Scope = Scope.PROJECT) -> PendingSession:
    return PendingSession(scope, None if scope is Scope.GLOBAL else "prj_here", session, turns, through)


async def test_a_session_with_turns_and_no_summary_is_found(store: Store) -> None:
    await turn(store, "late", 1, recorded_at=NOW + timedelta(hours=2))
    await turn(store, "early", 2, recorded_at=NOW)
    await turn(store, "early", 3, recorded_at=NOW + timedelta(hours=1))
    await store_memory(store, "a fact", MemoryKind.GENERAL, session_id="only-facts")
    await store_memory(store, "a turn of nobody", MemoryKind.TURN)
    pending = await store.summaries.sessions(HERE, with_model=False)
    assert pending == [missing("early", 2, "mem_3"), missing("late", 1, "mem_1")]


async def test_a_session_that_continued_is_found_again(store: Store) -> None:
    await turn(store, "s", 1)
    await summary(store, "s", 1, "mem_1")
    assert await store.summaries.sessions(HERE, with_model=True) == []
    await turn(store, "s", 2)
    assert await store.summaries.sessions(HERE, with_model=True) == [missing("s", 2, "mem_2")]
    await store.memories.delete(HERE, ["mem_1"])
    assert await store.summaries.sessions(HERE, with_model=True) == [missing("s", 1, "mem_2")]


async def test_a_forgotten_turn_does_not_make_a_summary_outdated(store: Store) -> None:
    await turn(store, "s", 1)
    await turn(store, "s", 2)
    await summary(store, "s", 2, "mem_2")
    await store.memories.delete(HERE, ["mem_2"])
    assert await store.summaries.sessions(HERE, with_model=True) == []


async def test_an_imported_summary_is_matched_by_its_memories(store: Store) -> None:
    await turn(store, "s", 1)
    await store_memory(store, "it", MemoryKind.SUMMARY, key="summary:s", session_id="s", details={"memoryCount": 1})
    assert await store.summaries.sessions(HERE, with_model=True) == []
    await turn(store, "s", 2)
    assert len(await store.summaries.sessions(HERE, with_model=True)) == 1


async def test_a_summary_made_without_a_model_is_found_again_when_there_is_one(store: Store) -> None:
    await turn(store, "s", 1)
    await summary(store, "s", 1, "mem_1", tryAgain=1)
    assert await store.summaries.sessions(HERE, with_model=False) == []
    assert await store.summaries.sessions(HERE, with_model=True) == [missing("s", 1, "mem_1")]


async def test_earlier_versions_of_a_turn_do_not_count(store: Store) -> None:
    await store_memory(store, "first", MemoryKind.TURN, id="mem_1", session_id="s", key="k")
    await store_memory(store, "second", MemoryKind.TURN, id="mem_2", session_id="s", key="k")
    assert await store.summaries.sessions(HERE, with_model=False) == [missing("s", 1, "mem_1")]


async def test_sessions_are_found_per_scope_if_visible(store: Store) -> None:
    await turn(store, "s", 1)
    await turn(store, "s", 2, scope=Scope.GLOBAL, project_id=None)
    await turn(store, "s", 3, scope=Scope.SESSION)
    await turn(store, "s", 4, project_id="prj_other")
    ours = [missing("s", 1, "mem_1"), missing("s", 1, "mem_2", Scope.GLOBAL)]
    private = missing("s", 1, "mem_3", Scope.SESSION)
    assert await store.summaries.sessions(HERE, with_model=False) == ours
    assert await store.summaries.session(HERE, "s") == ours
    assert await store.summaries.session(Visibility("prj_here", "s"), "s") == [*ours, private]
    assert len(await store.summaries.sessions(None, with_model=False)) == 4


async def test_a_named_session_is_found_with_or_without_a_summary(store: Store) -> None:
    await turn(store, "s", 1)
    await turn(store, "other", 2)
    await summary(store, "s", 1, "mem_1")
    assert await store.summaries.session(HERE, "s") == [missing("s", 1, "mem_1")]
    assert await store.summaries.session(HERE, "unknown") == []


async def test_a_running_session_can_be_excluded(store: Store) -> None:
    await turn(store, "over", 1, recorded_at=NOW - timedelta(hours=1))
    await turn(store, "going-on", 2, recorded_at=NOW - timedelta(hours=1))
    await turn(store, "going-on", 3, recorded_at=NOW)
    pending = await store.summaries.sessions(HERE, with_model=False, ended_before=NOW)
    assert pending == [missing("over", 1, "mem_1")]


async def test_the_latest_sessions_with_turns_are_those_of_the_project_only(store: Store) -> None:
    await turn(store, "old", 1, occurred_at=NOW - timedelta(days=1))
    await turn(store, "new", 2, recorded_at=NOW)
    await turn(store, "new", 3, recorded_at=NOW - timedelta(hours=1))
    await turn(store, "private", 4, scope=Scope.SESSION)
    await turn(store, "everywhere", 5, scope=Scope.GLOBAL, project_id=None)
    await turn(store, "elsewhere", 6, project_id="prj_other")
    await store_memory(store, "a fact", MemoryKind.GENERAL, session_id="only-facts")
    assert await store.summaries.latest("prj_here", 5) == [("new", NOW), ("old", NOW - timedelta(days=1))]
    assert await store.summaries.latest("prj_here", 1) == [("new", NOW)]
    assert [session for session, _ in await store.summaries.latest(None, 5)] == ["everywhere"]


# -- days and weeks --------------------------------------------------------------------------------

FRIDAY = datetime(2027, 1, 1, 10, tzinfo=UTC)  # of the last ISO week of 2026
MONDAY = datetime(2027, 1, 4, tzinfo=UTC)
LATER = datetime(2028, 1, 1, tzinfo=UTC)
CHANGED_AT = 1_000_000


async def part(store: Store, name: str, at: datetime, level: Level = Level.SESSION, **fields: Any) -> None:
    values: dict[str, Any] = {
        "key": f"part:{name}",
        "occurred_at": at,
        "updated_at": datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),
        "details": {"level": int(level)},
    }
    await store_memory(store, name, MemoryKind.SUMMARY, **(values | fields))


def period(name: str, parts: int, level: Level = Level.DAY, changed_at: int = CHANGED_AT) -> PendingPeriod:
    return PendingPeriod(Scope.PROJECT, "prj_here", level, name, parts, changed_at)


async def test_days_with_sessions_but_no_summary_are_found_in_order(store: Store) -> None:
    await part(store, "b", FRIDAY.replace(hour=0))
    await part(store, "c", FRIDAY.replace(hour=23, minute=59))
    await part(store, "a", FRIDAY - timedelta(days=1))
    pending = await store.summaries.periods(HERE, Level.DAY, with_model=False, before=LATER)
    assert pending == [period("2026-12-31", 1), period("2027-01-01", 2)]
    assert pending[1].span == (FRIDAY.replace(hour=0), datetime(2027, 1, 2, tzinfo=UTC))


async def test_an_unfinished_day_is_excluded(store: Store) -> None:
    await part(store, "a", FRIDAY)
    assert await store.summaries.periods(HERE, Level.DAY, with_model=False, before=FRIDAY.replace(hour=0)) == []


async def test_weeks_follow_iso_8601_and_consist_of_days(store: Store) -> None:
    await part(store, "session", FRIDAY)
    await part(store, "a", FRIDAY, Level.DAY)
    await part(store, "b", FRIDAY + timedelta(days=2), Level.DAY)
    await part(store, "c", MONDAY, Level.DAY)
    pending = await store.summaries.periods(HERE, Level.WEEK, with_model=False, before=MONDAY)
    assert pending == [period("2026-W53", 2, Level.WEEK)]
    assert pending[0].span == (MONDAY - timedelta(days=7), MONDAY)


async def test_a_day_is_found_again_when_a_session_was_added_or_changed(store: Store) -> None:
    async def pending_days() -> list[PendingPeriod]:
        return list(await store.summaries.periods(HERE, Level.DAY, with_model=True, before=LATER))

    await part(store, "a", FRIDAY)
    day = {"level": 2, "parts": 1, "changedAt": CHANGED_AT}
    await store_memory(store, "day", MemoryKind.SUMMARY, key="summary-day:2027-01-01", occurred_at=FRIDAY, details=day)
    assert await pending_days() == []
    await part(store, "b", FRIDAY)
    assert await pending_days() == [period("2027-01-01", 2)]
    fields = frozenset({"details"})
    revised = write("day", key="summary-day:2027-01-01", details={**day, "parts": 2}, given=fields, **IN_PROJECT)
    await store.memories.put([revised])
    assert await pending_days() == []
    await part(store, "b", FRIDAY, updated_at=NOW)
    assert [one.parts for one in await pending_days()] == [2]


async def test_data_private_to_a_session_is_part_of_no_day(store: Store) -> None:
    await part(store, "a", FRIDAY, scope=Scope.SESSION, session_id="s")
    await part(store, "b", FRIDAY, project_id="prj_other")
    visibility = Visibility("prj_here", "s")
    assert await store.summaries.periods(visibility, Level.DAY, with_model=False, before=LATER) == []
    assert len(await store.summaries.periods(None, Level.DAY, with_model=False, before=LATER)) == 1
