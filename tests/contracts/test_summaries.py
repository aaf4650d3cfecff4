"""What every backend finds to be summarised."""

from datetime import UTC, datetime, timedelta
from typing import Any

from scrubjay.app.store import Store
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.models import Kind
from scrubjay.features.summaries.models import Level, PeriodToSummarise, SessionToSummarise
from tests.contracts.samples import NOW, write

HERE = Visibility("prj_here")
SEEN: dict[str, Any] = {"scope": Scope.PROJECT, "project_id": "prj_here"}


async def keep(store: Store, content: str, kind: Kind, **fields: Any) -> str:
    (outcome,) = await store.memories.put([write(content, kind=kind, **(SEEN | fields))])
    return outcome.memory.id


async def turn(store: Store, session: str, number: int = 1, **fields: Any) -> str:
    return await keep(store, "a turn", Kind.TURN, id=f"mem_{number}", session_id=session, **fields)


async def summary(store: Store, session: str, turns: int, through: str, **details: Any) -> None:
    details = {"level": 1, "turns": turns, "through": through, **details}
    await keep(store, "a summary", Kind.SUMMARY, key=f"summary:{session}", session_id=session, details=details)


def missing(session: str, turns: int, through: str, scope: Scope = Scope.PROJECT) -> SessionToSummarise:
    return SessionToSummarise(scope, None if scope is Scope.GLOBAL else "prj_here", session, turns, through)


async def test_a_session_with_turns_and_no_summary_is_found(store: Store) -> None:
    await turn(store, "late", 1, recorded_at=NOW + timedelta(hours=2))
    await turn(store, "early", 2, recorded_at=NOW)
    await turn(store, "early", 3, recorded_at=NOW + timedelta(hours=1))
    await keep(store, "a fact", Kind.GENERAL, session_id="only-facts")
    await keep(store, "a turn of nobody", Kind.TURN)
    found = await store.summaries.sessions(HERE, with_model=False)
    assert found == [missing("early", 2, "mem_3"), missing("late", 1, "mem_1")]


async def test_a_session_is_found_again_when_it_went_on(store: Store) -> None:
    await turn(store, "s", 1)
    await summary(store, "s", 1, "mem_1")
    assert await store.summaries.sessions(HERE, with_model=True) == []
    await turn(store, "s", 2)
    assert await store.summaries.sessions(HERE, with_model=True) == [missing("s", 2, "mem_2")]
    await store.memories.delete(HERE, ["mem_1"])
    assert await store.summaries.sessions(HERE, with_model=True) == [missing("s", 1, "mem_2")]


async def test_what_was_forgotten_does_not_make_a_summary_old(store: Store) -> None:
    await turn(store, "s", 1)
    await turn(store, "s", 2)
    await summary(store, "s", 2, "mem_2")
    await store.memories.delete(HERE, ["mem_2"])
    assert await store.summaries.sessions(HERE, with_model=True) == []


async def test_a_summary_from_elsewhere_counts_by_its_memories(store: Store) -> None:
    await turn(store, "s", 1)
    await keep(store, "it", Kind.SUMMARY, key="summary:s", session_id="s", details={"memoryCount": 1})
    assert await store.summaries.sessions(HERE, with_model=True) == []
    await turn(store, "s", 2)
    assert len(await store.summaries.sessions(HERE, with_model=True)) == 1


async def test_what_a_model_could_not_do_is_found_again_when_there_is_one(store: Store) -> None:
    await turn(store, "s", 1)
    await summary(store, "s", 1, "mem_1", tryAgain=1)
    assert await store.summaries.sessions(HERE, with_model=False) == []
    assert await store.summaries.sessions(HERE, with_model=True) == [missing("s", 1, "mem_1")]


async def test_earlier_versions_of_a_turn_do_not_count(store: Store) -> None:
    await keep(store, "first", Kind.TURN, id="mem_1", session_id="s", key="k")
    await keep(store, "second", Kind.TURN, id="mem_2", session_id="s", key="k")
    assert await store.summaries.sessions(HERE, with_model=False) == [missing("s", 1, "mem_1")]


async def test_only_what_may_be_seen_is_found_each_scope_for_itself(store: Store) -> None:
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


async def test_one_session_is_found_whether_it_has_a_summary_or_not(store: Store) -> None:
    await turn(store, "s", 1)
    await turn(store, "other", 2)
    await summary(store, "s", 1, "mem_1")
    assert await store.summaries.session(HERE, "s") == [missing("s", 1, "mem_1")]
    assert await store.summaries.session(HERE, "unknown") == []


async def test_a_session_that_goes_on_can_be_left_out(store: Store) -> None:
    await turn(store, "over", 1, recorded_at=NOW - timedelta(hours=1))
    await turn(store, "going-on", 2, recorded_at=NOW - timedelta(hours=1))
    await turn(store, "going-on", 3, recorded_at=NOW)
    found = await store.summaries.sessions(HERE, with_model=False, settled_before=NOW)
    assert found == [missing("over", 1, "mem_1")]


# -- days and weeks --------------------------------------------------------------------------------

FRIDAY = datetime(2027, 1, 1, 10, tzinfo=UTC)  # of the last ISO week of 2026
MONDAY = datetime(2027, 1, 4, tzinfo=UTC)
LATER = datetime(2028, 1, 1, tzinfo=UTC)
CHANGED = 1_000_000


async def part(store: Store, name: str, at: datetime, level: Level = Level.SESSION, **fields: Any) -> None:
    values: dict[str, Any] = {
        "key": f"part:{name}",
        "occurred_at": at,
        "updated_at": datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),
        "details": {"level": int(level)},
    }
    await keep(store, name, Kind.SUMMARY, **(values | fields))


def period(name: str, parts: int, level: Level = Level.DAY, changed_at: int = CHANGED) -> PeriodToSummarise:
    return PeriodToSummarise(Scope.PROJECT, "prj_here", level, name, parts, changed_at)


async def test_days_with_sessions_and_no_summary_are_found_in_their_order(store: Store) -> None:
    await part(store, "b", FRIDAY.replace(hour=0))
    await part(store, "c", FRIDAY.replace(hour=23, minute=59))
    await part(store, "a", FRIDAY - timedelta(days=1))
    found = await store.summaries.periods(HERE, Level.DAY, with_model=False, before=LATER)
    assert found == [period("2026-12-31", 1), period("2027-01-01", 2)]
    assert found[1].span == (FRIDAY.replace(hour=0), datetime(2027, 1, 2, tzinfo=UTC))


async def test_a_day_that_is_not_over_is_left_out(store: Store) -> None:
    await part(store, "a", FRIDAY)
    assert await store.summaries.periods(HERE, Level.DAY, with_model=False, before=FRIDAY.replace(hour=0)) == []


async def test_weeks_are_those_of_iso_and_made_of_days(store: Store) -> None:
    await part(store, "session", FRIDAY)
    await part(store, "a", FRIDAY, Level.DAY)
    await part(store, "b", FRIDAY + timedelta(days=2), Level.DAY)
    await part(store, "c", MONDAY, Level.DAY)
    found = await store.summaries.periods(HERE, Level.WEEK, with_model=False, before=MONDAY)
    assert found == [period("2026-W53", 2, Level.WEEK)]
    assert found[0].span == (MONDAY - timedelta(days=7), MONDAY)


async def test_a_day_is_found_again_when_a_part_is_new_or_changed(store: Store) -> None:
    async def found() -> list[PeriodToSummarise]:
        return list(await store.summaries.periods(HERE, Level.DAY, with_model=True, before=LATER))

    await part(store, "a", FRIDAY)
    day = {"level": 2, "parts": 1, "changedAt": CHANGED}
    await keep(store, "day", Kind.SUMMARY, key="summary-day:2027-01-01", occurred_at=FRIDAY, details=day)
    assert await found() == []
    await part(store, "b", FRIDAY)
    assert await found() == [period("2027-01-01", 2)]
    given = frozenset({"details"})
    again = write("day", key="summary-day:2027-01-01", details={**day, "parts": 2}, given=given, **SEEN)
    await store.memories.put([again])
    assert await found() == []
    await part(store, "b", FRIDAY, updated_at=NOW)
    assert [one.parts for one in await found()] == [2]


async def test_what_is_private_to_a_session_is_part_of_no_day(store: Store) -> None:
    await part(store, "a", FRIDAY, scope=Scope.SESSION, session_id="s")
    await part(store, "b", FRIDAY, project_id="prj_other")
    seen = Visibility("prj_here", "s")
    assert await store.summaries.periods(seen, Level.DAY, with_model=False, before=LATER) == []
    assert len(await store.summaries.periods(None, Level.DAY, with_model=False, before=LATER)) == 1
