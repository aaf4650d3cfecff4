"""What the page about memory shows is what happens."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "memory.md").read_text("utf-8")


def test_every_command_of_the_page_about_memory_works(tmp_path: Path) -> None:
    blocks = re.findall(r"```\n(.*?)```", PAGE, re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    assert len(commands) == 4
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
    said: list[str] = []
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "recollect"
        done = subprocess.run(
            [sys.executable, "-m", "recollect.app", *arguments],
            env={**kept, "RECOLLECT_HOME": str(tmp_path / "home")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        said.append(done.stdout)
    _, _, history, then = said
    assert "by hand" in history
    assert "by a pipeline" in history
    assert "pipeline" not in then
