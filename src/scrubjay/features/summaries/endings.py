"""How a session ended and what it left open, in a few lines. Imports little, as hooks use it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scrubjay.features.summaries.outcome import SessionOutcome, outcome_from

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
        """Return the ending as lines of about this many characters; of each part the latest utterances are kept."""
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


def ending_of_summary(content: str, details: Mapping[str, Any]) -> SessionEnding:
    """Return the ending that a summary states, given its content and details as a memory."""
    title = str(details.get("title") or content.split("\n\n", 1)[0])
    outcome = outcome_from(details)
    if outcome is not None and details.get("method") == "extractive":
        return SessionEnding(title=title, outcome=outcome)
    text = str(details.get("summary") or content.removeprefix(title)).strip()
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
