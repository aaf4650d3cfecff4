"""Rules about what agents may do: who may make them, and what they say of a call."""

from collections.abc import Mapping, Sequence
from typing import Any

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Forbidden, NotFound, QuotaExceeded
from scrubjay.core.ids import new_id
from scrubjay.core.suggestions import nearest_names
from scrubjay.features.permissions.models import Effect, MatchType, PermissionRule, Verdict, decide, refuse_unusable
from scrubjay.features.permissions.paths import paths_of
from scrubjay.features.permissions.store import PermissionStore

# Doors that only whoever owns this machine comes through; an agent comes through all others.
OWNERS_DOORS = frozenset({"cli", "python"})


# An agent waits until all rules are compared. With more, a caller could make that so slow that none would be heeded.
MOST_RULES, MOST_REGEXES = 2_000, 50


class PermissionService:
    """The rules of one store. Nobody but the owner may let an agent do more."""

    def __init__(self, store: PermissionStore, *, callers_may_allow: bool = False, clock: Clock = system_clock) -> None:
        """`callers_may_allow` is whether the owner lets callers of every door do what else only the owner may."""
        self._store = store
        self._callers_may_allow = callers_may_allow
        self._clock = clock

    async def add(
        self,
        *,
        effect: Effect,
        tool_name: str,
        match_type: MatchType,
        pattern: str,
        field: str | None,
        project_id: str | None,
        note: str | None,
        surface: str,
        created_by: str,
    ) -> tuple[PermissionRule, bool]:
        """Keep a rule; what is kept, and whether it is new. `Forbidden` when it would let the caller do more."""
        if effect is Effect.ALLOW:
            self._refuse_widening(surface, "allow what agents do")
        refuse_unusable(match_type, pattern)
        await self._refuse_too_many(match_type)
        rule = PermissionRule(
            id=new_id("rule"),
            effect=effect,
            tool_name=tool_name,
            match_type=match_type,
            pattern=pattern,
            field=field,
            project_id=project_id,
            note=note,
            created_at=self._clock(),
            created_by=created_by,
        )
        return await self._store.add(rule)

    async def list(self, project_id: str | None) -> Sequence[PermissionRule]:
        """The rules of a project and those of all."""
        return await self._store.list(project_id)

    async def remove(self, rule_id: str, surface: str) -> PermissionRule:
        """Remove a rule; what it was. `Forbidden` when the caller could do more without it."""
        rule = await self._store.get(rule_id)
        if rule is None:
            near = nearest_names(rule_id, [known.id for known in await self._store.list(None)])
            raise NotFound(
                f"there is no rule {rule_id[:80]!r}",
                hint=f"did you mean {' or '.join(near)}?" if near else "list_permission_rules shows those there are",
            )
        if rule.effect is not Effect.ALLOW:
            self._refuse_widening(surface, "remove a protection")
        return await self._store.remove(rule_id) or rule

    async def judge(self, tool_name: str, given: Mapping[str, Any], folders: Sequence[str]) -> Verdict:
        """What the rules say of a call that is made in one of these folders."""
        return decide(await self._store.holding_at(paths_of(folders)), tool_name, given)

    async def _refuse_too_many(self, match_type: MatchType) -> None:
        is_regex = match_type is MatchType.REGEX
        if await self._store.count() >= MOST_RULES or (
            is_regex and await self._store.count(MatchType.REGEX) >= MOST_REGEXES
        ):
            raise QuotaExceeded(
                f"there are {MOST_REGEXES} rules with a regular expression already"
                if is_regex
                else f"there are {MOST_RULES} rules already",
                hint="remove_permission_rule removes those that nobody needs",
            )

    def _refuse_widening(self, surface: str, deed: str) -> None:
        if surface not in OWNERS_DOORS and not self._callers_may_allow:
            raise Forbidden(
                f"only the owner of this machine may {deed}",
                hint="run `scrubjay permissions` in a terminal, or set SCRUBJAY_HOOKS_CALLERS_MAY_ALLOW",
            )
