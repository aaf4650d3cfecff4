"""What the page about programs shows is what there is. Numbers are rows of the feature table."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

from scrubjay.app.lifespan import running
from scrubjay.app.setting_sources import OWNERS_ONLY
from scrubjay.app.settings import SandboxSettings, Settings
from scrubjay.app.tool_catalog import ALL
from scrubjay.features.sandbox.artifacts import ENGINE
from scrubjay.features.sandbox.profiles import PROFILES
from scrubjay.features.sandbox.runner import MOST_CONSOLE_BYTES, MOST_RESULT_BYTES
from scrubjay.features.sandbox.service import MOST_CALLS, MOST_CALLS_AT_ONCE, MOST_CODE_BYTES
from scrubjay.isolation import seccomp as filtering
from scrubjay.tooling.context import CallContext
from tests.surfaces.callers import environment
from tests.surfaces.commands import run_command

PAGE = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text("utf-8")
BLOCKS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def without_time(answer: Any) -> Any:
    assert answer["Success"].pop("execution_time_ms") >= 0
    return answer


async def test_120_122_the_command_and_the_programs_of_the_page_do_what_it_says(tmp_path: Path) -> None:
    (line,) = re.findall(r"```sh\n(.*?)\n```", PAGE, re.DOTALL)
    squared, denied, went_on, filtered = BLOCKS
    done = await run_command(shlex.split(line)[1:], b"", environment(tmp_path / "home"), tmp_path)
    assert without_time(json.loads(done.stdout)) == without_time(squared)
    async with running(Settings(home=tmp_path / "home")) as application:

        async def call(name: str, asked: Any) -> Any:
            context = CallContext(surface="python")
            return (await application.dispatcher.call(name, asked, context)).model_dump(mode="json")

        assert without_time(await call("execute_agent_code", denied)) == without_time(went_on)
        for content in ("door", "the door is green"):
            await call("remember", {"content": content})
        ended = await call("execute_agent_code", filtered)
        assert json.loads(ended["Success"]["output"]) == ["the door is green"]


def test_121_the_page_has_every_tool_profile_and_setting() -> None:
    tools = [(tool.name, tool.family) for tool in ALL if tool.family == "sandbox"]
    assert re.findall(r"^\| `(\w+)` \| `(\w+)` \|", PAGE, re.MULTILINE) == tools
    profiles = [
        (name, str(own.max_execution_time_ms), str(own.max_memory_mb), str(own.max_cpu_percent))
        for name, own in PROFILES.items()
    ]
    assert re.findall(r"^\| `(\w+)` \| (\d+) ms \| (\d+) MB \| (\d+) %", PAGE, re.MULTILINE) == profiles
    shown = re.findall(r"^\| `SCRUBJAY_SANDBOX_(\w+)` \| (.*?) ?\| (\*?)", PAGE, re.MULTILINE)
    expected: list[tuple[str, str, str]] = []
    for name, field in SandboxSettings.model_fields.items():
        value = field.get_default(call_default_factory=True)
        default = "" if value in (None, []) else str(value).lower() if isinstance(value, bool) else str(value)
        expected.append((name.upper(), default, "*" if name in OWNERS_ONLY["sandbox"] else ""))
    assert [(name, default.strip(), mark) for name, default, mark in shown] == expected


def test_123_the_page_tells_the_bounds_in_use() -> None:
    assert f"{MOST_CALLS} calls at most, {MOST_CALLS_AT_ONCE} of them at once" in PAGE
    assert f"More than {MOST_CODE_BYTES:,} bytes" in PAGE
    assert f"{MOST_CONSOLE_BYTES:,} bytes are kept" in PAGE
    assert f"a result has {MOST_RESULT_BYTES:,} at most" in PAGE
    assert len(ENGINE.imports) == 13
    assert "thirteen functions" in PAGE
    allowed = len(vars(filtering)["_NEEDED"]) + len(vars(filtering)["_WITHOUT_EXECUTION"])
    assert f"allows {allowed} calls" in PAGE
