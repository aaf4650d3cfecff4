"""What a backend must offer to keep rules about what agents may do."""

from collections.abc import Sequence
from typing import Protocol

from scrubjay.features.permissions.models import MatchType, PermissionRule


class PermissionStore(Protocol):
    """Keeps rules, each of one project or of all."""

    async def add(self, rule: PermissionRule) -> tuple[PermissionRule, bool]:
        """Keep a rule; the one that is kept, and whether it is new: a rule that says the same is kept once.

        `NotFound` when there is no such project.
        """
        ...

    async def list(self, project_id: str | None) -> Sequence[PermissionRule]:
        """The rules of this project and those of all, made last first."""
        ...

    async def holding_at(self, paths: Sequence[str]) -> Sequence[PermissionRule]:
        """Those of all, and those of every project at one of these paths, made last first."""
        ...

    async def count(self, match_type: MatchType | None = None) -> int:
        """How many there are of all projects together; only those of one kind, when it is named."""
        ...

    async def get(self, rule_id: str) -> PermissionRule | None: ...

    async def remove(self, rule_id: str) -> PermissionRule | None:
        """Remove a rule; what it was, or None when there is none."""
        ...
