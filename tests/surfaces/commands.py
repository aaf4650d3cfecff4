"""Run commands in processes forked from one that has loaded the program, which takes most of a command's time.

Everything else is as in a shell: environment, working folder, standard input and output, exit code. Other tests run
commands in a fresh interpreter.
"""

import io
import os
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, NamedTuple

import anyio.to_thread

from tests.processes import FORKED


class CommandResult(NamedTuple):
    """The exit code and output of a command."""

    returncode: int
    stdout: bytes
    stderr: bytes


async def run_command(
    arguments: Sequence[str], stdin: bytes, environment: Mapping[str, str], folder: Path
) -> CommandResult:
    return await anyio.to_thread.run_sync(run_command_sync, arguments, stdin, environment, folder)


def run_command_sync(
    arguments: Sequence[str], stdin: bytes, environment: Mapping[str, str], folder: Path
) -> CommandResult:
    with tempfile.TemporaryDirectory() as scratch:
        files = [Path(scratch) / name for name in ("stdout", "stderr")]
        process = FORKED.Process(target=_command, args=(list(arguments), stdin, dict(environment), folder, files))
        process.start()
        process.join(timeout=120)
        assert process.exitcode is not None, "the command did not end"
        return CommandResult(process.exitcode, *(file.read_bytes() for file in files))


def _command(
    arguments: list[str], stdin: bytes, environment: dict[str, str], folder: Path, files: Sequence[Path]
) -> None:
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    output, errors = (os.open(file, os.O_WRONLY | os.O_CREAT, 0o600) for file in files)
    os.dup2(errors, 2)
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w"), "utf-8", write_through=True)
    _main(arguments, environment, folder, output)


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
    with _started(arguments, environment, folder) as (process, _, output):
        try:
            yield output
        finally:
            process.terminate()


@contextmanager
def run_dialogue(
    arguments: list[str], environment: Mapping[str, str], folder: Path
) -> Generator[tuple[IO[str], IO[str]]]:
    """Run a command until its standard input is closed; yield its standard input and output. It must exit with 0."""
    with _started(arguments, environment, folder) as (process, stdin, output):
        yield stdin, output
    assert process.exitcode == 0


@contextmanager
def _started(
    arguments: list[str], environment: Mapping[str, str], folder: Path
) -> Generator[tuple[BaseProcess, IO[str], IO[str]]]:
    reader, writer = FORKED.Pipe(duplex=False)
    child_reader, child_writer = FORKED.Pipe(duplex=False)
    process = FORKED.Process(target=_serve, args=(arguments, dict(environment), folder, child_reader, writer))
    process.start()
    writer.close()
    child_reader.close()
    with (
        reader,
        child_writer,
        open(reader.fileno(), encoding="utf-8", closefd=False) as output,
        open(child_writer.fileno(), "w", encoding="utf-8", closefd=False) as stdin,
    ):
        try:
            yield process, stdin, output
        finally:
            stdin.flush()
            child_writer.close()
            process.join(timeout=30)
    assert process.exitcode is not None, "the server did not end"


def _serve(
    arguments: list[str], environment: dict[str, str], folder: Path, stdin: Connection, output: Connection
) -> None:
    os.dup2(stdin.fileno(), 0)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, "r"), "utf-8")
    _main(arguments, environment, folder, output.fileno())
