"""The examples in docs/working-memory.md run, and the page states the tools, settings and limits."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

from scrubjay.app.lifespan import running
from scrubjay.app.maintenance import WORKING_MEMORY_SECONDS
from scrubjay.app.settings import Settings, WorkingSettings
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.features.working_memory.consolidation import MAX_MOVES, MIN_AGE, MOVE_SECONDS, SkipReason
from scrubjay.tooling.context import CallContext
from tests.surfaces.callers import PROGRAM, environment

PAGE = (Path(__file__).parents[2] / "docs" / "working-memory.md").read_text("utf-8")


async def test_the_example_on_the_working_memory_page_works(tmp_path: Path) -> None:
    (arguments,) = re.findall(r"```json\n(\{.*?\})\n```", PAGE, re.DOTALL)
    context = CallContext(surface="python", client="ada")
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        stored: Any = await application.dispatcher.call("working_put", json.loads(arguments), context)
    assert stored.item.consolidation_candidate


def test_034_the_thinking_commands_on_the_page_record_steps_and_a_plan(tmp_path: Path) -> None:
    (commands,) = re.findall(r"```sh\n(scrubjay thinking .*?)\n```", PAGE, re.DOTALL)
    results: list[dict[str, Any]] = []
    for command in commands.splitlines():
        process_arguments = [*PROGRAM, *shlex.split(command)[1:], "--json"]
        process = subprocess.run(
            process_arguments, env=environment(tmp_path), cwd=tmp_path, capture_output=True, timeout=60
        )
        results.append(json.loads(process.stdout))
    assert [one["status"] for one in results] == ["recorded", "recorded", "continue"]
    assert results[1]["formatted"] == "1. Reproduce it\n2. Write a test\n3. Fix it"


def test_the_page_has_every_tool_reason_and_setting() -> None:
    shown = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    tools = [tool.name for tool in TOOL_CATALOG if tool.family == "working"]
    settings = {f"SCRUBJAY_WORKING_{name.upper()}": field for name, field in WorkingSettings.model_fields.items()}
    assert shown == [*tools, *settings]
    for name, field in settings.items():
        assert f"| `{name}` | {field.default:g} |" in PAGE
    assert all(f"`{reason}`" in PAGE for reason in SkipReason)


def test_the_page_states_the_intervals_and_limits_in_use() -> None:
    assert f"Every {WORKING_MEMORY_SECONDS:g} seconds" in PAGE
    assert f"at least {MIN_AGE.seconds} seconds old" in PAGE
    assert f"The best {MAX_MOVES}" in PAGE
    assert f"for {MOVE_SECONDS:g} seconds" in PAGE
