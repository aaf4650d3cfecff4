"""The commands in docs/keys.md run as written."""

import re
import shlex
import subprocess
from pathlib import Path

from tests.surfaces.callers import PROGRAM, environment

PAGE = (Path(__file__).parents[2] / "docs" / "keys.md").read_text("utf-8")


def test_013_the_commands_on_the_page_run(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
    for line in block.splitlines():
        words = shlex.split(line)
        process = subprocess.run(
            [*PROGRAM, *words[1:]], env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert process.returncode == 0, (line, process.stderr)
