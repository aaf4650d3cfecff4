"""Consolidation of working-memory items into memories before they expire: each item once, duplicates together."""

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread

from scrubjay.core.callers import OWNER
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Busy, Conflict, InvalidRequest, ScrubjayError, SourceGone
from scrubjay.core.ids import new_id
from scrubjay.core.lazy import lazy_module
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.derived import update_fields
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.models import Memory, MemoryFilter, Wording
from scrubjay.features.memory.service import INLINE_CHARACTERS, MemoryService
from scrubjay.features.memory.writes import MemoryWrite
from scrubjay.features.working_memory.models import ConsolidationCandidate, ConsolidationMark, WorkingItem, WorkingScope
from scrubjay.features.working_memory.store import WorkingStore
from scrubjay.search_index.terms import query_terms

if TYPE_CHECKING:
    from scrubjay.features.memory.ranking import selection
else:
    selection = lazy_module("scrubjay.features.memory.ranking.selection")

logger = logging.getLogger("scrubjay.features.memory")

# An item that expires within this time may not survive until the next run has finished.
LOOKAHEAD: Final = timedelta(seconds=40)
MIN_AGE: Final = timedelta(seconds=30)
MAX_MOVES: Final = 50
MAX_CANDIDATES: Final = 5_000
# Lease of a move. A process that has not finished by then is considered dead; a move done twice makes one memory.
MOVE_SECONDS: Final = 60.0
# Search for an existing memory with the same content: at most this many words of the item, this many newest memories.
MAX_QUERY_WORDS: Final = 30
MAX_SIMILAR: Final = 20
# Maximum number of source items recorded in one memory.
MAX_RECORDED_SOURCES: Final = 50
# Client name recorded for moves.
CLIENT: Final = "consolidation"
_WORD: Final = re.compile(r"\w+")


class SkipReason(StrEnum):
    """Why an item was not moved."""

    TOO_YOUNG = "too_young"
    LOW_SCORE = "low_score"
    TOO_MANY = "too_many"
    MOVING = "moving"
    REFUSED = "refused"
    FAILED = "failed"


# Reasons that are final: an item with one of these is dropped when it expires.
_FINAL_REASONS = frozenset({SkipReason.LOW_SCORE, SkipReason.REFUSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Items that are consolidated into one memory."""

    id: str
    items: Sequence[WorkingItem]
    """The item whose text the memory has, then its duplicates."""
    score: float
    """Best score of the items, 0 to 1."""
    memory_id: str | None = None
    """None while the move is only planned."""
    known: bool = False
    """True if the memory existed, made of earlier items with the same content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedItem:
    """An item that was not moved, with the reason."""

    item: WorkingItem
    score: float
    reason: SkipReason
    explanation: str
    """Description of the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """Result of one run, or of a dry run."""

    moves: Sequence[Move]
    skipped: Sequence[SkippedItem]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """Result of consolidating and expiring the items of a scope."""

    memories: Mapping[str, str]
    """Maps the id of each consolidated item to the id of its memory."""
    dropped: frozenset[str]
    """Ids of marked items that will not become memories."""
    erased: int


class Consolidator:
    """Consolidates working memory into memories. Safe to run in several processes at once."""

    def __init__(
        self,
        store: WorkingStore,
        memory: Callable[[], Awaitable[MemoryService]],
        *,
        threshold: float = 0.3,
        clock: Clock = system_clock,
    ) -> None:
        """Create a consolidator. `memory` is called only when there is something to store."""
        self._store = store
        self._memory = memory
        self._clock = clock
        self.threshold = threshold

    async def sweep(self, scope: WorkingScope | None = None) -> SweepResult:
        """Consolidate due items of one scope, or of all, then delete expired items."""
        memories: dict[str, str] = {}
        while True:
            done = await self.consolidate(scope)
            memories |= {item.id: move.memory_id for move in done.moves for item in move.items if move.memory_id}
            soon = self._clock() + LOOKAHEAD
            more = [one for one in done.skipped if one.reason is SkipReason.TOO_MANY and one.item.expires_at <= soon]
            if not (more and done.moves):
                break
        dropped = frozenset(one.item.id for one in done.skipped if one.reason in _FINAL_REASONS)
        erased = await self._store.clear_expired(scope, self._clock(), dropped)
        return SweepResult(memories=memories, dropped=dropped, erased=erased)

    async def consolidate(
        self, scope: WorkingScope | None, *, force: bool = False, dry_run: bool = False
    ) -> Consolidation:
        """Consolidate the best marked items that are old enough or about to expire; with `force`, all marked items.

        A dry run only plans.
        """
        now = self._clock()
        candidates = await self._store.candidates(scope, MAX_CANDIDATES)
        plan = partial(self._plan, candidates, now, force)
        is_brief = sum(len(candidate.item.content) for candidate in candidates) <= INLINE_CHARACTERS
        moves, skipped = plan() if is_brief else await anyio.to_thread.run_sync(plan)
        if dry_run:
            return Consolidation(moves=moves, skipped=skipped)
        wanted = {move.id: [item.id for item in move.items] for move in moves}
        started = await self._store.begin_moves(wanted, now, now + timedelta(seconds=MOVE_SECONDS))
        done: list[Move] = []
        for move in moves:
            if move.id not in started:
                skipped += _skip_all(move, now, SkipReason.MOVING, "another process moves, marks or deletes it")
                continue
            try:
                done.append(await self._execute(move))
            except ScrubjayError as error:
                await self._store.release_move(move.id)
                # Conflict: an item was deleted between writing the memory and finishing the move, so the memory was
                # erased. SourceGone: an item was deleted before the write.
                refused = isinstance(error, (InvalidRequest, Conflict)) and not isinstance(error, SourceGone)
                reason = SkipReason.REFUSED if refused else SkipReason.FAILED
                skipped += _skip_all(move, now, reason, error.message)
                logger.warning("consolidation of an item failed", extra={"problem": error.message})
        if done:
            logger.info("consolidated", extra={"memories": len(done), "items": sum(len(one.items) for one in done)})
        return Consolidation(moves=done, skipped=skipped)

    def _plan(
        self, candidates: Iterable[ConsolidationCandidate], now: datetime, force: bool
    ) -> tuple[list[Move], list[SkippedItem]]:
        """Return the planned moves and the skipped items; moves started earlier are not changed."""
        started: dict[str, list[WorkingItem]] = {}
        eligible: list[WorkingItem] = []
        skipped: list[SkippedItem] = []
        for candidate in candidates:
            item = candidate.item
            if candidate.moving_until is not None and candidate.moving_until > now:
                skipped.append(_skip(item, now, SkipReason.MOVING, "it is being consolidated"))
            elif candidate.move_id is not None:
                started.setdefault(candidate.move_id, []).append(item)
            elif skip := None if force else self._skip_reason(item, now):
                skipped.append(skip)
            else:
                eligible.append(item)
        # Items about to expire come first: there is no later run for them.
        eligible.sort(key=lambda item: (item.expires_at > now + LOOKAHEAD, -consolidation_score(item, now)))
        skipped += [
            _skip(item, now, SkipReason.TOO_MANY, f"only the best {MAX_MOVES} are moved at once")
            for item in eligible[MAX_MOVES:]
        ]
        groups = _group_duplicates(eligible[:MAX_MOVES])
        skipped = [one for one in skipped if one.reason is SkipReason.MOVING or not _add_to_group(one.item, groups)]
        moves = [_make_move(move_id, items, now) for move_id, items in started.items()]
        return [*moves, *(_make_move(new_id("mov"), items, now) for items in groups)], skipped

    def _skip_reason(self, item: WorkingItem, now: datetime) -> SkippedItem | None:
        score = consolidation_score(item, now)
        if item.mark is ConsolidationMark.IMPORTANCE and score < self.threshold:
            return _skip(item, now, SkipReason.LOW_SCORE, f"its score {score:.2f} is below {self.threshold:g}")
        if now - item.created_at < MIN_AGE and item.expires_at > now + LOOKAHEAD:
            return _skip(item, now, SkipReason.TOO_YOUNG, f"it is younger than {MIN_AGE.seconds} s")
        return None

    async def _execute(self, move: Move) -> Move:
        """Store the memory, unless an interrupted earlier attempt has stored it.

        If a memory made of earlier items of the session has the same content, only add the items to its sources.
        """
        memory = await self._memory()
        duplicate = await _find_duplicate(move, memory)
        if duplicate is None:
            made = [_draft(move.items)], move.items[0].scope.project_id, CLIENT, move.id
            written = await memory.remember_once(*made, source_ids=[item.id for item in move.items])
            memory_id = written.receipts[0].id
        else:
            try:
                await memory.amend(_add_sources(move, duplicate))
            except Conflict as error:
                raise Busy("the memory it duplicates was just erased", hint="the next run tries again") from error
            memory_id = duplicate.id
        await self._store.finish_move(move.id, memory_id)
        return replace(move, memory_id=memory_id, known=duplicate is not None)


def consolidation_score(item: WorkingItem, now: datetime) -> float:
    """Return the consolidation score, 0 to 1: importance, reads, distinct words and age."""
    words = _WORD.findall(item.content.casefold())
    novelty = min(1.0, 1.2 * len(set(words)) / len(words)) if words else 0.0
    read = min(1.0, item.access_count / 10)
    age = min(1.0, max(0.0, (now - item.created_at).total_seconds()) / 300)
    return 0.4 * item.importance + 0.3 * read + 0.2 * novelty + 0.1 * age


def _group_duplicates(items: Iterable[WorkingItem]) -> list[list[WorkingItem]]:
    """Group duplicate items of a scope; the first item of a group covers the content of the others."""
    groups: list[list[WorkingItem]] = []
    for item in sorted(items, key=_most_words_first):
        if not _add_to_group(item, groups):
            groups.append([item])
    return groups


def _add_to_group(item: WorkingItem, groups: Iterable[list[WorkingItem]]) -> bool:
    """Add the item to the group that covers its content; return False if there is none."""
    for group in groups:
        if group[0].scope == item.scope and selection.covers_text(group[0].content, item.content):
            group.append(item)
            return True
    return False


def _most_words_first(item: WorkingItem) -> tuple[int, datetime, str]:
    return -len(selection.bare_words(item.content)), item.created_at, item.id


def _make_move(move_id: str, items: Iterable[WorkingItem], now: datetime) -> Move:
    ordered = sorted(items, key=_most_words_first)
    return Move(id=move_id, items=ordered, score=max(consolidation_score(item, now) for item in ordered))


def _skip(item: WorkingItem, now: datetime, reason: SkipReason, about: str) -> SkippedItem:
    return SkippedItem(item=item, score=consolidation_score(item, now), reason=reason, explanation=about)


def _skip_all(move: Move, now: datetime, reason: SkipReason, about: str) -> list[SkippedItem]:
    return [_skip(item, now, reason, about) for item in move.items]


def _draft(items: Sequence[WorkingItem]) -> Draft:
    """Return the draft of a memory: text of the first item, all items as sources."""
    first = items[0]
    return Draft(
        content=first.content,
        session_id=first.scope.session_id,
        importance=max(item.importance for item in items),
        metadata=dict(first.context),
        occurred_at=min(item.created_at for item in items),
        code_reader=OWNER,
        provenance={
            "source": first.source,
            "tool": first.tool_name,
            "client": first.client,
            "from": [item.id for item in items],
            "consolidated": [_origin(item, first.content) for item in items],
        },
    )


def _origin(item: WorkingItem, content: str) -> dict[str, Any]:
    """Return the origin of an item, with its text if that differs from `content`."""
    origin: dict[str, Any] = {
        "id": item.id,
        "source": item.source,
        "tool": item.tool_name,
        "created_at": item.created_at.isoformat(),
        "importance": item.importance,
        "context": dict(item.context),
    }
    return origin if item.content == content else {**origin, "content": item.content}


async def _find_duplicate(move: Move, memory: MemoryService) -> Memory | None:
    """Return a memory consolidated in the same session that covers the content of all items."""
    scope, text = move.items[0].scope, move.items[0].content
    words = query_terms(text)[:MAX_QUERY_WORDS]
    page = await memory.page(
        Visibility(scope.project_id, scope.session_id),
        MemoryFilter(from_session=scope.session_id, containing=tuple((Wording((word,)),) for word in words)),
        newest_first=True,
        limit=MAX_SIMILAR,
        offset=0,
    )
    for known in page.memories:
        if "consolidated" in known.provenance and all(
            selection.covers_text(known.content, item.content) for item in move.items
        ):
            return known
    return None


def _add_sources(move: Move, duplicate: Memory) -> list[MemoryWrite]:
    """Return the write that adds the items to the sources of a memory; empty if they are recorded."""
    origins: list[Mapping[str, Any]] = list(duplicate.provenance["consolidated"])
    recorded = {origin["id"] for origin in origins}
    new = [item for item in move.items if item.id not in recorded][: MAX_RECORDED_SOURCES - len(origins)]
    if not new:
        return []
    origins += [_origin(item, duplicate.content) for item in new]
    noted = {**duplicate.provenance, "from": [origin["id"] for origin in origins], "consolidated": origins}
    importance = max(duplicate.importance, *(item.importance for item in new))
    change = update_fields(duplicate, provenance=noted, importance=importance)
    return [replace(change, source_ids=tuple(item.id for item in new))]
