"""The operator's rules for writes by features other than memory: secrets, rate limits and quotas."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from scrubjay.core.policies import StorageQuota


class GuardedText(Protocol):
    """A text after the secrets policy was applied."""

    @property
    def text(self) -> str: ...

    @property
    def masked(self) -> Sequence[str]:
        """Return the kinds of the secrets that were masked."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingRules:
    """The rules that apply to memories too; callers cannot change them."""

    guard: Callable[[str], GuardedText]
    """Return the storable form of a text; raise `InvalidRequest` when it must not be stored."""
    guard_data: Callable[[Mapping[str, Any]], dict[str, Any]]
    """Like `guard`, for a mapping; a value under a name such as `password` is a secret."""
    admit: Callable[[str | None], None]
    """Count one write of a client; raise `RateLimited` when it wrote too often recently."""
    allowance: Callable[[str | None], StorageQuota | None]
    """Return the quota of a client; None for no limit."""


class Writing:
    """A write by a client; collects the kinds of secrets masked in its texts."""

    def __init__(self, rules: WritingRules, client: str | None) -> None:
        rules.admit(client)
        self._guard = rules.guard
        self._guard_data = rules.guard_data
        self._masked: dict[str, None] = {}
        self.allowance = rules.allowance(client)

    @property
    def masked(self) -> list[str]:
        """Return the kinds of the masked secrets."""
        return [*self._masked]

    def text(self, text: str | None) -> str | None:
        """Return the storable form of a text; None and an empty text are returned unchanged."""
        if not text:
            return text
        guarded = self._guard(text)
        self._masked |= dict.fromkeys(guarded.masked)
        return guarded.text

    def data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the storable form of the mapping."""
        guarded = self._guard_data(data)
        if guarded != data:
            self._masked["value with a secret name, or in a text"] = None
        return guarded
