"""What the page about skills shows is what happens."""

import json
import re
import shlex
from pathlib import Path

from scrubjay.features.upstream_mcp.catalog import ValidSkill, read_skill
from scrubjay.features.upstream_mcp.configuration import Policy
from scrubjay.features.upstream_mcp.validation import Reason
from tests.surfaces.callers import environment
from tests.surfaces.commands import run_command

PAGE = (Path(__file__).parents[2] / "docs" / "skills.md").read_text("utf-8")


def test_the_file_of_the_page_is_valid() -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    for name, raw in json.loads(shown).items():
        assert isinstance(read_skill(name, raw, Policy()), ValidSkill)


def test_every_reason_is_on_the_page() -> None:
    assert [reason for reason in Reason if f"`{reason}`" not in PAGE] == []


async def test_every_command_of_the_page_about_skills_works(tmp_path: Path) -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for command in block.splitlines():
        program, *arguments = shlex.split(command)
        assert program == "scrubjay"
        done = await run_command([*arguments, "--json"], b"", environment(tmp_path / "home"), tmp_path)
        assert (command, done.returncode) == (command, 0)
