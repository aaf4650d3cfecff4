"""The processes of this machine, as the kernel tells them."""

import os
import pwd
import time
from dataclasses import dataclass
from pathlib import Path

from scrubjay.core.errors import Unavailable
from scrubjay.core.secrets import masked

PROC = Path("/proc")
MOST_PROCESSES = 2_000
LONGEST_COMMAND = 500


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """A process at one moment."""

    user: str
    pid: int
    cpu: float
    """The share of one processor since it began, in percent."""
    mem: float
    """The share of the machine's memory, in percent."""
    command: str
    """Without secrets: many programs are given theirs on the command line."""


def running_processes() -> tuple[list[RunningProcess], bool]:
    """All of them by pid, and whether there are more."""
    try:
        pids = sorted(int(place.name) for place in PROC.iterdir() if place.name.isdecimal())
        memory = _memory_bytes()
    except OSError as error:
        raise Unavailable("this system does not tell its processes", hint="only Linux does, by /proc") from error
    found = [process for pid in pids[:MOST_PROCESSES] if (process := _process(pid, memory)) is not None]
    return found, len(pids) > MOST_PROCESSES


def _process(pid: int, memory: int) -> RunningProcess | None:
    place = PROC / str(pid)
    try:
        owner = place.stat().st_uid
        told = (place / "stat").read_text("utf-8", "replace")
        line = (place / "cmdline").read_bytes()
    except OSError:  # it has ended
        return None
    name, _, others = told.partition("(")[2].rpartition(")")
    fields = others.split()
    ticks = os.sysconf("SC_CLK_TCK")
    age = max(0.01, time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / ticks)
    resident = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    command = line.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace") or f"[{name}]"
    return RunningProcess(
        user=_name(owner),
        pid=pid,
        cpu=round(100 * (int(fields[11]) + int(fields[12])) / ticks / age, 1),
        mem=round(100 * resident / memory, 1),
        command="".join(sign if sign.isprintable() else " " for sign in masked(command[: 4 * LONGEST_COMMAND]))[
            :LONGEST_COMMAND
        ],
    )


def _memory_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _name(owner: int) -> str:
    try:
        return pwd.getpwuid(owner).pw_name
    except KeyError:
        return str(owner)
