"""Extraction of lasting facts from the turns of a session, stored as memories with their turns as sources."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread

from scrubjay.core.callers import OWNER
from scrubjay.core.errors import Cancelled, Conflict, ErrorRecord, InvalidRequest, NotFound, ScrubjayError
from scrubjay.core.lazy import lazy_module
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.derived import is_extracted, update_fields
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind, Wording
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.memory.writes import MemoryWrite, WriteOutcome
from scrubjay.features.summaries.models import GenerationMethod, PendingSession
from scrubjay.features.summaries.store import SummaryStore
from scrubjay.search_index.terms import query_terms

if TYPE_CHECKING:
    from scrubjay.features.facts import llm_facts, stated_facts
    from scrubjay.features.facts.llm_facts import LlmFactExtractor, TurnPart, TurnTranscript
    from scrubjay.features.facts.stated_facts import Statement
    from scrubjay.features.memory.ranking import selection
else:
    # These compile many patterns or import numpy, and are not needed at start.
    llm_facts = lazy_module("scrubjay.features.facts.llm_facts")
    stated_facts = lazy_module("scrubjay.features.facts.stated_facts")
    selection = lazy_module("scrubjay.features.memory.ranking.selection")

# Turns read and stored in one step.
BATCH_TURNS: Final = 200
# A fact is more important than the turn that states it (0.5).
IMPORTANCE: Final = 0.6
# Maximum number of turns recorded as sources of a fact.
MAX_RECORDED_TURNS: Final = 50
MAX_SIMILAR: Final = 20
# Client name of the idempotency keys.
CLIENT: Final = "extraction"
# Key in the details of a turn that has been read; its value is the method.
FACTS_READ_DETAIL: Final = "factsTaken"
FACT_KINDS: Final = (MemoryKind.GENERAL, MemoryKind.PREFERENCE, MemoryKind.DECISION, MemoryKind.CONTEXT)

ProgressCallback = Callable[[int, int], Awaitable[None]]
"""Called with the number of turns read and their total; may raise `Cancelled`."""


@dataclass(slots=True)
class FactExtraction:
    """Result of extracting facts from the turns of a session."""

    turns: int = 0
    """Number of turns read, without those that had been read before."""
    stored: list[WriteOutcome] = field(default_factory=list[WriteOutcome])
    restated: list[str] = field(default_factory=list[str])
    """Ids of stored facts that the turns state again."""
    dropped: int = 0
    """Number of facts that no turn supports or that the secrets policy refused."""
    method: GenerationMethod = GenerationMethod.EXTRACTIVE
    problem: ErrorRecord | None = None
    """Why the language model failed and rules were used; None if it did not."""


class FactExtractor:
    """Reads each turn once, with a language model if there is one, else by rules."""

    def __init__(
        self,
        sessions: SummaryStore,
        store: MemoryStore,
        memories: MemoryService,
        llm: "LlmFactExtractor | None" = None,
    ) -> None:
        self._sessions = sessions
        self._store = store
        self._memories = memories
        self._llm = llm

    async def extract_session(
        self, session_id: str, visibility: Visibility, provenance: Mapping[str, Any], step: ProgressCallback
    ) -> FactExtraction:
        """Extract the facts of this session's unread turns. Raises `NotFound` if the session has no visible turns."""
        found = await self._sessions.session(visibility, session_id)
        if not found:
            raise NotFound(
                f"session {session_id[:80]!r} has no turns here",
                hint="store turns with add_memory; for a session of another project, set that project first",
            )
        done = FactExtraction()
        for session in found:
            await self.extract(session, provenance, step, done)
        return done

    async def extract(
        self,
        session: PendingSession,
        provenance: Mapping[str, Any],
        step: ProgressCallback,
        done: FactExtraction | None = None,
    ) -> FactExtraction:
        """Extract the facts of a session in one scope, and add the result to `done` if it is given.

        Turns are marked as read after their facts are durable. If the process dies in between, the next run reads the
        turns again and finds their facts stored, so nothing is stored twice.
        """
        done = done or FactExtraction()
        turns = await self._unread(session)
        for begin in range(0, len(turns), BATCH_TURNS):
            await step(begin, len(turns))
            some = turns[begin : begin + BATCH_TURNS]
            await self._extract_batch(session, some, provenance, done)
            done.turns += len(some)
        return done

    async def _unread(self, session: PendingSession) -> list[Memory]:
        turns = MemoryFilter(scope=session.scope, from_session=session.name, kinds=(MemoryKind.TURN,))
        visibility, unread, offset = _audience(session), list[Memory](), 0
        while True:
            page = await self._memories.page(visibility, turns, newest_first=False, limit=BATCH_TURNS, offset=offset)
            unread += [turn for turn in page.memories if FACTS_READ_DETAIL not in turn.details]
            offset += len(page.memories)
            if not page.memories or offset >= page.total:
                return unread

    async def _extract_batch(
        self, session: PendingSession, turns: Sequence[Memory], provenance: Mapping[str, Any], done: FactExtraction
    ) -> None:
        statements, origin = await self._find_statements(turns, done)
        sources = {**provenance, **origin}
        new, known = await self._deduplicate(session, turns, statements)
        drafts = [_draft(session, turns, fact, sources) for fact in new]
        if drafts:
            outcomes, refused = await self._store_drafts(
                drafts, session.project_id, turns[-1].id, [turn.id for turn in turns]
            )
            done.stored += outcomes
            done.dropped += refused
        marks = [
            update_fields(turn, details={**turn.details, FACTS_READ_DETAIL: str(origin["method"])}) for turn in turns
        ]
        updates = [
            change for memory, indexes in known if (change := _add_sources(memory, [turns[index] for index in indexes]))
        ]
        try:
            await self._store.put([*updates, *marks])
        except Conflict:  # one of them was just erased; the next run reads the other turns again and finds their facts
            return
        done.restated += [update.memory.id for update in updates]

    async def _find_statements(
        self, turns: Sequence[Memory], done: FactExtraction
    ) -> tuple[Sequence[tuple[int, "Statement"]], dict[str, Any]]:
        """Return the statements with the indexes of their turns, and the provenance of the method."""
        transcripts = [_transcript(turn) for turn in turns]
        if self._llm is not None:
            try:
                found = await self._llm.extract(transcripts)
            except Cancelled:
                raise
            except ScrubjayError as error:
                done.problem = error.record
            else:
                done.method = GenerationMethod.LLM
                done.dropped += found.dropped
                return found.statements, {"method": GenerationMethod.LLM.value, "model": found.model}
        found = await anyio.to_thread.run_sync(_find_statements_by_rule, transcripts)
        return found, {"method": GenerationMethod.EXTRACTIVE.value}

    async def _deduplicate(
        self, session: PendingSession, turns: Sequence[Memory], statements: Sequence[tuple[int, "Statement"]]
    ) -> tuple[list["_NewFact"], list[tuple[Memory, list[int]]]]:
        """Return the new facts with all their turns, and the stored memories that are stated again."""
        have_same_words = selection.have_same_words
        new: list[_NewFact] = []
        known: dict[str, tuple[Memory, list[int]]] = {}
        for index, statement in statements:
            # Only the last statement about a subject counts, because a speaker may change their mind.
            rivals = [fact for fact in new if statement.subject and fact.statement.subject == statement.subject]
            others = rivals[-1:] if rivals else [fact for fact in new if fact.statement.subject == statement.subject]
            same = [fact for fact in others if have_same_words(fact.statement.text, statement.text)]
            if same:
                same[0].turns.append(index)
            elif not rivals and (memory := await self._find_stored(session, statement)) is not None:
                known.setdefault(memory.id, (memory, []))[1].append(index)
            else:
                new.append(_NewFact(statement, [index]))
        return new, list(known.values())

    async def _find_stored(self, session: PendingSession, statement: "Statement") -> Memory | None:
        """Return the valid memory with this content; None if there is none."""
        page = await self._memories.page(
            _audience(session),
            MemoryFilter(
                scope=session.scope,
                kinds=FACT_KINDS,
                containing=tuple((Wording((term,)),) for term in query_terms(statement.text)),
            ),
            newest_first=True,
            limit=MAX_SIMILAR,
            offset=0,
        )
        for memory in page.memories:
            is_by_speaker = memory.speaker in (None, statement.speaker)
            if is_by_speaker and selection.have_same_words(memory.content, statement.text):
                return memory
        return None

    async def _store_drafts(
        self, drafts: Sequence[Draft], project_id: str | None, key: str, turns: Sequence[str]
    ) -> tuple[Sequence[WriteOutcome], int]:
        """Store the drafts, and return the outcomes and the number of drafts that the secrets policy refused.

        Stores nothing if another process has just stored facts of the same turns, or if a turn was erased.
        """
        try:
            written = await self._memories.remember_once(drafts, project_id, CLIENT, key, source_ids=turns)
        except Conflict:
            return [], 0
        except InvalidRequest:
            if len(drafts) == 1:
                return [], 1
            single = [
                await self._store_drafts([draft], project_id, f"{key}/{number}", turns)
                for number, draft in enumerate(drafts)
            ]
            return [outcome for outcomes, _ in single for outcome in outcomes], sum(refused for _, refused in single)
        return written.outcomes or [], 0


@dataclass(slots=True)
class _NewFact:
    statement: "Statement"
    turns: list[int]
    """Indexes of the turns that state it."""


def _draft(session: PendingSession, turns: Sequence[Memory], fact: _NewFact, provenance: Mapping[str, Any]) -> Draft:
    statement, first = fact.statement, turns[fact.turns[0]]
    ids = list(dict.fromkeys(turns[index].id for index in fact.turns))
    return Draft(
        content=statement.text,
        scope=session.scope,
        session_id=session.name,
        category=statement.category,
        importance=IMPORTANCE,
        confidence=statement.confidence,
        speaker=statement.speaker,
        occurred_at=first.occurred_at or first.recorded_at,
        kind=statement.kind,
        provenance={**provenance, "from": ids[:MAX_RECORDED_TURNS]},
        subject=statement.subject,
        code_reader=OWNER,
    )


def _add_sources(memory: Memory, turns: Sequence[Memory]) -> MemoryWrite | None:
    """Return a write that adds the turns to the sources; None if nothing changes or it is no extracted fact."""
    known: list[str] = list(memory.provenance.get("from", ()))
    ids = list(dict.fromkeys([*known, *(turn.id for turn in turns)]))[:MAX_RECORDED_TURNS]
    if not is_extracted(memory) or ids == known:
        return None
    return update_fields(memory, provenance={**memory.provenance, "from": ids})


def _find_statements_by_rule(transcripts: Sequence["TurnTranscript"]) -> list[tuple[int, "Statement"]]:
    return [
        (index, statement)
        for index, turn in enumerate(transcripts)
        for speaker, text, is_agent in turn.parts
        for statement in stated_facts.find_statements(text, speaker=speaker, is_agent=is_agent)
    ]


def _transcript(turn: Memory) -> "TurnTranscript":
    """Return the prompt and the response of a turn with their speakers, without the agent's thought."""
    details = turn.details
    if "prompt" not in details and "response" not in details:  # not stored by add_memory
        speaker = turn.speaker or stated_facts.AGENT
        return llm_facts.TurnTranscript(parts=(_part(speaker, turn.content),))
    # The prompt of a subagent comes from another agent.
    prompt = _part(turn.speaker or stated_facts.USER, str(details.get("prompt", "")))
    response = llm_facts.TurnPart(stated_facts.AGENT, str(details.get("response", "")), is_agent=True)
    return llm_facts.TurnTranscript(parts=tuple(part for part in (prompt, response) if part.text.strip()))


def _part(speaker: str, text: str) -> "TurnPart":
    return llm_facts.TurnPart(speaker, text, is_agent=speaker.casefold() in _AGENTS)


_AGENTS = frozenset(
    {"assistant", "agent", "ai", "bot", "model", "system", "tool", "claude", "gpt", "chatgpt", "gemini"}
)


def _audience(session: PendingSession) -> Visibility:
    """Return the visibility of the session's turns, which its facts share."""
    return Visibility(session.project_id, session.name if session.scope is Scope.SESSION else None)
