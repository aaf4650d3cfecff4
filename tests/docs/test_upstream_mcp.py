"""The file and the commands in docs/upstream-mcp.md are valid."""

import json
import re
import shlex
from pathlib import Path

from scrubjay.features.upstream_mcp.catalog import ValidSkill, read_skill
from scrubjay.features.upstream_mcp.configuration import SkillPolicy
from scrubjay.features.upstream_mcp.validation import RefusalReason
from tests.surfaces.callers import environment
from tests.surfaces.commands import run_command

PAGE = (Path(__file__).parents[2] / "docs" / "upstream-mcp.md").read_text("utf-8")


def test_the_configuration_on_the_page_is_valid() -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    for name, raw in json.loads(shown).items():
        assert isinstance(read_skill(name, raw, SkillPolicy()), ValidSkill)


def test_every_refusal_reason_is_on_the_page() -> None:
    assert [reason for reason in RefusalReason if f"`{reason}`" not in PAGE] == []


async def test_every_command_on_the_skills_page_works(tmp_path: Path) -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for command in block.splitlines():
        program, *arguments = shlex.split(command)
        assert program == "scrubjay"
        process = await run_command([*arguments, "--json"], b"", environment(tmp_path / "home"), tmp_path)
        assert (command, process.returncode) == (command, 0)
