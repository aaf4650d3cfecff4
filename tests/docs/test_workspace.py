"""The commands in docs/workspace.md run as shown, and the page states the tools, settings and limits."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.setting_sources import OWNER_ONLY_SETTINGS
from scrubjay.app.settings import FileSettings, TerminalSettings, WebSettings
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.features.workspace.files.search import MAX_MATCHES
from scrubjay.features.workspace.files.service import MAX_ENTRIES, MAX_NAMES
from scrubjay.features.workspace.terminal.programs import ALLOWED, CommandRefused, check_command, read_command
from scrubjay.features.workspace.web.fetcher import MAX_REDIRECTS
from tests.surfaces.callers import environment
from tests.surfaces.commands import run_command

PAGE = (Path(__file__).parents[2] / "docs" / "workspace.md").read_text("utf-8")
SETTINGS = {"files": FileSettings, "terminal": TerminalSettings, "web": WebSettings}


async def test_27_28_31_every_command_on_the_page_works(tmp_path: Path) -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    results: list[Any] = []
    for command in block.splitlines():
        program, *arguments = shlex.split(command)
        assert program == "scrubjay"
        process = await run_command([*arguments, "--json"], b"", environment(tmp_path / "home"), tmp_path)
        assert (command, process.returncode) == (command, 0)
        results.append(json.loads(process.stdout))
    _, _, matches, replaced, shown, refused, page = results
    assert matches["matches"] == [{"file": "notes.txt", "line": 2, "content": "two"}]
    assert replaced["line"] == 1
    assert shown["output"] == "first\ntwo"
    assert refused["output"] == "Security error: Command 'rm' is blocked"
    assert page == {"markdown": "# Hello\n\nIt **works**."}


def test_the_page_has_every_tool_and_every_setting() -> None:
    tools = [(tool.name, tool.family) for tool in TOOL_CATALOG if tool.family in SETTINGS]
    assert re.findall(r"^\| `(\w+)` \| `(\w+)` \|", PAGE, re.MULTILINE) == tools
    shown = re.findall(r"^\| `SCRUBJAY_(\w+)` \| (.*?) ?\| (\*?)", PAGE, re.MULTILINE)
    expected: list[tuple[str, str, str]] = []
    for family, model in SETTINGS.items():
        for name, field in model.model_fields.items():
            value = field.get_default(call_default_factory=True)
            default = "" if value in (None, []) else str(value).lower() if isinstance(value, bool) else str(value)
            expected.append((f"{family}_{name}".upper(), default, "*" if name in OWNER_ONLY_SETTINGS[family] else ""))
    assert [(name, default.strip(), mark) for name, default, mark in shown] == expected


def test_the_page_states_the_allowed_programs_and_the_limits_in_use() -> None:
    (listed,) = re.findall(r"The list is Mimo's: (.*?)\. Arguments", PAGE, re.DOTALL)
    assert set(listed.split()) == ALLOWED
    assert f"returns {MAX_MATCHES} lines" in PAGE
    assert f"`ls` {MAX_NAMES:,} names" in PAGE
    assert f"`list_directory` {MAX_ENTRIES:,} entries" in PAGE
    assert re.search(rf"follows up to {MAX_REDIRECTS}\s", PAGE)


def test_28_every_refusal_on_the_page_is_the_actual_message() -> None:
    commands = {"": "", "vim": "vim", "rm": "rm x", "sleep": "sleep 1", "find": "find . -delete"}
    for message in re.findall(r"^\| `Security error: (.*?)` \|", PAGE, re.MULTILINE):
        named = re.search(r"'(\w+)'", message)
        command = "ls *" if "meta-characters" in message else commands[named[1] if named else ""]
        with pytest.raises(CommandRefused) as refused:
            check_command(read_command(command))
        assert refused.value.message == message
