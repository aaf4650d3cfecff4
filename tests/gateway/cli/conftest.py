"""The toy command line as a program of its own."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

TOY = [sys.executable, str(Path(__file__).with_name("toy.py"))]

Start = Callable[..., subprocess.Popen[bytes]]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """What the child sees: nothing of ours that would change its looks."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM"):
        plain.pop(name, None)
    return {**plain, "TOY_HOME": str(tmp_path / "home"), "TERM": "xterm-256color", "TZ": "UTC", "LANG": "C.UTF-8"}


@pytest.fixture
def start(environment: Mapping[str, str]) -> Start:
    """Start the program with pipes at its ends, or with what is given."""

    def start(*words: str, env: Mapping[str, str] | None = None, **ends: object) -> subprocess.Popen[bytes]:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([*TOY, *words], env={**environment, **(env or {})}, **{**pipes, **ends})  # pyright: ignore[reportArgumentType, reportCallIssue]

    return start


@pytest.fixture
def run(start: Start) -> Run:
    """Run the program to its end."""

    def run(*words: str, given: bytes = b"", env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        with start(*words, env=env) as child:
            out, err = child.communicate(given, timeout=60)
        return subprocess.CompletedProcess(child.args, child.returncode, out.decode("utf-8"), err.decode("utf-8"))

    return run
