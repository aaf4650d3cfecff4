"""The permission tools: every caller can narrow permissions, only the owner can widen them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import HookSettings, Settings
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound, QuotaExceeded
from scrubjay.features.permissions import decision
from scrubjay.features.permissions import service as permissions
from scrubjay.features.permissions.decision import decide
from scrubjay.features.permissions.models import Effect, MatchType, PermissionRule
from scrubjay.tooling.context import CallContext

DENY = {"effect": "deny", "tool_name": "Bash", "field": "command", "pattern": "rm "}
ALLOW = DENY | {"effect": "allow", "pattern": "git "}


async def call(app: Application, tool: str, surface: str, **arguments: Any) -> dict[str, Any]:
    context = CallContext(surface=surface, client="me")
    return (await app.dispatcher.call(tool, arguments, context)).model_dump(mode="json")


@pytest.mark.parametrize("surface", ["mcp-stdio", "mcp-http", "rest", "openai", "synapse"])
async def test_16_a_caller_can_narrow_but_never_widen(tmp_path: Path, surface: str) -> None:
    async with running(Settings(home=tmp_path)) as app:
        denied = (await call(app, "add_permission_rule", surface, **DENY))["rule"]
        with pytest.raises(Forbidden):
            await call(app, "add_permission_rule", surface, **ALLOW)
        with pytest.raises(Forbidden):
            await call(app, "remove_permission_rule", surface, rule_id=denied["id"])
        allowed = (await call(app, "add_permission_rule", "cli", **ALLOW))["rule"]
        await call(app, "remove_permission_rule", surface, rule_id=allowed["id"])
        assert (await call(app, "list_permission_rules", surface))["rules"] == [denied]
        await call(app, "remove_permission_rule", "cli", rule_id=denied["id"])
        assert (await call(app, "list_permission_rules", surface))["rules"] == []


async def test_16_the_owner_can_let_callers_allow(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path, hooks=HookSettings(callers_may_allow=True))) as app:
        assert (await call(app, "add_permission_rule", "rest", **ALLOW))["added"]


async def test_16_test_permission_shows_the_deciding_rule_and_the_reason(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path / "home")) as app:
        rule = (await call(app, "add_permission_rule", "cli", **DENY, note="keep my files"))["rule"]
        answer = await call(app, "test_permission", "cli", tool_name="Bash", tool_input={"command": "rm x"})
        assert (answer["decision"], answer["rule"], answer["other_rules"]) == ("deny", rule, [])
        assert "keep my files" in answer["reason"]
        answer = await call(app, "test_permission", "cli", tool_name="Bash", tool_input={"command": "ls"})
        assert answer == {"decision": None, "reason": "no rule matches", "rule": None, "other_rules": []}


async def test_16_a_nested_project_does_not_disable_the_rules_of_the_projects_around_it(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    async with running(Settings(home=tmp_path / "home")) as app:
        await call(app, "add_permission_rule", "rest", **DENY, scope="project", project=str(tmp_path))
        await call(app, "set_project", "rest", path=str(inside))
        question = {"tool_name": "Bash", "tool_input": {"command": "rm x"}}
        for folder in (tmp_path, inside, inside / "deeper"):
            answer = await call(app, "test_permission", "rest", **question, working_directory=str(folder))
            assert answer["decision"] == "deny"
        answer = await call(app, "test_permission", "rest", **question, working_directory="/elsewhere")
        assert answer["decision"] is None


async def test_16_an_invalid_rule_is_refused(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as app:
        for invalid in ({"match_type": "regex", "pattern": "("}, {"scope": "project"}, {"project": "/x"}):
            with pytest.raises(InvalidRequest):
                await call(app, "add_permission_rule", "cli", **(DENY | invalid))
        with pytest.raises(NotFound):
            await call(app, "remove_permission_rule", "cli", rule_id="rule_none")
        assert (await call(app, "list_permission_rules", "cli"))["rules"] == []


async def test_16_a_rule_that_can_match_no_input_is_refused(tmp_path: Path) -> None:
    """Without a field, the pattern is compared with a JSON object."""
    without = {"effect": "deny", "tool_name": "Bash"}
    async with running(Settings(home=tmp_path)) as app:
        for useless in ({"pattern": "rm -rf"}, {"pattern": "rm *", "match_type": "glob"}, {"match_type": "exact"}):
            with pytest.raises(InvalidRequest, match="matches no input") as refusal:
                await call(app, "add_permission_rule", "cli", **({"pattern": "rm"} | without | useless))
            assert "field" in str(refusal.value.hint)
        for useful in ({"pattern": ""}, {"pattern": '{"command":"rm'}, {"pattern": "*rm -rf*", "match_type": "glob"}):
            assert (await call(app, "add_permission_rule", "cli", **(without | useful)))["added"]


async def test_16_the_number_of_rules_is_limited_so_that_hooks_stay_within_their_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permissions, "MAX_RULES", 4)
    monkeypatch.setattr(permissions, "MAX_REGEXES", 1)
    async with running(Settings(home=tmp_path)) as app:
        await call(app, "add_permission_rule", "rest", **DENY, match_type="regex")
        with pytest.raises(QuotaExceeded, match="regular expression"):
            await call(app, "add_permission_rule", "rest", **(DENY | {"pattern": "x"}), match_type="regex")
        for name in "abc":
            await call(app, "add_permission_rule", "rest", **(DENY | {"pattern": name}))
        with pytest.raises(QuotaExceeded, match="4 rules"):
            await call(app, "add_permission_rule", "rest", **(DENY | {"pattern": "d"}))


def test_16_the_maximum_number_of_rules_needs_few_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
    def rule(number: int, match_type: MatchType, pattern: str) -> PermissionRule:
        return PermissionRule(
            id=f"rule_{number}",
            effect=Effect.DENY,
            tool_name="*",
            match_type=match_type,
            pattern=pattern,
            field="command",
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            created_by="rest",
        )

    most = range(permissions.MAX_RULES)
    foreign = [rule(number, MatchType.GLOB, f"*{number}*x*y") for number in most]
    foreign[: permissions.MAX_REGEXES] = [
        rule(number, MatchType.REGEX, rf"({number}|\w)*\s+x") for number in range(permissions.MAX_REGEXES)
    ]
    command = ";".join(f"echo {number}" for number in range(450))
    comparisons = Mock(side_effect=decision.fits)
    monkeypatch.setattr(decision, "fits", comparisons)
    assert decide(foreign, "Bash", {"command": command}).effect is None
    assert comparisons.call_count < permissions.MAX_RULES + permissions.MAX_REGEXES * 500
    # This many rules that could match are not comparisons with each part, because the agent would wait too long.
    comparisons.reset_mock()
    alike = [rule(number, MatchType.GLOB, f"o*{number % 10}*c") for number in most]
    assert decide(alike, "Bash", {"command": command}).effect is Effect.ASK
    assert comparisons.call_count == 0
    assert decide(alike[:1000], "Bash", {"command": command}).effect is None
    assert comparisons.call_count == 1000 * 452
