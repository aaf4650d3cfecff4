"""Store contract: permission rules, and prompts that wait for an answer."""

from dataclasses import replace

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import NotFound
from scrubjay.features.permissions.models import Effect, MatchType, PermissionRule
from tests.contracts.samples import NOW, ManualClock

RULE = PermissionRule(
    id="rule_1",
    effect=Effect.DENY,
    tool_name="Bash",
    match_type=MatchType.PREFIX,
    pattern="rm",
    field="command",
    note="precious",
    created_at=NOW,
    created_by="cli",
)


async def test_16_a_rule_is_stored_completely_and_once(store: Store, other: Store) -> None:
    assert await store.permissions.add(RULE) == (RULE, True)
    assert await other.permissions.add(replace(RULE, id="rule_2")) == (RULE, False)
    assert await other.permissions.list(None) == [RULE]
    assert await other.permissions.get("rule_1") == RULE


async def test_16_a_rule_of_a_project_applies_only_there(store: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    own = replace(RULE, id="rule_2", project_id=project.id)
    await store.permissions.add(RULE)
    await store.permissions.add(own)
    assert await store.permissions.list(project.id) == [own, RULE]
    assert await store.permissions.list(None) == [RULE]
    assert await store.permissions.holding_at(["/proj/apollo/src", "/proj/apollo", "/proj", "/"]) == [own, RULE]
    assert await store.permissions.holding_at(["/proj", "/"]) == [RULE]
    with pytest.raises(NotFound):
        await store.permissions.add(replace(RULE, project_id="prj_none"))


async def test_16_rules_are_counted_by_kind_over_all_projects(store: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    await store.permissions.add(RULE)
    await store.permissions.add(replace(RULE, id="rule_2", match_type=MatchType.REGEX, project_id=project.id))
    assert await store.permissions.count() == 2
    assert await store.permissions.count(MatchType.REGEX) == 1
    assert await store.permissions.count(MatchType.GLOB) == 0


async def test_16_a_rule_is_removed_once(store: Store) -> None:
    await store.permissions.add(RULE)
    assert await store.permissions.remove("rule_1") == RULE
    assert await store.permissions.remove("rule_1") is None
    assert await store.permissions.list(None) == []


async def test_16_a_prompt_waits_for_its_answer_once(store: Store, other: Store, clock: ManualClock) -> None:
    await store.prompts.put("agent:1", "first", clock())
    await other.prompts.put("agent:1", "second", clock())
    assert await store.prompts.take("agent:1") == "second"
    assert await store.prompts.take("agent:1") is None
    await store.prompts.put("agent:1", "never answered", clock())
    clock.advance(10)
    await store.prompts.delete_before(clock())
    assert await store.prompts.take("agent:1") is None
