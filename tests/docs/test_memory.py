"""The commands in docs/memory.md run and print what the page states."""

import re
import shlex
from pathlib import Path

from tests.surfaces.callers import environment
from tests.surfaces.commands import run_command

PAGE = (Path(__file__).parents[2] / "docs" / "memory.md").read_text("utf-8")


async def test_every_command_on_the_memory_page_works(tmp_path: Path) -> None:
    blocks = re.findall(r"```\n(.*?)```", PAGE, re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    assert len(commands) == 4
    outputs: list[str] = []
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "scrubjay"
        result = await run_command(arguments, b"", environment(tmp_path / "home"), tmp_path)
        assert (command, result.returncode) == (command, 0)
        outputs.append(result.stdout.decode())
    _, _, history, recalled = outputs
    assert "by hand" in history
    assert "by a pipeline" in history
    assert "pipeline" not in recalled
