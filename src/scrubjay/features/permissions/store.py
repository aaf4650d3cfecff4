"""Interface that a store backend implements for permission rules."""

from collections.abc import Sequence
from typing import Protocol

from scrubjay.features.permissions.models import MatchType, PermissionRule


class PermissionStore(Protocol):
    """Stores rules, each of one project or global."""

    async def add(self, rule: PermissionRule) -> tuple[PermissionRule, bool]:
        """Add a rule; return the stored rule, and True if it is new. Identical rules are stored once.

        Raise `NotFound` if the project does not exist.
        """
        ...

    async def list(self, project_id: str | None) -> Sequence[PermissionRule]:
        """Return the rules of this project and the global ones, newest first."""
        ...

    async def holding_at(self, paths: Sequence[str]) -> Sequence[PermissionRule]:
        """Return global rules and those of every project at one of these paths, newest first."""
        ...

    async def count(self, match_type: MatchType | None = None) -> int:
        """Count the rules of all projects, optionally of one match type."""
        ...

    async def get(self, rule_id: str) -> PermissionRule | None: ...

    async def remove(self, rule_id: str) -> PermissionRule | None:
        """Remove a rule and return it, or None if it does not exist."""
        ...
