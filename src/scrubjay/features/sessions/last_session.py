"""How an earlier session ended and what it left open, from its summary or, without one, from its turns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio.to_thread

from scrubjay.core.lazy import lazy_module
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.summaries.models import KEY_PREFIXES, Level
from scrubjay.features.summaries.outcome import SessionOutcome, outcome_from

if TYPE_CHECKING:
    from scrubjay.features.summaries import selection
else:
    selection = lazy_module("scrubjay.features.summaries.selection")

# Turns that are read of a session without a summary: the first, and the latest.
LATEST_TURNS = 60
# Parts of an ending by their share of its characters. The open points come first: they matter most.
PARTS = (("open", "Open", 0.35), ("ended", "Outcome", 0.4), ("decided", "Decided", 0.25))
MAX_FILES = 6
MIN_CUT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnding:
    """What was asked for in a session, how it ended and what it left open."""

    title: str
    text: str = ""
    """Text of a summary that a language model wrote."""
    outcome: SessionOutcome

    def lines(self, characters: int) -> list[str]:
        """Return the ending as lines of about this many characters; of each part the latest statements are kept."""
        lines: list[str] = []
        if self.text:
            lines.append(f"- {shorten(self.text, characters // 2)}")
        spare = 0
        for part, label, share in PARTS:
            if self.text and part != "open":
                continue
            room = round(share * characters) + spare
            kept = _latest(getattr(self.outcome, part), room)
            spare = room - sum(len(text) + 1 for text in kept)
            if kept:
                lines.append(f"- {label}: {' '.join(kept)}")
        files = [*self.outcome.files[:MAX_FILES], *self.outcome.references[-MAX_FILES:]]
        if files:
            lines.append(f"- Files: {', '.join(files)}")
        return lines


class SessionEndings:
    """Reads how sessions ended."""

    def __init__(self, memories: MemoryStore) -> None:
        self._memories = memories

    async def read(self, visibility: Visibility, session_id: str) -> SessionEnding | None:
        """Return the ending of a session; None if it has neither a summary nor turns with content."""
        of_summary = MemoryFilter(key=KEY_PREFIXES[Level.SESSION] + session_id, kinds=(MemoryKind.SUMMARY,))
        of_turns = MemoryFilter(from_session=session_id, kinds=(MemoryKind.TURN,))
        summaries = await self._memories.find(visibility, of_summary, 1)
        latest = await self._memories.page(visibility, of_turns, newest_first=True, limit=LATEST_TURNS, offset=0)
        if summaries and _covers(summaries[0], latest.total):
            return _from_summary(summaries[0])
        turns = [*reversed(latest.memories)]
        if latest.total > len(turns):
            first = await self._memories.page(visibility, of_turns, newest_first=False, limit=1, offset=0)
            turns = [*first.memories, *turns]
        if not turns:
            return _from_summary(summaries[0]) if summaries else None
        outcome = await anyio.to_thread.run_sync(selection.extract_outcome, [prompt_and_response(one) for one in turns])
        return SessionEnding(title=outcome.title, outcome=outcome) if outcome.lines else None


def prompt_and_response(turn: Memory) -> tuple[str, str]:
    """Return the two texts of a turn; one that was not stored by `add_memory` has one of them."""
    if "prompt" in turn.details or "response" in turn.details:
        return str(turn.details.get("prompt", "")), str(turn.details.get("response", ""))
    is_prompt = (turn.speaker or "").casefold() in ("user", "human")
    return (turn.content, "") if is_prompt else ("", turn.content)


def _covers(summary: Memory, turns: int) -> bool:
    """Return False for a summary of a session that continued after it."""
    covered = summary.details.get("turns", summary.details.get("memoryCount", turns))
    return not isinstance(covered, int) or covered >= turns


def _from_summary(summary: Memory) -> SessionEnding:
    details = summary.details
    title = str(details.get("title") or summary.content.split("\n\n", 1)[0])
    outcome = outcome_from(details)
    if outcome is not None and details.get("method") == "extractive":
        return SessionEnding(title=title, outcome=outcome)
    text = str(details.get("summary") or summary.content.removeprefix(title)).strip()
    return SessionEnding(title=title, text=text, outcome=outcome or SessionOutcome())


def _latest(texts: Sequence[str], characters: int) -> list[str]:
    """Return the last of these texts that fit, the only one shortened."""
    kept: list[str] = []
    for text in reversed(texts):
        if len(text) + 1 > characters:
            if not kept and characters >= MIN_CUT:
                kept.append(shorten(text, characters))
            break
        kept.append(text)
        characters -= len(text) + 1
    return kept[::-1]


def shorten(text: str, characters: int) -> str:
    """Return the text on one line, truncated to this many characters."""
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()}\u2026"
