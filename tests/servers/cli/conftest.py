"""Run the toy command line as a child process."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

TOY = [sys.executable, str(Path(__file__).with_name("toy_program.py"))]

PATIENCE = 60.0

Start = Callable[..., subprocess.Popen[bytes]]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """The environment of the child, without variables that would change its output."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM"):
        plain.pop(name, None)
    return {**plain, "TOY_HOME": str(tmp_path / "home"), "TERM": "xterm-256color", "TZ": "UTC", "LANG": "C.UTF-8"}


@pytest.fixture
def start(environment: Mapping[str, str]) -> Iterator[Start]:
    """Start the program with pipes or the given streams; kill it when it hangs."""
    with ExitStack() as stack:

        def start(*words: str, env: Mapping[str, str] | None = None, **ends: Any) -> subprocess.Popen[bytes]:
            pipes: dict[str, Any] = dict.fromkeys(["stdin", "stdout", "stderr"], subprocess.PIPE)
            whole = {**environment, **(env or {})}
            child = stack.enter_context(subprocess.Popen[bytes]([*TOY, *words], env=whole, **{**pipes, **ends}))
            watchdog = threading.Timer(PATIENCE, child.kill)
            watchdog.start()
            stack.callback(child.kill)
            stack.callback(watchdog.cancel)
            return child

        yield start


@pytest.fixture
def run(start: Start) -> Run:
    """Run the program and return its exit code and output."""

    def run(*words: str, given: bytes = b"", env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        child = start(*words, env=env)
        out, err = child.communicate(given)
        return subprocess.CompletedProcess(child.args, child.returncode, out.decode("utf-8"), err.decode("utf-8"))

    return run
