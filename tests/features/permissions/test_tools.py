"""Permission rules as tools: everybody may narrow what agents may do, only the owner may widen it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import HookSettings, Settings
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound, QuotaExceeded
from scrubjay.features.permissions import models as rule_texts
from scrubjay.features.permissions import service as permissions
from scrubjay.features.permissions.models import Effect, MatchType, PermissionRule, decide
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


async def test_16_a_test_tells_which_rule_would_decide_and_why(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path / "home")) as app:
        rule = (await call(app, "add_permission_rule", "cli", **DENY, note="keep my files"))["rule"]
        told = await call(app, "test_permission", "cli", tool_name="Bash", tool_input={"command": "rm x"})
        assert (told["decision"], told["rule"], told["other_rules"]) == ("deny", rule, [])
        assert "keep my files" in told["reason"]
        told = await call(app, "test_permission", "cli", tool_name="Bash", tool_input={"command": "ls"})
        assert told == {"decision": None, "reason": "no rule matches", "rule": None, "other_rules": []}


async def test_16_a_new_project_inside_does_not_switch_the_rules_around_it_off(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    async with running(Settings(home=tmp_path / "home")) as app:
        await call(app, "add_permission_rule", "rest", **DENY, scope="project", project=str(tmp_path))
        await call(app, "set_project", "rest", path=str(inside))
        question = {"tool_name": "Bash", "tool_input": {"command": "rm x"}}
        for folder in (tmp_path, inside, inside / "deeper"):
            told = await call(app, "test_permission", "rest", **question, working_directory=str(folder))
            assert told["decision"] == "deny"
        told = await call(app, "test_permission", "rest", **question, working_directory="/elsewhere")
        assert told["decision"] is None


async def test_16_what_cannot_be_a_rule_is_refused(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as app:
        for wrong in ({"match_type": "regex", "pattern": "("}, {"scope": "project"}, {"project": "/x"}):
            with pytest.raises(InvalidRequest):
                await call(app, "add_permission_rule", "cli", **(DENY | wrong))
        with pytest.raises(NotFound):
            await call(app, "remove_permission_rule", "cli", rule_id="rule_none")
        assert (await call(app, "list_permission_rules", "cli"))["rules"] == []


async def test_16_no_caller_can_add_so_many_rules_that_none_is_heeded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permissions, "MOST_RULES", 4)
    monkeypatch.setattr(permissions, "MOST_REGEXES", 1)
    async with running(Settings(home=tmp_path)) as app:
        await call(app, "add_permission_rule", "rest", **DENY, match_type="regex")
        with pytest.raises(QuotaExceeded, match="regular expression"):
            await call(app, "add_permission_rule", "rest", **(DENY | {"pattern": "x"}), match_type="regex")
        for name in "abc":
            await call(app, "add_permission_rule", "rest", **(DENY | {"pattern": name}))
        with pytest.raises(QuotaExceeded, match="4 rules"):
            await call(app, "add_permission_rule", "rest", **(DENY | {"pattern": "d"}))


def test_16_the_most_rules_there_can_be_are_compared_in_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
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

    most = range(permissions.MOST_RULES)
    foreign = [rule(number, MatchType.GLOB, f"*{number}*x*y") for number in most]
    foreign[: permissions.MOST_REGEXES] = [
        rule(number, MatchType.REGEX, rf"({number}|\w)*\s+x") for number in range(permissions.MOST_REGEXES)
    ]
    command = ";".join(f"echo {number}" for number in range(450))
    compared = Mock(side_effect=rule_texts._fits)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(rule_texts, "_fits", compared)
    assert decide(foreign, "Bash", {"command": command}).effect is None
    assert compared.call_count < permissions.MOST_RULES + permissions.MOST_REGEXES * 500
    # As many that could be meant are not compared with each part: an agent would wait for it.
    compared.reset_mock()
    alike = [rule(number, MatchType.GLOB, f"o*{number % 10}*c") for number in most]
    assert decide(alike, "Bash", {"command": command}).effect is Effect.ASK
    assert compared.call_count == 0
    assert decide(alike[:1000], "Bash", {"command": command}).effect is None
    assert compared.call_count == 1000 * 452
