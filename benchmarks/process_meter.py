"""Measure CPU time and peak memory of a process and all its descendants."""

import os
import re
import threading
from pathlib import Path

SAMPLE_SECONDS = 0.05
_TICKS = os.sysconf("SC_CLK_TCK")
_PEAK_MEMORY = re.compile(r"VmHWM:\s+(\d+) kB")
_CURRENT_MEMORY = re.compile(r"VmRSS:\s+(\d+) kB")


class ProcessMeter:
    """Samples memory, in megabytes, every `SAMPLE_SECONDS` until closed."""

    def __init__(self, process: int) -> None:
        self.largest = 0.0
        """Peak memory of the largest process."""
        self.together = 0.0
        """Peak memory of all processes together; memory shared by two of them counts twice."""
        self._process = process
        self._over = threading.Event()
        self._looking = threading.Thread(target=self._look_again, daemon=True)
        self._looking.start()

    def cpu(self) -> float:
        """Return the CPU seconds of all processes so far, including ended ones whose parent waited for them."""
        return sum(map(_cpu, _process_tree(self._process)))

    def close(self) -> None:
        self._over.set()
        self._looking.join()

    def sample(self) -> None:
        together = 0.0
        for process in _process_tree(self._process):
            most, now = _megabytes(process)
            self.largest = max(self.largest, most)
            together += now
        self.together = max(self.together, together)

    def _look_again(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            self.sample()


def _process_tree(process: int) -> list[int]:
    """Return the process and its descendants. /proc lists children by the thread that started them."""
    found = [process]
    for one in found:
        try:
            for thread in Path(f"/proc/{one}/task").iterdir():
                found.extend(map(int, (thread / "children").read_text("ascii").split()))
        except OSError:  # the process has ended
            continue
    return found


def _cpu(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:  # the process has ended; its CPU time is in that of the parent that waited for it
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS


def _megabytes(process: int) -> tuple[float, float]:
    """Return peak and current memory. `ru_maxrss` is unsuitable: it starts with the parent's value."""
    try:
        status = Path(f"/proc/{process}/status").read_text("utf-8", "replace")
    except OSError:
        return 0.0, 0.0
    most, now = _PEAK_MEMORY.search(status), _CURRENT_MEMORY.search(status)
    return (int(most[1]) / 1000 if most else 0.0), (int(now[1]) / 1000 if now else 0.0)
