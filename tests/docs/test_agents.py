"""The examples in docs/agents.md get the documented answers."""

import json
import re
from pathlib import Path

from scrubjay.app.install.agents import AGENTS
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.hooks.models import HookEvent
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text("utf-8")


async def test_16_the_examples_get_the_documented_answers(tmp_path: Path) -> None:
    examples = re.findall(r"^```json (\w+)\n(.*?)^```$", PAGE, re.M | re.S)
    async with running(Settings(home=tmp_path)) as application:
        answers = [
            await application.dispatcher.call(tool, json.loads(arguments), CallContext(surface="cli"))
            for tool, arguments in examples
        ]
    result = answers[-1].model_dump(mode="json")
    assert (result["decision"], result["rule"]["pattern"]) == ("deny", "git push --force")


async def test_16_the_documented_rules_decide_as_the_page_says(tmp_path: Path) -> None:
    rules = [json.loads(text) for text in re.findall(r"^```json add_permission_rule\n(.*?)^```$", PAGE, re.M | re.S)]
    (sentence,) = re.findall(
        r"^The two rules above therefore (deny .*?), allow (.*?), and ask about (.*?)\.\n", PAGE, re.M | re.S
    )
    async with running(Settings(home=tmp_path)) as application:
        for rule in rules:
            await application.dispatcher.call("add_permission_rule", rule, CallContext(surface="cli"))
        for effect, text in zip(("deny", "allow", "ask"), sentence, strict=True):
            commands = re.findall("`(.*?)`", text)
            assert len(commands) >= 2
            for command in commands:
                question = {"tool_name": "Bash", "tool_input": {"command": command}}
                answer = await application.dispatcher.call("test_permission", question, CallContext(surface="cli"))
                assert answer.model_dump(mode="json")["decision"] == effect, command


def test_128_the_page_names_every_agent_and_every_hook() -> None:
    for name in (*AGENTS, *HookEvent):
        assert f"| `{name}` |" in PAGE
