"""The examples of docs/agents.md do what the page says."""

import json
import re
from pathlib import Path

from scrubjay.app.install.agents import AGENTS
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.hooks.models import HookEvent
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text("utf-8")


async def test_16_the_page_of_agents_tells_what_is_answered(tmp_path: Path) -> None:
    examples = re.findall(r"^```json (\w+)\n(.*?)^```$", PAGE, re.M | re.S)
    async with running(Settings(home=tmp_path)) as application:
        answers = [
            await application.dispatcher.call(tool, json.loads(arguments), CallContext(surface="cli"))
            for tool, arguments in examples
        ]
    told = answers[-1].model_dump(mode="json")
    assert (told["decision"], told["rule"]["pattern"]) == ("deny", "git push --force")


def test_128_the_page_names_every_agent_and_every_hook() -> None:
    for name in (*AGENTS, *HookEvent):
        assert f"| `{name}` |" in PAGE
