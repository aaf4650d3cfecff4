"""What the page about working memory shows is what there is."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

from scrubjay.app.lifespan import running
from scrubjay.app.maintenance import TEND_SECONDS
from scrubjay.app.settings import Settings, WorkingSettings
from scrubjay.app.tool_catalog import ALL
from scrubjay.features.working_memory.consolidation import LEAST_AGE, MOST_AT_ONCE, MOVE_SECONDS, Reason
from scrubjay.tooling.context import CallContext
from tests.surfaces.callers import PROGRAM, environment

PAGE = (Path(__file__).parents[2] / "docs" / "working-memory.md").read_text("utf-8")


async def test_the_example_of_the_page_about_working_memory_works(tmp_path: Path) -> None:
    (arguments,) = re.findall(r"```json\n(\{.*?\})\n```", PAGE, re.DOTALL)
    context = CallContext(surface="python", client="ada")
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        put: Any = await application.dispatcher.call("working_put", json.loads(arguments), context)
    assert put.item.consolidation_candidate


def test_034_the_commands_of_the_page_about_thinking_keep_what_they_say(tmp_path: Path) -> None:
    (commands,) = re.findall(r"```sh\n(scrubjay thinking .*?)\n```", PAGE, re.DOTALL)
    told: list[dict[str, Any]] = []
    for command in commands.splitlines():
        called = [*PROGRAM, *shlex.split(command)[1:], "--json"]
        ran = subprocess.run(called, env=environment(tmp_path), cwd=tmp_path, capture_output=True, timeout=60)
        told.append(json.loads(ran.stdout))
    assert [one["status"] for one in told] == ["recorded", "recorded", "continue"]
    assert told[1]["formatted"] == "1. Reproduce it\n2. Write a test\n3. Mend it"


def test_the_page_has_every_tool_reason_and_setting() -> None:
    shown = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    tools = [tool.name for tool in ALL if tool.family == "working"]
    settings = {f"SCRUBJAY_WORKING_{name.upper()}": field for name, field in WorkingSettings.model_fields.items()}
    assert shown == [*tools, *settings]
    for name, field in settings.items():
        assert f"| `{name}` | {field.default:g} |" in PAGE
    assert all(f"`{reason}`" in PAGE for reason in Reason)


def test_the_page_tells_the_times_and_bounds_in_use() -> None:
    assert f"Every {TEND_SECONDS:g} seconds" in PAGE
    assert f"at least {LEAST_AGE.seconds} seconds old" in PAGE
    assert f"The {MOST_AT_ONCE} best" in PAGE
    assert f"for {MOVE_SECONDS:g} seconds" in PAGE
