"""Creation and update of summaries of sessions, days and weeks, stored as memories."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import anyio.to_thread

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Cancelled, ErrorRecord, NotFound, ScrubjayError, SourceGone
from scrubjay.core.lazy import lazy_module
from scrubjay.core.progress import Reporter
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.derived import is_extracted
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind
from scrubjay.features.memory.recall import Hit, Order, RecallOptions
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.summaries.models import (
    KEY_PREFIXES,
    LEVEL_TAGS,
    GenerationMethod,
    Level,
    PendingPeriod,
    PendingSession,
    SessionFact,
    SessionMaterial,
    Summary,
    SummaryCategory,
    Turn,
    WorkScores,
)
from scrubjay.features.summaries.outcome import outcome_details, outcome_from
from scrubjay.features.summaries.store import SummaryStore
from scrubjay.features.summaries.titles import clip_title

if TYPE_CHECKING:
    from scrubjay.features.summaries import extractive, llm_summaries
    from scrubjay.features.summaries.llm_summaries import LlmSummariser
else:
    # These compile many patterns and are not needed when a server starts.
    extractive = lazy_module("scrubjay.features.summaries.extractive")
    llm_summaries = lazy_module("scrubjay.features.summaries.llm_summaries")

# Of a longer session, only the first and the last turns are read.
FIRST_TURNS = 500
LAST_TURNS = 1_500
MAX_FACTS = 200
# More sessions of a day, or days of a week, than occur in practice.
MAX_PARTS = 500
# A session without a new turn for this time counts as ended when summaries are created automatically.
SETTLE_TIME = timedelta(minutes=10)
# A summary is more important than one of its turns (0.5).
IMPORTANCE = 0.7
DELETE_BATCH = 500

_FACT_KINDS = (
    MemoryKind.GENERAL,
    MemoryKind.PREFERENCE,
    MemoryKind.DECISION,
    MemoryKind.CONTEXT,
    MemoryKind.CORRECTION,
)
# Fields that a new summary of the same session or period replaces.
_REWRITTEN_FIELDS = frozenset(
    {"session_id", "category", "importance", "tags", "occurred_at", "kind", "details", "provenance"}
)


@dataclass(frozen=True, slots=True)
class FailedSummary:
    """A session, a day or a week that could not be summarised."""

    name: str
    level: Level
    error: ErrorRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariseResult:
    """The new summaries and the failures of a run."""

    sessions: Sequence[Memory]
    periods: Sequence[Memory]
    """Summaries of days and weeks."""
    failed: Sequence[FailedSummary]
    facts: int
    """Number of new facts extracted from the turns of the sessions."""


class ExtractedFacts(Protocol):
    """Result of extracting facts from a session."""

    @property
    def stored(self) -> Sequence[object]: ...


class SessionFactExtractor(Protocol):
    """Extracts facts from the turns of a session; the feature `facts` implements it."""

    async def extract(
        self, session: PendingSession, provenance: Mapping[str, Any], step: Callable[[int, int], Awaitable[None]]
    ) -> ExtractedFacts: ...


class Summariser:
    """Creates summaries with a language model; without one, or if it fails, by rules."""

    def __init__(
        self,
        store: SummaryStore,
        memory_store: MemoryStore,
        memories: MemoryService,
        llm: "LlmSummariser | None" = None,
        *,
        facts: SessionFactExtractor | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """Create the service. With `facts`, summarising a session also extracts its facts."""
        self._store = store
        self._memory_store = memory_store
        self._memories = memories
        self._llm = llm
        self._facts = facts
        self._clock = clock

    async def summarise_session(
        self, session_id: str, visibility: Visibility, provenance: Mapping[str, Any], reporter: Reporter
    ) -> SummariseResult:
        """Summarise this session, again if it has a summary. Raises `NotFound` if it has no visible turns."""
        found = await self._store.session(visibility, session_id)
        if not found:
            raise NotFound(
                f"session {session_id[:80]!r} has no turns here",
                hint="store turns with add_memory; for a session of another project, set that project first",
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
        only_ended: bool = False,
    ) -> SummariseResult:
        """Create every summary that is missing or outdated: sessions, then completed days and weeks.

        A failure does not stop the others. A visibility of None means all projects, for maintenance only.
        """
        now = self._clock().astimezone(UTC)
        with_model = self._llm is not None
        ended_before = now - SETTLE_TIME if only_ended else None
        sessions = await self._store.sessions(visibility, with_model=with_model, ended_before=ended_before)
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
        """Return the summaries most relevant to a question, best first."""
        options = RecallOptions(limit=limit, threshold=0.0, order=Order.SCORE)
        return (await self._memories.recall(query, visibility, _summary_filter(level, category), options)).hits

    async def page(
        self, visibility: Visibility, level: Level, category: SummaryCategory | None, limit: int, offset: int
    ) -> tuple[int, Sequence[Memory]]:
        """Return the number of matching summaries and one page of them, newest first."""
        page = await self._memories.page(
            visibility, _summary_filter(level, category), newest_first=True, limit=limit, offset=offset
        )
        return page.total, page.memories

    async def delete_all(self, visibility: Visibility) -> int:
        """Erase every visible summary of any level and return their number. Their sources remain."""
        deleted = 0
        everything = MemoryFilter(kinds=(MemoryKind.SUMMARY,))
        while found := await self._memory_store.find(visibility, everything, DELETE_BATCH):
            if not (gone := await self._memory_store.delete(visibility, [memory.id for memory in found])):
                break  # another process was faster, or they are damaged
            deleted += len(gone)
        return deleted

    # -- one summary -------------------------------------------------------------------------------

    async def _session(self, session: PendingSession, run: "_Run") -> None:
        visibility = _audience(session)
        turns, total = await self._turns(session, visibility)
        if not turns:
            return  # they have just been erased
        if self._facts is not None:
            run.facts += len((await self._facts.extract(session, run.provenance, run.step)).stored)
        facts = await self._memories.page(
            visibility,
            MemoryFilter(scope=session.scope, from_session=session.name, kinds=_FACT_KINDS),
            newest_first=False,
            limit=MAX_FACTS,
            offset=0,
        )
        # Extracted facts are left out, because they repeat the turns.
        own_facts = [memory for memory in facts.memories if not is_extracted(memory)]
        material = SessionMaterial(
            turns=[_turn(memory) for memory in turns],
            facts=[SessionFact(memory.content, memory.importance) for memory in own_facts],
        )
        by_rule = await anyio.to_thread.run_sync(extractive.summarise_session, material)
        by_rule = replace(by_rule, title=by_rule.title or clip_title(f"Session {session.name}"))
        llm = self._llm
        generated = await _generate(by_rule, None if llm is None else llm.summarise_session(material, by_rule))
        details = {
            "sessionId": session.name,
            "memoryCount": total + facts.total - (len(facts.memories) - len(own_facts)),
            "turns": session.turns,
            "through": session.through,
        }
        ended_at = turns[-1].occurred_at or turns[-1].recorded_at
        sources = [memory.id for memory in (*turns, *own_facts)]
        run.sessions.append(await self._store_summary(session, generated, details, run.provenance, ended_at, sources))

    async def _turns(self, session: PendingSession, visibility: Visibility) -> tuple[Sequence[Memory], int]:
        """Return the turns of a session, earliest first, without the middle of a long one, and their total number."""
        of_session = MemoryFilter(scope=session.scope, from_session=session.name, kinds=(MemoryKind.TURN,))
        first = await self._memories.page(
            visibility, of_session, newest_first=False, limit=FIRST_TURNS + LAST_TURNS, offset=0
        )
        if first.total <= FIRST_TURNS + LAST_TURNS:
            return first.memories, first.total
        last = await self._memories.page(visibility, of_session, newest_first=True, limit=LAST_TURNS, offset=0)
        return [*first.memories[:FIRST_TURNS], *reversed(last.memories)], first.total

    async def _period(self, period: PendingPeriod, run: "_Run") -> None:
        starts_at, ends_at = period.span
        below = Level(period.level - 1)
        page = await self._memories.page(
            _audience(period),
            replace(
                _summary_filter(below, None), scope=period.scope, occurred_after=starts_at, occurred_before=ends_at
            ),
            newest_first=False,
            limit=MAX_PARTS,
            offset=0,
        )
        if not page.memories:
            return
        parts = [(to_summary(memory), int(memory.details.get("memoryCount", 0))) for memory in page.memories]
        by_rule = await anyio.to_thread.run_sync(extractive.summarise_period, parts)
        llm = self._llm
        generated = await _generate(
            by_rule, None if llm is None else llm.summarise_period(period.level, parts, by_rule)
        )
        details = {
            "period": period.name,
            "memoryCount": sum(memories for _, memories in parts),
            "parts": period.parts,
            "changedAt": period.changed_at,
        }
        sources = [memory.id for memory in page.memories]
        provenance = {**run.provenance, "from": sources}
        # Dated at its last second, so that a day belongs to its week and a question about the day finds it.
        last_second = ends_at - timedelta(seconds=1)
        run.periods.append(await self._store_summary(period, generated, details, provenance, last_second, sources))

    async def _store_summary(
        self,
        of: PendingSession | PendingPeriod,
        generated: "_GeneratedSummary",
        details: Mapping[str, Any],
        provenance: Mapping[str, Any],
        occurred_at: datetime,
        sources: Sequence[str],
    ) -> Memory:
        """Store a summary; raise `SourceGone` if a source was erased in the meantime, because the text may quote it."""
        summary = generated.summary
        draft = Draft(
            content=f"{summary.title}\n\n{summary.text}".strip(),
            scope=of.scope,
            session_id=of.name if of.level is Level.SESSION else None,
            key=KEY_PREFIXES[of.level] + of.name,
            category=summary.category,
            importance=IMPORTANCE,
            tags=(LEVEL_TAGS[of.level], *summary.technologies),
            occurred_at=occurred_at,
            kind=MemoryKind.SUMMARY,
            details={"level": int(of.level), **_fields(summary), **details, **_problem_details(generated.problem)},
            provenance=dict(provenance),
            given=_REWRITTEN_FIELDS,
        )
        (outcome,) = await self._memories.remember([draft], of.project_id, source_ids=sources)
        return outcome.memory


@dataclass(frozen=True, slots=True)
class _GeneratedSummary:
    """A summary, and the error of the language model if rules had to write it."""

    summary: Summary
    problem: ScrubjayError | None = None


async def _generate(by_rule: Summary, by_model: Awaitable[Summary] | None) -> _GeneratedSummary:
    if by_model is None:
        return _GeneratedSummary(by_rule)
    try:
        return _GeneratedSummary(await by_model)
    except Cancelled:
        raise
    except ScrubjayError as error:
        return _GeneratedSummary(by_rule, error)


class _Run:
    """A run over pending sessions and periods, with its progress and results."""

    def __init__(self, reporter: Reporter, provenance: Mapping[str, Any], total: int) -> None:
        self.provenance = provenance
        self.total = total
        self.sessions: list[Memory] = []
        self.periods: list[Memory] = []
        self.failed: list[FailedSummary] = []
        self.facts = 0
        self.problems: list[ScrubjayError] = []
        self._reporter = reporter
        self._done = 0

    async def attempt(self, of: PendingSession | PendingPeriod, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work`, once more if a source was erased during it; record a failure instead of raising it."""
        await self._report()
        try:
            try:
                await work()
            except SourceGone:
                await work()
        except Cancelled:
            raise
        except ScrubjayError as error:
            self.failed.append(FailedSummary(of.name, of.level, error.record))
            self.problems.append(error)
        self._done += 1
        await self._report()

    async def step(self, read: int, turns: int) -> None:
        """Report progress during the extraction of facts, so that the run can be cancelled."""
        await self._report()

    async def _report(self) -> None:
        await self._reporter.report(self._done, self.total, f"summarised {self._done} of {self.total}")

    def outcome(self) -> SummariseResult:
        return SummariseResult(sessions=self.sessions, periods=self.periods, failed=self.failed, facts=self.facts)


def to_summary(memory: Memory) -> Summary:
    """Return the summary stored as this memory."""
    details = memory.details
    category = memory.category if memory.category in [*SummaryCategory] else SummaryCategory.OTHER
    return Summary(
        title=str(details.get("title", "")),
        text=str(details.get("summary", memory.content)),
        category=SummaryCategory(category),
        scores=WorkScores(**{name: int(details.get(name, 0)) for name in WorkScores.__dataclass_fields__}),
        technologies=tuple(map(str, details.get("technologies", ()))),
        method=GenerationMethod(details.get("method", GenerationMethod.EXTRACTIVE)),
        model=details.get("model"),
        rule_fields=tuple(details.get("byRule", ())),
        evidence=details.get("evidence", {}),
        outcome=outcome_from(details),
    )


def _fields(summary: Summary) -> dict[str, Any]:
    return {
        "title": summary.title,
        "summary": summary.text,
        **asdict(summary.scores),
        "technologies": list(summary.technologies),
        "method": summary.method.value,
        "model": summary.model,
        "byRule": list(summary.rule_fields),
        "evidence": dict(summary.evidence),
        **({"outcome": outcome_details(summary.outcome)} if summary.outcome else {}),
    }


def _problem_details(problem: ScrubjayError | None) -> dict[str, Any]:
    """Return the error of the language model, and whether to try it again later."""
    if problem is None:
        return {}
    return {"problem": problem.message, "tryAgain": int(llm_summaries.is_retryable(problem))}


def _turn(memory: Memory) -> Turn:
    details = memory.details
    if "prompt" not in details and "response" not in details:  # not stored by add_memory
        is_prompt = (memory.speaker or "").casefold() in ("user", "human")
        return Turn(memory.content, "", "") if is_prompt else Turn("", "", memory.content)
    return Turn(str(details.get("prompt", "")), str(details.get("thought", "")), str(details.get("response", "")))


def _audience(of: PendingSession | PendingPeriod) -> Visibility:
    """Return the visibility of the sources, which the summary shares."""
    return Visibility(of.project_id, of.name if of.scope is Scope.SESSION else None)


def _summary_filter(level: Level, category: SummaryCategory | None) -> MemoryFilter:
    return MemoryFilter(kinds=(MemoryKind.SUMMARY,), tags=(LEVEL_TAGS[level],), category=category)
