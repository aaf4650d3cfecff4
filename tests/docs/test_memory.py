"""What the page about memory shows is what happens."""

import re
import shlex
from pathlib import Path

from tests.surfaces.callers import environment
from tests.surfaces.commands import run_command

PAGE = (Path(__file__).parents[2] / "docs" / "memory.md").read_text("utf-8")


async def test_every_command_of_the_page_about_memory_works(tmp_path: Path) -> None:
    blocks = re.findall(r"```\n(.*?)```", PAGE, re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    assert len(commands) == 4
    said: list[str] = []
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "scrubjay"
        done = await run_command(arguments, b"", environment(tmp_path / "home"), tmp_path)
        assert (command, done.returncode) == (command, 0)
        said.append(done.stdout.decode())
    _, _, history, then = said
    assert "by hand" in history
    assert "by a pipeline" in history
    assert "pipeline" not in then
