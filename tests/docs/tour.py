"""Run the README's tour; `python -m tests.docs.tour FILE` renders a part of it as the README's picture."""

import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tests.surfaces.callers import environment

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "README.md").read_text("utf-8")
COLUMNS = 100
# Defines `scrubjay` as a shell function, so that the README's commands run unchanged.
_PRELUDE = f'scrubjay() {{ "{sys.executable}" -m scrubjay.app "$@"; }}; '
_AUTH = '''class Auth:
    def login(self, user):
        """Check the password and open a session."""
        return open_session(user)


def open_session(user):
    return {"user": user}
'''
_SHOWN = (
    "scrubjay memory remember",
    'scrubjay memory recall "which',
    'scrubjay memory recall "who',
    "sed",
    'scrubjay memory recall "login',
)


def tour_commands() -> list[str]:
    """Return the commands of the README's shell examples in their order, without comments."""
    lines = "\n".join(re.findall(r"```sh\n(.*?)```", README, re.DOTALL)).splitlines()
    return [line.split(" #")[0].rstrip() for line in lines if not line.startswith("cd ")]


def make_repository(user_home: Path) -> Path:
    """Create the repository that the tour uses, `~/code/apollo`."""
    root = user_home / "code" / "apollo"
    root.mkdir(parents=True)
    (root / "auth.py").write_text(_AUTH, "utf-8")
    subprocess.run(["git", "init", "--quiet", "."], cwd=root, check=True)
    return root


def shell_command(command: str) -> list[str]:
    return ["bash", "-euo", "pipefail", "-c", _PRELUDE + command]


def tour_environment(home: Path, user_home: Path) -> dict[str, str]:
    return {**environment(home), "HOME": str(user_home)}


def _on_terminal(command: str, env: dict[str, str], folder: Path) -> str:
    """Return what the command prints on a terminal of `COLUMNS` columns, colours included."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        shell_command(command),
        env={**env, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=child,
        stderr=subprocess.DEVNULL,
    )
    os.close(child)
    printed = b""
    try:
        while chunk := os.read(parent, 65536):
            printed += chunk
    except OSError:  # Linux reports the end of a terminal as EIO.
        pass
    finally:
        os.close(parent)
    assert process.wait(timeout=60) == 0, command
    return printed.decode().replace("\r\n", "\n")


def _session(scratch: Path) -> Iterator[tuple[str, str]]:
    root = make_repository(scratch)
    env = tour_environment(scratch / "store", scratch)
    for command in tour_commands():
        if command.startswith(("scrubjay install", "curl", "scrubjay doctor")):
            continue
        printed = _on_terminal(command, env, root)
        if command.startswith(_SHOWN):
            yield command, "" if "memory remember" in command else printed


def write_picture(target: Path) -> None:
    """Render a part of the tour as an SVG without scripts, fonts or addresses of other hosts."""
    with tempfile.TemporaryDirectory() as scratch, Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True, color_system="truecolor")
        for command, printed in _session(Path(scratch)):
            console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
            if printed.strip():
                console.print(Text.from_ansi(printed.rstrip()))
        svg = console.export_svg(title="scrubjay", unique_id="tour")
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", "ui-monospace")
    target.write_text("\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n", "utf-8")


if __name__ == "__main__":
    write_picture(Path(sys.argv[1]))
