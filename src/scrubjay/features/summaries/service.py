"""Summaries of sessions, and rolling ones of days and weeks: made, kept as memories, and brought up to date."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import anyio.to_thread

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Cancelled, ErrorRecord, NotFound, ScrubjayError, SourceGone
from scrubjay.core.progress import Reporter
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.derived import is_extracted
from scrubjay.features.memory.models import Kind, Memory, MemoryFilter
from scrubjay.features.memory.recall import Hit, Order, Wish
from scrubjay.features.memory.service import Draft, MemoryService
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.summaries.models import (
    KEY_PREFIXES,
    LEVEL_TAGS,
    Level,
    Material,
    Method,
    PeriodToSummarise,
    Scores,
    SessionToSummarise,
    Summary,
    SummaryCategory,
    Told,
    Turn,
)
from scrubjay.features.summaries.store import SummaryStore

if TYPE_CHECKING:
    from scrubjay.features.summaries.llm_summaries import Composer

# Of a longer session the beginning and the end are read.
FIRST_TURNS = 500
LAST_TURNS = 1_500
MOST_FACTS = 200
# More sessions of a day, or days of a week, than there can be in earnest.
MOST_PARTS = 500
# A session of which nothing was kept for so long is taken to be over when nobody asked for its summary.
SETTLED = timedelta(minutes=10)
# What a summary stands for is more than one of the turns that it is made of.
IMPORTANCE = 0.7
DELETED_AT_ONCE = 500

_FACTS = (Kind.GENERAL, Kind.PREFERENCE, Kind.DECISION, Kind.CONTEXT, Kind.CORRECTION)
# A summary that is made anew says everything anew.
_GIVEN = frozenset({"session_id", "category", "importance", "tags", "occurred_at", "kind", "details", "provenance"})


@dataclass(frozen=True, slots=True)
class Failed:
    """A session, a day or a week that could not be summarised."""

    name: str
    level: Level
    error: ErrorRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarised:
    """What became of everything that was to be summarised."""

    sessions: Sequence[Memory]
    periods: Sequence[Memory]
    """Of days and weeks."""
    failed: Sequence[Failed]
    facts: int
    """How many facts the sessions' turns stated that were not known."""


class FactsTaken(Protocol):
    """The outcome of taking facts out of a session."""

    @property
    def stored(self) -> Sequence[object]: ...


class SessionFacts(Protocol):
    """Takes facts out of the turns of a session; `facts` provides it."""

    async def extract(
        self, session: SessionToSummarise, provenance: Mapping[str, Any], step: Callable[[int, int], Awaitable[None]]
    ) -> FactsTaken: ...


class Summariser:
    """Makes summaries by a language model where there is one, and by rules where there is none or it fails."""

    def __init__(
        self,
        store: SummaryStore,
        kept: MemoryStore,
        memories: MemoryService,
        composer: "Composer | None" = None,
        *,
        facts: SessionFacts | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """With an extractor, the facts of a session are taken out of its turns when it is summarised."""
        self._store = store
        self._kept = kept
        self._memories = memories
        self._composer = composer
        self._facts = facts
        self._clock = clock

    async def summarise_session(
        self, session_id: str, visibility: Visibility, provenance: Mapping[str, Any], reporter: Reporter
    ) -> Summarised:
        """Make this session's summary, anew if there is one."""
        found = await self._store.session(visibility, session_id)
        if not found:
            raise NotFound(
                f"there are no turns of a session {session_id[:80]!r} here",
                hint="add_memory keeps turns; a session of another project can only be summarised there",
            )
        run = _Run(reporter, provenance, len(found))
        for session in found:
            await run.attempt(session, partial(self._session, session, run))
        if run.failed and not run.sessions:
            raise run.problems[0]
        return run.outcome()

    async def summarise_all(
        self,
        visibility: Visibility | None,
        provenance: Mapping[str, Any],
        reporter: Reporter,
        *,
        only_settled: bool = False,
    ) -> Summarised:
        """Make every summary that is missing or older than what was said: sessions, then days and weeks that are over.

        One that fails does not stop the others. A visibility of None means those of everybody, for maintenance only.
        """
        now = self._clock().astimezone(UTC)
        with_model = self._composer is not None
        settled_before = now - SETTLED if only_settled else None
        sessions = await self._store.sessions(visibility, with_model=with_model, settled_before=settled_before)
        run = _Run(reporter, provenance, len(sessions))
        for session in sessions:
            await run.attempt(session, partial(self._session, session, run))
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        this_week = today - timedelta(days=today.weekday())
        for level, before in ((Level.DAY, today), (Level.WEEK, this_week)):
            periods = await self._store.periods(visibility, level, with_model=with_model, before=before)
            run.total += len(periods)
            for period in periods:
                await run.attempt(period, partial(self._period, period, run))
        return run.outcome()

    async def find(
        self, query: str, visibility: Visibility, level: Level, category: SummaryCategory | None, limit: int
    ) -> Sequence[Hit]:
        """The summaries that fit a question best."""
        wish = Wish(limit=limit, threshold=0.0, order=Order.SCORE)
        return (await self._memories.recall(query, visibility, _only(level, category), wish)).hits

    async def page(
        self, visibility: Visibility, level: Level, category: SummaryCategory | None, limit: int, offset: int
    ) -> tuple[int, Sequence[Memory]]:
        """How many summaries there are, and some of them, the latest session first."""
        page = await self._memories.page(
            visibility, _only(level, category), newest_first=True, limit=limit, offset=offset
        )
        return page.total, page.memories

    async def delete_all(self, visibility: Visibility) -> int:
        """Erase every summary that can be seen, of whatever level, and tell how many; what they were made of stays."""
        deleted = 0
        everything = MemoryFilter(kinds=(Kind.SUMMARY,))
        while found := await self._kept.find(visibility, everything, DELETED_AT_ONCE):
            deleted += len(await self._kept.delete(visibility, [memory.id for memory in found]))
        return deleted

    # -- making one --------------------------------------------------------------------------------

    async def _session(self, session: SessionToSummarise, run: "_Run") -> None:
        # Here, because a server that starts has better things to do than to read the rules.
        from scrubjay.features.summaries.extractive import clip_title, summarise_session

        visibility = _audience(session)
        turns, total = await self._turns(session, visibility)
        if not turns:
            return  # forgotten meanwhile
        if self._facts is not None:
            run.facts += len((await self._facts.extract(session, run.provenance, run.step)).stored)
        facts = await self._memories.page(
            visibility,
            MemoryFilter(scope=session.scope, from_session=session.name, kinds=_FACTS),
            newest_first=False,
            limit=MOST_FACTS,
            offset=0,
        )
        told = [memory for memory in facts.memories if not is_extracted(memory)]  # else the turns would speak twice
        material = Material(
            turns=[_turn(memory) for memory in turns],
            facts=[Told(memory.content, memory.importance) for memory in told],
        )
        by_rule = await anyio.to_thread.run_sync(summarise_session, material)
        by_rule = replace(by_rule, title=by_rule.title or clip_title(f"Session {session.name}"))
        composer = self._composer
        made = await _made(by_rule, None if composer is None else composer.summarise_session(material, by_rule))
        details = {
            "sessionId": session.name,
            "memoryCount": total + facts.total - (len(facts.memories) - len(told)),
            "turns": session.turns,
            "through": session.through,
        }
        ended_at = turns[-1].occurred_at or turns[-1].recorded_at
        sources = [memory.id for memory in (*turns, *told)]
        run.sessions.append(await self._keep(session, made, details, run.provenance, ended_at, sources))

    async def _turns(self, session: SessionToSummarise, visibility: Visibility) -> tuple[Sequence[Memory], int]:
        """The session's turns, the earliest first, without the middle of a long one; and how many it has."""
        only = MemoryFilter(scope=session.scope, from_session=session.name, kinds=(Kind.TURN,))
        first = await self._memories.page(
            visibility, only, newest_first=False, limit=FIRST_TURNS + LAST_TURNS, offset=0
        )
        if first.total <= FIRST_TURNS + LAST_TURNS:
            return first.memories, first.total
        last = await self._memories.page(visibility, only, newest_first=True, limit=LAST_TURNS, offset=0)
        return [*first.memories[:FIRST_TURNS], *reversed(last.memories)], first.total

    async def _period(self, period: PeriodToSummarise, run: "_Run") -> None:
        from scrubjay.features.summaries.extractive import summarise_period

        starts_at, ends_at = period.span
        below = Level(period.level - 1)
        page = await self._memories.page(
            _audience(period),
            replace(_only(below, None), scope=period.scope, occurred_after=starts_at, occurred_before=ends_at),
            newest_first=False,
            limit=MOST_PARTS,
            offset=0,
        )
        if not page.memories:
            return
        parts = [(summary_of(memory), int(memory.details.get("memoryCount", 0))) for memory in page.memories]
        by_rule = await anyio.to_thread.run_sync(summarise_period, parts)
        composer = self._composer
        made = await _made(
            by_rule, None if composer is None else composer.summarise_period(period.level, parts, by_rule)
        )
        details = {
            "period": period.name,
            "memoryCount": sum(memories for _, memories in parts),
            "parts": period.parts,
            "changedAt": period.changed_at,
        }
        sources = [memory.id for memory in page.memories]
        provenance = {**run.provenance, "from": sources}
        # Its last second, so that a day is a part of its week and a question about it finds it.
        last_second = ends_at - timedelta(seconds=1)
        run.periods.append(await self._keep(period, made, details, provenance, last_second, sources))

    async def _keep(
        self,
        of: SessionToSummarise | PeriodToSummarise,
        made: "_Made",
        details: Mapping[str, Any],
        provenance: Mapping[str, Any],
        occurred_at: datetime,
        sources: Sequence[str],
    ) -> Memory:
        """Keep a summary, unless one of its sources was forgotten while it was made: then its words may be in it."""
        summary = made.summary
        draft = Draft(
            content=f"{summary.title}\n\n{summary.text}".strip(),
            scope=of.scope,
            session_id=of.name if of.level is Level.SESSION else None,
            key=KEY_PREFIXES[of.level] + of.name,
            category=summary.category,
            importance=IMPORTANCE,
            tags=(LEVEL_TAGS[of.level], *summary.technologies),
            occurred_at=occurred_at,
            kind=Kind.SUMMARY,
            details={"level": int(of.level), **_fields(summary), **details, **_told_of(made.problem)},
            provenance=dict(provenance),
            given=_GIVEN,
        )
        (outcome,) = await self._memories.remember([draft], of.project_id, made_of=sources)
        return outcome.memory


@dataclass(frozen=True, slots=True)
class _Made:
    """A summary, and why the language model did not make it if it should have."""

    summary: Summary
    problem: ScrubjayError | None = None


async def _made(by_rule: Summary, by_model: Awaitable[Summary] | None) -> _Made:
    if by_model is None:
        return _Made(by_rule)
    try:
        return _Made(await by_model)
    except Cancelled:
        raise
    except ScrubjayError as error:
        return _Made(by_rule, error)


class _Run:
    """One way through what is to be summarised, one after the other."""

    def __init__(self, reporter: Reporter, provenance: Mapping[str, Any], total: int) -> None:
        self.provenance = provenance
        self.total = total
        self.sessions: list[Memory] = []
        self.periods: list[Memory] = []
        self.failed: list[Failed] = []
        self.facts = 0
        self.problems: list[ScrubjayError] = []
        self._reporter = reporter
        self._done = 0

    async def attempt(self, of: SessionToSummarise | PeriodToSummarise, work: Callable[[], Awaitable[None]]) -> None:
        """Do this one, again if something was forgotten meanwhile; when it fails, the others still have their turn."""
        await self._report()
        try:
            try:
                await work()
            except SourceGone:
                await work()
        except Cancelled:
            raise
        except ScrubjayError as error:
            self.failed.append(Failed(of.name, of.level, error.record))
            self.problems.append(error)
        self._done += 1
        await self._report()

    async def step(self, read: int, turns: int) -> None:
        """Give way while the facts of one session are taken out."""
        await self._report()

    async def _report(self) -> None:
        await self._reporter.report(self._done, self.total, f"{self._done} of {self.total} are summarised")

    def outcome(self) -> Summarised:
        return Summarised(sessions=self.sessions, periods=self.periods, failed=self.failed, facts=self.facts)


def summary_of(memory: Memory) -> Summary:
    """The summary that a memory is."""
    details = memory.details
    category = memory.category if memory.category in [*SummaryCategory] else SummaryCategory.OTHER
    return Summary(
        title=str(details.get("title", "")),
        text=str(details.get("summary", memory.content)),
        category=SummaryCategory(category),
        scores=Scores(**{name: int(details.get(name, 0)) for name in Scores.__dataclass_fields__}),
        technologies=tuple(map(str, details.get("technologies", ()))),
        method=Method(details.get("method", Method.EXTRACTIVE)),
        model=details.get("model"),
        by_rule=tuple(details.get("byRule", ())),
        evidence=details.get("evidence", {}),
    )


def _fields(summary: Summary) -> dict[str, Any]:
    return {
        "title": summary.title,
        "summary": summary.text,
        **asdict(summary.scores),
        "technologies": list(summary.technologies),
        "method": summary.method.value,
        "model": summary.model,
        "byRule": list(summary.by_rule),
        "evidence": dict(summary.evidence),
    }


def _told_of(problem: ScrubjayError | None) -> dict[str, Any]:
    """Why the language model did not make it, and whether it should be asked again."""
    if problem is None:
        return {}
    from scrubjay.features.summaries.llm_summaries import is_worth_another_try

    return {"problem": problem.message, "tryAgain": int(is_worth_another_try(problem))}


def _turn(memory: Memory) -> Turn:
    said = memory.details
    if "prompt" not in said and "response" not in said:  # kept by something else than add_memory
        asked = (memory.speaker or "").casefold() in ("user", "human")
        return Turn(memory.content, "", "") if asked else Turn("", "", memory.content)
    return Turn(str(said.get("prompt", "")), str(said.get("thought", "")), str(said.get("response", "")))


def _audience(of: SessionToSummarise | PeriodToSummarise) -> Visibility:
    """Those who will see the summary, and no more than they."""
    return Visibility(of.project_id, of.name if of.scope is Scope.SESSION else None)


def _only(level: Level, category: SummaryCategory | None) -> MemoryFilter:
    return MemoryFilter(kinds=(Kind.SUMMARY,), tags=(LEVEL_TAGS[level],), category=category)
