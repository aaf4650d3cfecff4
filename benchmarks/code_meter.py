"""What a process and all that it started use: CPU, and memory at its height."""

import os
import re
import threading
from pathlib import Path

SAMPLE_SECONDS = 0.05
_TICKS = os.sysconf("SC_CLK_TCK")
_MOST = re.compile(r"VmHWM:\s+(\d+) kB")
_NOW = re.compile(r"VmRSS:\s+(\d+) kB")


class Meter:
    """Looks at the processes again and again until it is closed; in megabytes."""

    def __init__(self, process: int) -> None:
        self.largest = 0.0
        """The most that one of the processes ever had."""
        self.together = 0.0
        """The most that all of them had at one time; what two of them share is counted twice."""
        self._process = process
        self._over = threading.Event()
        self._looking = threading.Thread(target=self._look_again, daemon=True)
        self._looking.start()

    def cpu(self) -> float:
        """The CPU seconds of all of them so far, those included that have ended and were waited for."""
        return sum(map(_cpu, _family(self._process)))

    def close(self) -> None:
        self._over.set()
        self._looking.join()

    def look(self) -> None:
        together = 0.0
        for process in _family(self._process):
            most, now = _megabytes(process)
            self.largest = max(self.largest, most)
            together += now
        self.together = max(self.together, together)

    def _look_again(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            self.look()


def _family(process: int) -> list[int]:
    """The process and all below it. Children are listed with the thread that started them."""
    found = [process]
    for one in found:
        try:
            for thread in Path(f"/proc/{one}/task").iterdir():
                found.extend(map(int, (thread / "children").read_text("ascii").split()))
        except OSError:  # it ended
            continue
    return found


def _cpu(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:  # it ended: who waited for it tells what it used
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS


def _megabytes(process: int) -> tuple[float, float]:
    """The most it had until now, and what it has. Not by `ru_maxrss`, which begins with what its parent has."""
    try:
        status = Path(f"/proc/{process}/status").read_text("utf-8", "replace")
    except OSError:
        return 0.0, 0.0
    most, now = _MOST.search(status), _NOW.search(status)
    return (int(most[1]) / 1000 if most else 0.0), (int(now[1]) / 1000 if now else 0.0)
