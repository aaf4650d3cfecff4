"""List the processes of this machine from /proc."""

import os
import pwd
import time
from dataclasses import dataclass
from pathlib import Path

from scrubjay.core.command_secrets import masked_command, masked_process
from scrubjay.core.errors import Unavailable
from scrubjay.core.secrets import masked

PROC = Path("/proc")
MAX_PROCESSES = 2_000
MAX_COMMAND_CHARACTERS = 500
MAX_MASKED_CHARACTERS = 4 * MAX_COMMAND_CHARACTERS


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """A snapshot of one process."""

    user: str
    pid: int
    cpu: float
    """Percent of one CPU core since the process started."""
    mem: float
    """Percent of the physical memory."""
    command: str
    """The command line with secrets masked: many programs take them as arguments."""


def running_processes() -> tuple[list[RunningProcess], bool]:
    """Return processes by pid, and True when there are more than the maximum."""
    try:
        pids = sorted(int(folder.name) for folder in PROC.iterdir() if folder.name.isdecimal())
        memory = _memory_bytes()
    except OSError as error:
        raise Unavailable("processes cannot be listed on this system", hint="only Linux has /proc") from error
    found = [process for pid in pids[:MAX_PROCESSES] if (process := _process(pid, memory)) is not None]
    return found, len(pids) > MAX_PROCESSES


def _process(pid: int, memory: int) -> RunningProcess | None:
    folder = PROC / str(pid)
    try:
        owner = folder.stat().st_uid
        status = (folder / "stat").read_text("utf-8", "replace")
        line = (folder / "cmdline").read_bytes()
    except OSError:  # the process has exited
        return None
    name, _, others = status.partition("(")[2].rpartition(")")
    fields = others.split()
    ticks = os.sysconf("SC_CLK_TCK")
    age = max(0.01, time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / ticks)
    resident = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    command = _masked_command_line(line) or f"[{name}]"
    return RunningProcess(
        user=_name(owner),
        pid=pid,
        cpu=round(100 * (int(fields[11]) + int(fields[12])) / ticks / age, 1),
        mem=round(100 * resident / memory, 1),
        command=_shown(command),
    )


def masked_lines(text: str) -> str:
    """Return the output of a program that lists processes, with the secrets in each line masked."""
    return "\n".join(masked(masked_command(" ".join(masked_process(line.split(" "))))) for line in text.split("\n"))


def _masked_command_line(line: bytes) -> str:
    """Return the content of /proc/PID/cmdline as text, with secrets masked."""
    limit = MAX_MASKED_CHARACTERS
    kept = line.rstrip(b"\0")
    if len(kept) > limit:  # without the last word, as in `_shown`
        kept = kept[:limit].rpartition(b"\0")[0] or kept[:limit].rpartition(b" ")[0]
    arguments = kept.decode("utf-8", "replace").split("\0")
    # A program that changes its title leaves one text.
    return masked(" ".join(masked_process(arguments)) if len(arguments) > 1 else masked_lines(arguments[0]))


def _shown(command: str) -> str:
    if len(command) > MAX_MASKED_CHARACTERS:  # without the last word: a part of a secret could not be masked
        command = command[:MAX_MASKED_CHARACTERS].rpartition(" ")[0]
    text = "".join(character if character.isprintable() else " " for character in masked(command))
    return text[:MAX_COMMAND_CHARACTERS]


def _memory_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _name(owner: int) -> str:
    try:
        return pwd.getpwuid(owner).pw_name
    except KeyError:
        return str(owner)
