"""Lasting facts taken out of the turns of a session and kept as memories that tell which turns they come from."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread

from scrubjay.core.errors import Cancelled, Conflict, ErrorRecord, InvalidRequest, NotFound, ScrubjayError
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.derived import changed, is_extracted
from scrubjay.features.memory.models import Kind, Memory, MemoryFilter, MemoryWrite, Wording, WriteOutcome
from scrubjay.features.memory.service import Draft, MemoryService
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.summaries.models import Method, SessionToSummarise
from scrubjay.features.summaries.store import SummaryStore
from scrubjay.search_index.terms import question_terms

if TYPE_CHECKING:
    from scrubjay.features.facts.llm_facts import FactReader, Said
    from scrubjay.features.facts.stated_facts import Statement

# So many turns are read, and what they state is kept, in one step.
TURNS_AT_ONCE: Final = 200
# What was stated is worth more than the turn around it.
IMPORTANCE: Final = 0.6
# Of a fact that is stated again and again, so many turns are noted.
MOST_NOTED: Final = 50
MOST_ALIKE: Final = 20
# In whose name facts are kept once.
CLIENT: Final = "extraction"
# What a turn's details have when its facts have been taken out: by which method.
TAKEN: Final = "factsTaken"
FACT_KINDS: Final = (Kind.GENERAL, Kind.PREFERENCE, Kind.DECISION, Kind.CONTEXT)

Step = Callable[[int, int], Awaitable[None]]
"""Told how many turns have been read and how many there are; may raise `Cancelled`."""


@dataclass(slots=True)
class Extraction:
    """What became of the turns of a session."""

    turns: int = 0
    """How many were read; those whose facts had been taken out before were not."""
    stored: list[WriteOutcome] = field(default_factory=list[WriteOutcome])
    noted: list[str] = field(default_factory=list[str])
    """The ids of facts that were known, and stated again."""
    dropped: int = 0
    """What a language model named without words that bear it out, or what may not be kept."""
    method: Method = Method.EXTRACTIVE
    problem: ErrorRecord | None = None
    """Why the language model was not heard, if it should have been."""


class FactExtractor:
    """Reads each turn once: by a language model where there is one, else by rules that take only people's own words."""

    def __init__(
        self, sessions: SummaryStore, kept: MemoryStore, memories: MemoryService, reader: "FactReader | None" = None
    ) -> None:
        self._sessions = sessions
        self._kept = kept
        self._memories = memories
        self._reader = reader

    async def extract_session(
        self, session_id: str, visibility: Visibility, provenance: Mapping[str, Any], step: Step
    ) -> Extraction:
        """Take the facts out of this session's turns that have not been read yet."""
        found = await self._sessions.session(visibility, session_id)
        if not found:
            raise NotFound(
                f"there are no turns of a session {session_id[:80]!r} here",
                hint="add_memory keeps turns; the facts of another project's session can only be taken out there",
            )
        done = Extraction()
        for session in found:
            await self.extract(session, provenance, step, done)
        return done

    async def extract(
        self, session: SessionToSummarise, provenance: Mapping[str, Any], step: Step, done: Extraction | None = None
    ) -> Extraction:
        """The same for a session of one scope; what was done is added to what is given.

        Turns are marked as read after their facts are durable. Whoever dies in between has their facts found as known
        by the next one, so that nothing is kept twice.
        """
        done = done or Extraction()
        turns = await self._unread(session)
        for begin in range(0, len(turns), TURNS_AT_ONCE):
            await step(begin, len(turns))
            some = turns[begin : begin + TURNS_AT_ONCE]
            await self._take(session, some, provenance, done)
            done.turns += len(some)
        return done

    async def _unread(self, session: SessionToSummarise) -> list[Memory]:
        only = MemoryFilter(scope=session.scope, from_session=session.name, kinds=(Kind.TURN,))
        visibility, unread, offset = _audience(session), list[Memory](), 0
        while True:
            page = await self._memories.page(visibility, only, newest_first=False, limit=TURNS_AT_ONCE, offset=offset)
            unread += [turn for turn in page.memories if TAKEN not in turn.details]
            offset += len(page.memories)
            if not page.memories or offset >= page.total:
                return unread

    async def _take(
        self, session: SessionToSummarise, turns: Sequence[Memory], provenance: Mapping[str, Any], done: Extraction
    ) -> None:
        statements, origin = await self._read(turns, done)
        sources = {**provenance, **origin}
        new, known = await self._sorted_out(session, turns, statements)
        drafts = [_draft(session, turns, fact, sources) for fact in new]
        if drafts:
            outcomes, refused = await self._keep(drafts, session.project_id, turns[-1].id, [turn.id for turn in turns])
            done.stored += outcomes
            done.dropped += refused
        marks = [changed(turn, details={**turn.details, TAKEN: str(origin["method"])}) for turn in turns]
        notes = [change for memory, places in known if (change := _noted(memory, [turns[one] for one in places]))]
        try:
            await self._kept.put([*notes, *marks])
        except Conflict:  # one of them was forgotten meanwhile; the others are read again next time, and known then
            return
        done.noted += [note.memory.id for note in notes]

    async def _read(
        self, turns: Sequence[Memory], done: Extraction
    ) -> tuple[Sequence[tuple[int, "Statement"]], dict[str, Any]]:
        """What the turns state, each with the place of its turn, and by which method it was found."""
        said = [_said(turn) for turn in turns]
        if self._reader is not None:
            try:
                read = await self._reader.read(said)
            except Cancelled:
                raise
            except ScrubjayError as error:
                done.problem = error.record
            else:
                done.method = Method.LLM
                done.dropped += read.dropped
                return read.statements, {"method": Method.LLM.value, "model": read.model}
        return await anyio.to_thread.run_sync(_stated, said), {"method": Method.EXTRACTIVE.value}

    async def _sorted_out(
        self, session: SessionToSummarise, turns: Sequence[Memory], statements: Sequence[tuple[int, "Statement"]]
    ) -> tuple[list["_Fact"], list[tuple[Memory, list[int]]]]:
        """What is new, each thing once with all its turns, and the memories that were stated again."""
        from scrubjay.features.memory.ranking.selection import almost_the_same_words

        new: list[_Fact] = []
        known: dict[str, tuple[Memory, list[int]]] = {}
        for place, statement in statements:
            # Of one subject only the last statement counts: who changes their mind twice is where they began.
            rivals = [fact for fact in new if statement.subject and fact.statement.subject == statement.subject]
            others = rivals[-1:] if rivals else [fact for fact in new if fact.statement.subject == statement.subject]
            same = [fact for fact in others if almost_the_same_words(fact.statement.text, statement.text)]
            if same:
                same[0].places.append(place)
            elif not rivals and (memory := await self._held(session, statement)) is not None:
                known.setdefault(memory.id, (memory, []))[1].append(place)
            else:
                new.append(_Fact(statement, [place]))
        return new, list(known.values())

    async def _held(self, session: SessionToSummarise, statement: "Statement") -> Memory | None:
        """The memory that is held true and says this already."""
        from scrubjay.features.memory.ranking.selection import almost_the_same_words

        page = await self._memories.page(
            _audience(session),
            MemoryFilter(
                scope=session.scope,
                kinds=FACT_KINDS,
                containing=tuple((Wording((term,)),) for term in question_terms(statement.text)),
            ),
            newest_first=True,
            limit=MOST_ALIKE,
            offset=0,
        )
        for memory in page.memories:
            if memory.speaker in (None, statement.speaker) and almost_the_same_words(memory.content, statement.text):
                return memory
        return None

    async def _keep(
        self, drafts: Sequence[Draft], project_id: str | None, key: str, turns: Sequence[str]
    ) -> tuple[Sequence[WriteOutcome], int]:
        """Keep these, unless somebody else has kept those of the same turns just now, or forgotten one of the turns.

        Also how many may not be kept.
        """
        try:
            written = await self._memories.remember_once(drafts, project_id, CLIENT, key, made_of=turns)
        except Conflict:
            return [], 0
        except InvalidRequest:
            if len(drafts) == 1:
                return [], 1
            alone = [await self._keep([one], project_id, f"{key}/{place}", turns) for place, one in enumerate(drafts)]
            return [outcome for outcomes, _ in alone for outcome in outcomes], sum(refused for _, refused in alone)
        return written.outcomes or [], 0


@dataclass(slots=True)
class _Fact:
    statement: "Statement"
    places: list[int]
    """Of the turns that state it."""


def _draft(session: SessionToSummarise, turns: Sequence[Memory], fact: _Fact, provenance: Mapping[str, Any]) -> Draft:
    statement, first = fact.statement, turns[fact.places[0]]
    ids = list(dict.fromkeys(turns[place].id for place in fact.places))
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
        provenance={**provenance, "from": ids[:MOST_NOTED]},
        subject=statement.subject,
    )


def _noted(memory: Memory, turns: Sequence[Memory]) -> MemoryWrite | None:
    """That these turns state it too; None when that is known, or when it is no extracted fact."""
    known: list[str] = list(memory.provenance.get("from", ()))
    ids = list(dict.fromkeys([*known, *(turn.id for turn in turns)]))[:MOST_NOTED]
    if not is_extracted(memory) or ids == known:
        return None
    return changed(memory, provenance={**memory.provenance, "from": ids})


def _stated(said: Sequence["Said"]) -> list[tuple[int, "Statement"]]:
    from scrubjay.features.facts.stated_facts import statements_in

    return [
        (place, statement)
        for place, turn in enumerate(said)
        for speaker, text, is_agent in turn.parts
        for statement in statements_in(text, speaker=speaker, is_agent=is_agent)
    ]


def _said(turn: Memory) -> "Said":
    """Who said what; what an agent thought is nobody's word."""
    from scrubjay.features.facts.llm_facts import Said
    from scrubjay.features.facts.stated_facts import AGENT, USER

    details, speaker = turn.details, turn.speaker
    if "prompt" not in details and "response" not in details:  # kept by something else than add_memory
        is_agent = (speaker or AGENT).casefold() in _AGENTS
        return Said(parts=((speaker or AGENT, turn.content, is_agent),))
    asked, answered = str(details.get("prompt", "")), str(details.get("response", ""))
    # What a helper is asked by another agent is nobody's own word either.
    parts = ((speaker or USER, asked, (speaker or USER).casefold() in _AGENTS), (AGENT, answered, True))
    return Said(parts=tuple(part for part in parts if part[1].strip()))


_AGENTS = frozenset(
    {"assistant", "agent", "ai", "bot", "model", "system", "tool", "claude", "gpt", "chatgpt", "gemini"}
)


def _audience(session: SessionToSummarise) -> Visibility:
    """Those who see the turns, and no more than they."""
    return Visibility(session.project_id, session.name if session.scope is Scope.SESSION else None)
