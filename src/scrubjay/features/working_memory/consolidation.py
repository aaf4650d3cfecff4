"""How what an agent has in mind becomes memories before it expires: each item once, and the same thing together."""

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Any, Final

import anyio.to_thread

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Busy, Conflict, InvalidRequest, ScrubjayError, SourceGone
from scrubjay.core.ids import new_id
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.derived import changed
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryWrite, Wording
from scrubjay.features.memory.service import INLINE_CHARACTERS, Draft, MemoryService
from scrubjay.features.working_memory.models import Candidate, Desk, Mark, WorkingItem
from scrubjay.features.working_memory.store import WorkingStore
from scrubjay.search_index.terms import question_terms

logger = logging.getLogger("scrubjay.features.memory")

# What expires within this time may not live until the next look is over.
AHEAD: Final = timedelta(seconds=40)
LEAST_AGE: Final = timedelta(seconds=30)
MOST_AT_ONCE: Final = 50
MOST_CONSIDERED: Final = 5_000
# Whoever has not finished a move by then is taken for dead; a move that is then carried out twice makes one memory.
MOVE_SECONDS: Final = 60.0
# A memory with so many words of an item, among the latest so many, is looked at: whether it says the same.
MOST_WORDS: Final = 30
MOST_ALIKE: Final = 20
# Of what is put again and again, so many items are noted.
MOST_NOTED: Final = 50
# In whose name moves are carried out.
CLIENT: Final = "consolidation"
_WORD: Final = re.compile(r"\w+")


class Reason(StrEnum):
    """Why an item was not moved."""

    TOO_YOUNG = "too_young"
    LOW_SCORE = "low_score"
    TOO_MANY = "too_many"
    MOVING = "moving"
    REFUSED = "refused"
    FAILED = "failed"


# Whoever expires with one of these has had its chance.
_FOR_GOOD = frozenset({Reason.LOW_SCORE, Reason.REFUSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Items that become, or have become, one memory."""

    id: str
    items: Sequence[WorkingItem]
    """The one whose text it is first, then those that say the same."""
    score: float
    """The best of theirs."""
    memory_id: str | None = None
    """None as long as it is only planned."""
    known: bool = False
    """Whether that memory was there, made of items that said the same before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptBack:
    """An item that was not moved, and why."""

    item: WorkingItem
    score: float
    reason: Reason
    about: str
    """The reason in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """What one run did, or would do."""

    moves: Sequence[Move]
    kept_back: Sequence[KeptBack]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tended:
    """What was done for the items of a desk."""

    memories: Mapping[str, str]
    """The memory that each moved item has become, by the ids."""
    given_up: frozenset[str]
    """The ids of items that will not become memories when they expire, though they are marked."""
    erased: int


class Consolidator:
    """Moves items of working memory to the memories. Any number of processes may do so at once."""

    def __init__(
        self,
        store: WorkingStore,
        memory: Callable[[], Awaitable[MemoryService]],
        *,
        threshold: float = 0.3,
        clock: Clock = system_clock,
    ) -> None:
        """The memory service is only asked for when there is something to keep."""
        self._store = store
        self._memory = memory
        self._clock = clock
        self.threshold = threshold

    async def tend(self, desk: Desk | None = None) -> Tended:
        """Move what is due, on one desk or on all, then erase what has expired."""
        memories: dict[str, str] = {}
        while True:
            done = await self.consolidate(desk)
            memories |= {item.id: move.memory_id for move in done.moves for item in move.items if move.memory_id}
            soon = self._clock() + AHEAD
            more = [one for one in done.kept_back if one.reason is Reason.TOO_MANY and one.item.expires_at <= soon]
            if not (more and done.moves):
                break
        given_up = frozenset(one.item.id for one in done.kept_back if one.reason in _FOR_GOOD)
        erased = await self._store.clear_expired(desk, self._clock(), given_up)
        return Tended(memories=memories, given_up=given_up, erased=erased)

    async def consolidate(self, desk: Desk | None, *, force: bool = False, dry_run: bool = False) -> Consolidation:
        """Move the best of what is marked and old enough, or about to expire; with `force` of all that is marked.

        A dry run does everything but this.
        """
        now = self._clock()
        candidates = await self._store.candidates(desk, MOST_CONSIDERED)
        plan = partial(self._plan, candidates, now, force)
        is_brief = sum(len(candidate.item.content) for candidate in candidates) <= INLINE_CHARACTERS
        moves, kept_back = plan() if is_brief else await anyio.to_thread.run_sync(plan)
        if dry_run:
            return Consolidation(moves=moves, kept_back=kept_back)
        wanted = {move.id: [item.id for item in move.items] for move in moves}
        begun = await self._store.begin_moves(wanted, now, now + timedelta(seconds=MOVE_SECONDS))
        done: list[Move] = []
        for move in moves:
            if move.id not in begun:
                kept_back += _all_kept_back(move, now, Reason.MOVING, "somebody else moves, marks or erases it")
                continue
            try:
                done.append(await self._carry_out(move))
            except ScrubjayError as error:
                await self._store.release_move(move.id)
                # A conflict: it was carried out with an item that somebody erased before the move was finished, and the
                # memory is forgotten. If an item was erased before it was carried out, that is done without it.
                refused = isinstance(error, (InvalidRequest, Conflict)) and not isinstance(error, SourceGone)
                reason = Reason.REFUSED if refused else Reason.FAILED
                kept_back += _all_kept_back(move, now, reason, error.message)
                logger.warning("an item did not become a memory", extra={"problem": error.message})
        if done:
            logger.info("consolidated", extra={"memories": len(done), "items": sum(len(one.items) for one in done)})
        return Consolidation(moves=done, kept_back=kept_back)

    def _plan(self, candidates: Iterable[Candidate], now: datetime, force: bool) -> tuple[list[Move], list[KeptBack]]:
        """What is to be moved together, and what is not; moves that were begun before stay as they were."""
        begun: dict[str, list[WorkingItem]] = {}
        fit: list[WorkingItem] = []
        kept_back: list[KeptBack] = []
        for candidate in candidates:
            item = candidate.item
            if candidate.moving_until is not None and candidate.moving_until > now:
                kept_back.append(_kept_back(item, now, Reason.MOVING, "it is becoming a memory at this moment"))
            elif candidate.move_id is not None:
                begun.setdefault(candidate.move_id, []).append(item)
            elif unfit := None if force else self._unfit(item, now):
                kept_back.append(unfit)
            else:
                fit.append(item)
        # What is about to expire comes first, because it has no other chance.
        fit.sort(key=lambda item: (item.expires_at > now + AHEAD, -score_of(item, now)))
        kept_back += [
            _kept_back(item, now, Reason.TOO_MANY, f"only the best {MOST_AT_ONCE} are moved at once")
            for item in fit[MOST_AT_ONCE:]
        ]
        groups = _together(fit[:MOST_AT_ONCE])
        kept_back = [one for one in kept_back if one.reason is Reason.MOVING or not _joins(one.item, groups)]
        moves = [_move(move_id, items, now) for move_id, items in begun.items()]
        return [*moves, *(_move(new_id("mov"), items, now) for items in groups)], kept_back

    def _unfit(self, item: WorkingItem, now: datetime) -> KeptBack | None:
        score = score_of(item, now)
        if item.mark is Mark.IMPORTANCE and score < self.threshold:
            return _kept_back(item, now, Reason.LOW_SCORE, f"its score {score:.2f} is below {self.threshold:g}")
        if now - item.created_at < LEAST_AGE and item.expires_at > now + AHEAD:
            return _kept_back(item, now, Reason.TOO_YOUNG, f"it is younger than {LEAST_AGE.seconds} s")
        return None

    async def _carry_out(self, move: Move) -> Move:
        """Keep the memory, unless whoever began this move has done so and did not live to tell.

        What a memory says already that was made of earlier items of the same session is only noted there.
        """
        memory = await self._memory()
        twin = await _twin(move, memory)
        if twin is None:
            made = [_draft(move.items)], move.items[0].desk.project_id, CLIENT, move.id
            written = await memory.remember_once(*made, made_of=[item.id for item in move.items])
            memory_id = written.receipts[0].id
        else:
            try:
                await memory.amend(_joined(move, twin))
            except Conflict as error:
                raise Busy("what it repeats was forgotten just now", hint="it is tried again") from error
            memory_id = twin.id
        await self._store.finish_move(move.id, memory_id)
        return replace(move, memory_id=memory_id, known=twin is not None)


def score_of(item: WorkingItem, now: datetime) -> float:
    """How much an item is worth keeping: important, often read, of many different words, and there for some time."""
    words = _WORD.findall(item.content.casefold())
    novelty = min(1.0, 1.2 * len(set(words)) / len(words)) if words else 0.0
    read = min(1.0, item.access_count / 10)
    age = min(1.0, max(0.0, (now - item.created_at).total_seconds()) / 300)
    return 0.4 * item.importance + 0.3 * read + 0.2 * novelty + 0.1 * age


def _together(items: Iterable[WorkingItem]) -> list[list[WorkingItem]]:
    """The items, those of one desk that say the same in one group; the first of each says what all of them say."""
    groups: list[list[WorkingItem]] = []
    for item in sorted(items, key=_most_words_first):
        if not _joins(item, groups):
            groups.append([item])
    return groups


def _joins(item: WorkingItem, groups: Iterable[list[WorkingItem]]) -> bool:
    """Whether there is a group that says what this item says, of which it is now one."""
    from scrubjay.features.memory.ranking.selection import represents

    for group in groups:
        if group[0].desk == item.desk and represents(group[0].content, item.content):
            group.append(item)
            return True
    return False


def _most_words_first(item: WorkingItem) -> tuple[int, datetime, str]:
    from scrubjay.features.memory.ranking.selection import bare_words

    return -len(bare_words(item.content)), item.created_at, item.id


def _move(move_id: str, items: Iterable[WorkingItem], now: datetime) -> Move:
    ordered = sorted(items, key=_most_words_first)
    return Move(id=move_id, items=ordered, score=max(score_of(item, now) for item in ordered))


def _kept_back(item: WorkingItem, now: datetime, reason: Reason, about: str) -> KeptBack:
    return KeptBack(item=item, score=score_of(item, now), reason=reason, about=about)


def _all_kept_back(move: Move, now: datetime, reason: Reason, about: str) -> list[KeptBack]:
    return [_kept_back(item, now, reason, about) for item in move.items]


def _draft(items: Sequence[WorkingItem]) -> Draft:
    """The memory that these items become: the text of the first, with the names of all."""
    first = items[0]
    return Draft(
        content=first.content,
        session_id=first.desk.session_id,
        importance=max(item.importance for item in items),
        metadata=dict(first.context),
        occurred_at=min(item.created_at for item in items),
        provenance={
            "source": first.source,
            "tool": first.tool_name,
            "client": first.client,
            "from": [item.id for item in items],
            "consolidated": [_origin(item, first.content) for item in items],
        },
    )


def _origin(item: WorkingItem, content: str) -> dict[str, Any]:
    """Where one of the items comes from, with its own text when that is another one."""
    origin: dict[str, Any] = {
        "id": item.id,
        "source": item.source,
        "tool": item.tool_name,
        "created_at": item.created_at.isoformat(),
        "importance": item.importance,
        "context": dict(item.context),
    }
    return origin if item.content == content else {**origin, "content": item.content}


async def _twin(move: Move, memory: MemoryService) -> Memory | None:
    """The memory that was made of items of the same session and says what all of these say."""
    from scrubjay.features.memory.ranking.selection import represents

    desk, text = move.items[0].desk, move.items[0].content
    words = question_terms(text)[:MOST_WORDS]
    page = await memory.page(
        Visibility(desk.project_id, desk.session_id),
        MemoryFilter(from_session=desk.session_id, containing=tuple((Wording((word,)),) for word in words)),
        newest_first=True,
        limit=MOST_ALIKE,
        offset=0,
    )
    for known in page.memories:
        if "consolidated" in known.provenance and all(represents(known.content, item.content) for item in move.items):
            return known
    return None


def _joined(move: Move, twin: Memory) -> list[MemoryWrite]:
    """The change by which a memory tells of these items too; none when it does."""
    origins: list[Mapping[str, Any]] = list(twin.provenance["consolidated"])
    told = {origin["id"] for origin in origins}
    new = [item for item in move.items if item.id not in told][: MOST_NOTED - len(origins)]
    if not new:
        return []
    origins += [_origin(item, twin.content) for item in new]
    noted = {**twin.provenance, "from": [origin["id"] for origin in origins], "consolidated": origins}
    importance = max(twin.importance, *(item.importance for item in new))
    change = changed(twin, provenance=noted, importance=importance)
    return [replace(change, made_of=tuple(item.id for item in new))]
