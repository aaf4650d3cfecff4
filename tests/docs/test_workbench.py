"""What the page about files, commands and the web shows is what there is."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.setting_sources import OWNERS_ONLY
from scrubjay.app.settings import FileSettings, TerminalSettings, WebSettings
from scrubjay.app.tool_catalog import ALL
from scrubjay.features.workspace.files.search import MOST_MATCHES
from scrubjay.features.workspace.files.service import MOST_ENTRIES, MOST_NAMES
from scrubjay.features.workspace.terminal.programs import ALLOWED, Refused, permitted, read_command
from scrubjay.features.workspace.web.fetcher import MOST_REDIRECTS
from tests.surfaces.callers import environment
from tests.surfaces.commands import run_command

PAGE = (Path(__file__).parents[2] / "docs" / "workbench.md").read_text("utf-8")
SETTINGS = {"files": FileSettings, "terminal": TerminalSettings, "web": WebSettings}


async def test_27_28_31_every_command_of_the_page_works(tmp_path: Path) -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    told: list[Any] = []
    for command in block.splitlines():
        program, *arguments = shlex.split(command)
        assert program == "scrubjay"
        done = await run_command([*arguments, "--json"], b"", environment(tmp_path / "home"), tmp_path)
        assert (command, done.returncode) == (command, 0)
        told.append(json.loads(done.stdout))
    _, _, found, replaced, shown, refused, page = told
    assert found["matches"] == [{"file": "notes.txt", "line": 2, "content": "two"}]
    assert replaced["line"] == 1
    assert shown["output"] == "first\ntwo"
    assert refused["output"] == "Security error: Command 'rm' is blocked"
    assert page == {"markdown": "# Hello\n\nIt **works**."}


def test_the_page_has_every_tool_and_every_setting() -> None:
    tools = [(tool.name, tool.family) for tool in ALL if tool.family in SETTINGS]
    assert re.findall(r"^\| `(\w+)` \| `(\w+)` \|", PAGE, re.MULTILINE) == tools
    shown = re.findall(r"^\| `SCRUBJAY_(\w+)` \| (.*?) ?\| (\*?)", PAGE, re.MULTILINE)
    expected: list[tuple[str, str, str]] = []
    for family, model in SETTINGS.items():
        for name, field in model.model_fields.items():
            value = field.get_default(call_default_factory=True)
            default = "" if value in (None, []) else str(value).lower() if isinstance(value, bool) else str(value)
            expected.append((f"{family}_{name}".upper(), default, "*" if name in OWNERS_ONLY[family] else ""))
    assert [(name, default.strip(), mark) for name, default, mark in shown] == expected


def test_the_page_tells_the_list_and_the_bounds_in_use() -> None:
    (listed,) = re.findall(r"The list is Mimo's: (.*?)\. What", PAGE, re.DOTALL)
    assert set(listed.split()) == ALLOWED
    assert f"tells {MOST_MATCHES} lines" in PAGE
    assert f"`ls` {MOST_NAMES:,} names" in PAGE
    assert f"`list_directory` {MOST_ENTRIES:,} entries" in PAGE
    assert re.search(rf"follows up to {MOST_REDIRECTS}\s", PAGE)


def test_28_every_refusal_of_the_page_is_what_is_said() -> None:
    commands = {"": "", "vim": "vim", "rm": "rm x", "sleep": "sleep 1", "find": "find . -delete"}
    for said in re.findall(r"^\| `Security error: (.*?)` \|", PAGE, re.MULTILINE):
        named = re.search(r"'(\w+)'", said)
        command = "ls *" if "meta-characters" in said else commands[named[1] if named else ""]
        with pytest.raises(Refused) as refused:
            permitted(read_command(command))
        assert refused.value.message == said
