"""The outcome of a session: what another one needs to continue it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOutcome:
    """The parts of a session that matter to the next one, as quotations in their order."""

    title: str = ""
    """The request in at most ten words; empty if nothing was asked for."""
    request: Sequence[str] = ()
    decided: Sequence[str] = ()
    ended: Sequence[str] = ()
    """Results that hold at the end."""
    open: Sequence[str] = ()
    files: Sequence[str] = ()
    references: Sequence[str] = ()
    """Pull requests, issues and tickets."""

    @property
    def lines(self) -> Sequence[str]:
        """The parts as labelled lines."""
        parts = (
            ("Request", " ".join(self.request)),
            ("Decided", " ".join(self.decided)),
            ("Outcome", " ".join(self.ended)),
            ("Open", " ".join(self.open)),
            ("Files", ", ".join((*self.files, *self.references))),
        )
        return [f"{label}: {text}" for label, text in parts if text]


_PARTS = ("request", "decided", "ended", "open", "files", "references")


def outcome_details(outcome: SessionOutcome) -> dict[str, list[str]]:
    """Return an outcome as JSON data for the details of a summary."""
    return {part: list(getattr(outcome, part)) for part in _PARTS}


def outcome_from(details: Mapping[str, Any]) -> SessionOutcome | None:
    """Return the outcome stored in the details of a summary; None if it has none."""
    stored = details.get("outcome")
    if not isinstance(stored, Mapping):
        return None
    parts = cast(Mapping[str, Any], stored)
    texts = {part: tuple(map(str, parts.get(part) or ())) for part in _PARTS}
    return SessionOutcome(title=str(details.get("title", "")), **texts)
