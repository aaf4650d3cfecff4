"""Permission rules: who may change them, and their decision on a call."""

from collections.abc import Mapping, Sequence
from typing import Any

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound, QuotaExceeded
from scrubjay.core.ids import new_id
from scrubjay.core.suggestions import nearest_names
from scrubjay.features.permissions.decision import decide
from scrubjay.features.permissions.models import Effect, MatchType, PermissionRule, PermissionVerdict
from scrubjay.features.permissions.paths import paths_of
from scrubjay.features.permissions.patterns import validate_pattern
from scrubjay.features.permissions.store import PermissionStore

# Surfaces that only the owner of this machine uses; agents use all others.
OWNER_SURFACES = frozenset({"cli", "python"})
# An agent waits while rules are evaluated. With more rules a caller could exceed the hook's time limit and so disable
# all of them.
MAX_RULES, MAX_REGEXES = 2_000, 50


class PermissionService:
    """The rules of one store. Only the owner may widen permissions."""

    def __init__(self, store: PermissionStore, *, callers_may_allow: bool = False, clock: Clock = system_clock) -> None:
        """With `callers_may_allow`, callers of every surface may widen permissions too."""
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
        """Add a rule; return the stored rule, and True if it is new. Raise `Forbidden` if it widens permissions."""
        if effect is Effect.ALLOW:
            self._refuse_widening(surface, "add rules that allow")
        validate_pattern(match_type, pattern)
        _refuse_pattern_of_no_input(match_type, pattern, field)
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
        """Return the rules of a project and the global ones."""
        return await self._store.list(project_id)

    async def remove(self, rule_id: str, surface: str) -> PermissionRule:
        """Remove a rule and return it; raise `Forbidden` if that widens permissions."""
        rule = await self._store.get(rule_id)
        if rule is None:
            near = nearest_names(rule_id, [known.id for known in await self._store.list(None)])
            raise NotFound(
                f"rule {rule_id[:80]!r} not found",
                hint=f"did you mean {' or '.join(near)}?" if near else "call list_permission_rules to see all rules",
            )
        if rule.effect is not Effect.ALLOW:
            self._refuse_widening(surface, "remove rules that deny or ask")
        return await self._store.remove(rule_id) or rule

    async def judge(self, tool_name: str, given: Mapping[str, Any], folders: Sequence[str]) -> PermissionVerdict:
        """Decide on a call made in these folders."""
        return decide(await self._store.holding_at(paths_of(folders)), tool_name, given)

    async def _refuse_too_many(self, match_type: MatchType) -> None:
        is_regex = match_type is MatchType.REGEX
        if await self._store.count() >= MAX_RULES or (
            is_regex and await self._store.count(MatchType.REGEX) >= MAX_REGEXES
        ):
            raise QuotaExceeded(
                f"the limit of {MAX_REGEXES} rules with a regular expression is reached"
                if is_regex
                else f"the limit of {MAX_RULES} rules is reached",
                hint="remove unused rules with remove_permission_rule",
            )

    def _refuse_widening(self, surface: str, action: str) -> None:
        if surface not in OWNER_SURFACES and not self._callers_may_allow:
            raise Forbidden(
                f"only the owner of this machine may {action}",
                hint="run `scrubjay permissions` in a terminal, or set SCRUBJAY_HOOKS_CALLERS_MAY_ALLOW",
            )


def _refuse_pattern_of_no_input(match_type: MatchType, pattern: str, field: str | None) -> None:
    """Raise `InvalidRequest` for a pattern that can match no input: a rule that never applies protects nothing.

    Without a field, the pattern is compared with a JSON object.
    """
    if field is not None or match_type is MatchType.REGEX:
        return
    is_possible = pattern.lstrip().startswith("{") or (match_type is MatchType.GLOB and pattern.startswith("*"))
    if not is_possible and (pattern or match_type is not MatchType.PREFIX):
        raise InvalidRequest(
            "pattern: matches no input; without a field it is compared with the whole input, a JSON object",
            hint="name the field, such as `field` command for a shell command",
        )
