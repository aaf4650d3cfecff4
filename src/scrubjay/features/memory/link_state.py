"""State of linked code compared with its state when the memory was written or confirmed."""

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from scrubjay.core.lazy import lazy_module
from scrubjay.core.secrets import masked
from scrubjay.features.memory.links import CodeLink, CodeState

if TYPE_CHECKING:
    import difflib
else:
    # Needed only for the diff of a stale memory.
    difflib = lazy_module("difflib")

# Limits of a shown diff.
DIFF_LINES = 60
DIFF_CHARACTERS = 4_000


class CodeLinkStatus(StrEnum):
    """Current state of linked code, compared with its earlier state."""

    CURRENT = "current"
    MOVED = "moved"
    """The text is unchanged, on other lines or in another file."""
    CHANGED = "changed"
    GONE = "gone"
    PENDING = "pending"
    """Not resolved yet, because the repository is not indexed."""
    UNKNOWN = "unknown"
    """The repository is not on this machine or is no longer indexed."""


STALE_STATUSES = (CodeLinkStatus.CHANGED, CodeLinkStatus.GONE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A link with the current state of its code."""

    link: CodeLink
    status: CodeLinkStatus
    current: CodeState | None = None
    """Current code; None if it is gone or unknown."""
    commit: str | None = None
    """Commit that is checked out now, if the code has changed."""

    @property
    def is_stale(self) -> bool:
        return self.status in STALE_STATUSES

    def relinked(self) -> CodeLink | None:
        """Return the link to the current code; None if that is gone."""
        if self.status is CodeLinkStatus.GONE:
            return None
        return self.link if self.current is None else replace(self.link, code=self.current)

    def diff(self) -> str | None:
        """Return a shortened unified diff without secrets; None if the earlier text is not stored."""
        then, now = self.link.code, self.current
        if then is None or not then.text or (now is not None and not now.text):
            return None
        label = f"{then.path}::{then.symbol}" if then.symbol else then.path
        lines = difflib.unified_diff(
            then.text.splitlines(), now.text.splitlines() if now else [], f"a/{label}", f"b/{label}", n=2, lineterm=""
        )
        shown = list(islice(lines, DIFF_LINES + 1))
        text = masked("\n".join(shown[:DIFF_LINES]))
        if len(shown) <= DIFF_LINES and len(text) <= DIFF_CHARACTERS:
            return text
        return f"{text[:DIFF_CHARACTERS].rstrip()}\n…"
