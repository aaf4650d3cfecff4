"""The examples in docs/sandbox.md run as shown. Numbers are rows of the feature table."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

from scrubjay.app.lifespan import running
from scrubjay.app.setting_sources import OWNER_ONLY_SETTINGS
from scrubjay.app.settings import SandboxSettings, Settings
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.features.sandbox.artifacts import ENGINE
from scrubjay.features.sandbox.profiles import PROFILES
from scrubjay.features.sandbox.runner import MAX_CONSOLE_BYTES, MAX_RESULT_BYTES
from scrubjay.features.sandbox.service import MAX_CALLS, MAX_CODE_BYTES, MAX_CONCURRENT_CALLS
from scrubjay.isolation import seccomp as filtering
from scrubjay.tooling.context import CallContext
from tests.surfaces.callers import environment
from tests.surfaces.commands import run_command

PAGE = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text("utf-8")
BLOCKS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def without_time(answer: Any) -> Any:
    assert answer["Success"].pop("execution_time_ms") >= 0
    return answer


async def test_120_122_the_command_and_the_programs_on_the_page_get_the_documented_results(tmp_path: Path) -> None:
    (line,) = re.findall(r"```sh\n(.*?)\n```", PAGE, re.DOTALL)
    squared, denied, completed, filtered = BLOCKS
    process = await run_command(shlex.split(line)[1:], b"", environment(tmp_path / "home"), tmp_path)
    assert without_time(json.loads(process.stdout)) == without_time(squared)
    async with running(Settings(home=tmp_path / "home")) as application:

        async def call(name: str, arguments: Any) -> Any:
            context = CallContext(surface="python")
            return (await application.dispatcher.call(name, arguments, context)).model_dump(mode="json")

        assert without_time(await call("execute_agent_code", denied)) == without_time(completed)
        for content in ("door", "the door is green"):
            await call("remember", {"content": content})
        result = await call("execute_agent_code", filtered)
        assert json.loads(result["Success"]["output"]) == ["the door is green"]


def test_121_the_page_has_every_tool_profile_and_setting() -> None:
    tools = [(tool.name, tool.family) for tool in TOOL_CATALOG if tool.family == "sandbox"]
    assert re.findall(r"^\| `(\w+)` \| `(\w+)` \|", PAGE, re.MULTILINE) == tools
    profiles = [
        (name, str(profile.max_execution_time_ms), str(profile.max_memory_mb), str(profile.max_cpu_percent))
        for name, profile in PROFILES.items()
    ]
    assert re.findall(r"^\| `(\w+)` \| (\d+) ms \| (\d+) MB \| (\d+) %", PAGE, re.MULTILINE) == profiles
    shown = re.findall(r"^\| `SCRUBJAY_SANDBOX_(\w+)` \| (.*?) ?\| (\*?)", PAGE, re.MULTILINE)
    expected: list[tuple[str, str, str]] = []
    for name, field in SandboxSettings.model_fields.items():
        value = field.get_default(call_default_factory=True)
        default = "" if value in (None, []) else str(value).lower() if isinstance(value, bool) else str(value)
        expected.append((name.upper(), default, "*" if name in OWNER_ONLY_SETTINGS["sandbox"] else ""))
    assert [(name, default.strip(), mark) for name, default, mark in shown] == expected


def test_123_the_page_states_the_limits_in_use() -> None:
    assert f"at most {MAX_CALLS} calls, {MAX_CONCURRENT_CALLS} of them at once" in PAGE
    assert f"More than {MAX_CODE_BYTES:,} bytes" in PAGE
    assert f"{MAX_CONSOLE_BYTES:,} bytes are kept" in PAGE
    assert f"a result has at most {MAX_RESULT_BYTES:,}" in PAGE
    assert len(ENGINE.imports) == 13
    assert "thirteen of the guest's imports" in PAGE
    allowed = len(vars(filtering)["_NEEDED"]) + len(vars(filtering)["_WITHOUT_EXECUTION"])
    assert f"allows {allowed} system calls" in PAGE
