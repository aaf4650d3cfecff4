"""Run commands in processes forked from one that has loaded the program, which takes most of a command's time.

Everything else is as in a shell: environment, working folder, standard input and output, exit code. Other tests run
commands in a fresh interpreter.
"""

import io
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import anyio.to_thread

from tests.processes import FORKED


class CommandResult(NamedTuple):
    """The exit code and output of a command."""

    returncode: int
    stdout: bytes


async def run_command(
    arguments: list[str], stdin: bytes, environment: Mapping[str, str], folder: Path
) -> CommandResult:
    return await anyio.to_thread.run_sync(_run, arguments, stdin, dict(environment), folder)


def _run(arguments: list[str], stdin: bytes, environment: dict[str, str], folder: Path) -> CommandResult:
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "stdout"
        process = FORKED.Process(target=_command, args=(arguments, stdin, environment, folder, output))
        process.start()
        process.join(timeout=120)
        assert process.exitcode is not None, "the command did not end"
        return CommandResult(process.exitcode, output.read_bytes())


def _command(arguments: list[str], stdin: bytes, environment: dict[str, str], folder: Path, output: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT, 0o600), 1)
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w"), "utf-8", write_through=True)
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    from scrubjay.app.commands import scrubjay

    scrubjay.main(prog_name="scrubjay", args=arguments)
