"""Permission rules as tools: everybody may narrow what agents may do, only the owner may widen it."""

from pathlib import Path
from typing import Any

import pytest

from recollect.app.application import Application
from recollect.app.lifespan import running
from recollect.app.settings import HookSettings, Settings
from recollect.domain.errors import Forbidden, InvalidRequest, NotFound
from recollect.toolkit.context import CallContext

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
