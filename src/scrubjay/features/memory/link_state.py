"""What has become of code that a memory is about. Comparing them is for `staleness`."""

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice

from scrubjay.features.memory.links import CodeLink, CodeState

# Of a difference so much is told.
DIFF_LINES = 60
DIFF_CHARACTERS = 4_000


class Standing(StrEnum):
    """How the code of a link is now, compared with what it was."""

    CURRENT = "current"
    MOVED = "moved"
    """The same text, on other lines or in another file."""
    CHANGED = "changed"
    GONE = "gone"
    PENDING = "pending"
    """It was not looked up yet, because nothing is indexed there."""
    UNKNOWN = "unknown"
    """The repository is not on this machine, or not indexed any more."""


STALE = (Standing.CHANGED, Standing.GONE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A link, and what has become of its code."""

    link: CodeLink
    standing: Standing
    now: CodeState | None = None
    """The code as it is; None when it is gone or not known."""
    commit: str | None = None
    """The commit that is checked out now, where the code is not what it was."""

    @property
    def is_stale(self) -> bool:
        return self.standing in STALE

    def renewed(self) -> CodeLink | None:
        """The link to the code as it is; None when that is gone."""
        if self.standing is Standing.GONE:
            return None
        return self.link if self.now is None else replace(self.link, code=self.now)

    def diff(self) -> str | None:
        """What changed, in short, as a unified difference without secrets; None when what it was is not kept."""
        then, now = self.link.code, self.now
        if then is None or not then.text or (now is not None and not now.text):
            return None
        from difflib import unified_diff

        from scrubjay.core.secrets import masked

        label = f"{then.path}::{then.symbol}" if then.symbol else then.path
        lines = unified_diff(
            then.text.splitlines(), now.text.splitlines() if now else [], f"a/{label}", f"b/{label}", n=2, lineterm=""
        )
        shown = list(islice(lines, DIFF_LINES + 1))
        text = masked("\n".join(shown[:DIFF_LINES]))
        if len(shown) <= DIFF_LINES and len(text) <= DIFF_CHARACTERS:
            return text
        return f"{text[:DIFF_CHARACTERS].rstrip()}\n…"
