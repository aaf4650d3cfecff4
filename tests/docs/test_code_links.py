"""The commands in docs/code-links.md run and print what the page shows."""

import json
import re
import shlex
from pathlib import Path

import anyio

from tests.surfaces.callers import environment
from tests.surfaces.commands import run_command

PAGE = (Path(__file__).parents[2] / "docs" / "code-links.md").read_text("utf-8")
AUTH = """class Session:
    def login(self, password: str) -> bool:
        return password == self.password
"""


async def test_every_command_on_the_code_links_page_works(tmp_path: Path) -> None:
    root = tmp_path / "apollo"
    (root / "src").mkdir(parents=True)
    (root / "src" / "auth.py").write_text(AUTH, "utf-8")
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    first, *commands = block.splitlines()
    assert (first, len(commands)) == ("cd ~/code/apollo", 5)
    outputs: list[str] = []
    for command in commands:
        program, *arguments = shlex.split(command, comments=True)
        if program == "sed":
            await anyio.run_process([program, *arguments], cwd=root)
            continue
        assert program == "scrubjay"
        result = await run_command([*arguments, "--json"], b"", environment(tmp_path / "home"), root)
        assert (command, result.returncode) == (command, 0)
        outputs.append(result.stdout.decode())
    recalled, reviewed = (json.loads(text) for text in outputs[-2:])
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    stale = recalled["memories"][0]["stale"]
    expected = json.loads(shown)
    assert list(stale) == list(expected)
    assert (stale["reason"], stale["symbol"], stale["path"]) == tuple(
        expected[name] for name in ("reason", "symbol", "path")
    )
    assert stale["diff"].splitlines()[:3] == expected["diff"].splitlines()[:3]
    assert [one["stale"] for one in reviewed["memories"]] == [[stale]]
