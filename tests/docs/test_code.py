"""What the page about code shows is what happens."""

import re
import shlex
from pathlib import Path

from tests.surfaces.callers import environment
from tests.surfaces.commands import run_command

PAGE = (Path(__file__).parents[2] / "docs" / "code.md").read_text("utf-8")
AUTH = """class Session:
    def login(self, password: str) -> bool:
        return sign(password) == self.signature


def sign(password: str) -> str:
    return password[::-1]


def enter(session: Session) -> bool:
    return session.login("open sesame")
"""


async def test_every_command_of_the_page_about_code_works(tmp_path: Path) -> None:
    root = tmp_path / "apollo"
    (root / "src").mkdir(parents=True)
    (root / "src" / "auth.py").write_text(AUTH, "utf-8")
    block = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)[0]
    entering, *commands = block.splitlines()
    assert (entering, len(commands)) == ("cd ~/code/apollo", 4)
    said: list[str] = []
    for command in commands:
        program, *arguments = shlex.split(command, comments=True)
        assert program == "recollect"
        done = await run_command(arguments, b"", environment(tmp_path / "home"), root)
        assert (command, done.returncode) == (command, 0)
        said.append(done.stdout.decode())
    indexed, found, callers, symbols = said
    assert "Indexed 1 files, 4 symbols" in indexed
    assert "src/auth.py" in found
    assert "enter" in callers
    assert "Session.login" in symbols
