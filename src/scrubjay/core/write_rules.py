"""What the operator decides about all that is kept, as far as what is no memory must heed it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from scrubjay.core.policies import Allowance


class Guarded(Protocol):
    """A text that may be kept."""

    @property
    def text(self) -> str: ...

    @property
    def masked(self) -> Sequence[str]:
        """The kinds of the secrets that a mark stands for now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingRules:
    """The same rules that memories are written by; no caller can choose others."""

    guard: Callable[[str], Guarded]
    """What may be kept of a text; `InvalidRequest` when nothing of it may."""
    guard_data: Callable[[Mapping[str, Any]], dict[str, Any]]
    """The same for what has names: what stands under a telling one is a secret."""
    admit: Callable[[str | None], None]
    """Count one write of a client; `RateLimited` when there were too many of late."""
    allowance: Callable[[str | None], Allowance | None]
    """How much may be kept of a client; None for as much as it likes."""


class Writing:
    """One write of a client: what is masked in its texts, until it is told."""

    def __init__(self, rules: WritingRules, client: str | None) -> None:
        rules.admit(client)
        self._guard = rules.guard
        self._guard_data = rules.guard_data
        self._masked: dict[str, None] = {}
        self.allowance = rules.allowance(client)

    @property
    def masked(self) -> list[str]:
        """The kinds of secrets that were found."""
        return [*self._masked]

    def text(self, given: str | None) -> str | None:
        """What may be kept of a text; of none, or of an empty one, the same."""
        if not given:
            return given
        guarded = self._guard(given)
        self._masked |= dict.fromkeys(guarded.masked)
        return guarded.text

    def data(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What may be kept of it."""
        guarded = self._guard_data(given)
        if guarded != given:
            self._masked["value under a telling name, or in a text"] = None
        return guarded
