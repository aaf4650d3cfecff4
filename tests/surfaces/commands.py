"""Run commands in processes forked from one that has loaded the program, which takes most of a command's time.

Everything else is as in a shell: environment, working folder, standard input and output, exit code. Other tests run
commands in a fresh interpreter.
"""

import io
import os
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, NamedTuple

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
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    _main(arguments, environment, folder, os.open(output, os.O_WRONLY | os.O_CREAT, 0o600))


def _main(arguments: list[str], environment: dict[str, str], folder: Path, output: int) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    os.dup2(output, 1)
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w"), "utf-8", write_through=True)
    from scrubjay.app.commands import scrubjay

    scrubjay.main(prog_name="scrubjay", args=arguments)


@contextmanager
def run_server(arguments: list[str], environment: Mapping[str, str], folder: Path) -> Generator[IO[str]]:
    """Run a command until the end of the context, when it is terminated; yield its standard output."""
    reader, writer = FORKED.Pipe(duplex=False)
    process = FORKED.Process(target=_serve, args=(arguments, dict(environment), folder, writer))
    process.start()
    writer.close()
    try:
        with open(reader.fileno(), encoding="utf-8", closefd=False) as output:
            yield output
    finally:
        process.terminate()
        process.join(timeout=30)
        reader.close()
        assert process.exitcode is not None, "the server did not end"


def _serve(arguments: list[str], environment: dict[str, str], folder: Path, output: Connection) -> None:
    _main(arguments, environment, folder, output.fileno())
