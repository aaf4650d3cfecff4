"""The audit log of this process: takes what is logged of calls and refusals, and writes it on a thread of its own."""

import logging
import os
import threading
from collections import deque
from pathlib import Path
from typing import Any

from scrubjay.core.ids import new_id
from scrubjay.features.monitoring.audit.entry import CALLS, EDGE, SECURITY, entry_of, line_of
from scrubjay.features.monitoring.audit.file import FILE_NAME, SharedLines
from scrubjay.features.monitoring.audit.repeats import Repeats

logger = logging.getLogger("scrubjay.audit")

WRITE_SECONDS = 1.0
WRITE_AT_ONCE = 500
# When nothing can be written, older entries are kept and newer ones given up and counted.
MOST_WAITING = 50_000


class AuditLog(logging.Handler):
    """Makes nobody wait: an entry is written within a second, one of security at once, and at the end all of them.

    It hears what this process logs, whichever application does so: a process has one.
    """

    def __init__(self, home: Path, *, max_bytes: int, keep_files: int, enabled: bool = True) -> None:
        super().__init__(logging.INFO)
        self.enabled = enabled
        self.lines = SharedLines(home / FILE_NAME, max_bytes=max_bytes, keep_files=keep_files)
        self._waiting: deque[dict[str, Any]] = deque()
        self._repeats = Repeats()
        self._given_up = 0
        self._changed = threading.Condition()
        self._urgent = self._ending = self._failing = False
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._levels: dict[str, int] = {}

    def listen(self) -> None:
        """Begin to take what is logged."""
        if not self.enabled:
            return
        for name in (CALLS, EDGE, SECURITY):
            source = logging.getLogger(name)
            self._levels[name] = source.level
            source.setLevel(logging.INFO)  # whatever is shown on standard error
            source.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        entry = entry_of(record)
        if entry is None:
            return
        with self._changed:
            if self._repeats.leaves_out(entry):
                return
            if len(self._waiting) >= MOST_WAITING:
                self._given_up += 1
                return
            self._waiting.append(entry)
            self._urgent |= entry["kind"] == "security"
            if self._thread is None and not self._ending:
                self._thread = threading.Thread(target=self._keep_writing, name="audit", daemon=True)
                self._thread.start()
            if self._urgent or len(self._waiting) == WRITE_AT_ONCE:
                self._changed.notify()

    def write(self) -> None:
        """Write what is waiting now; for other threads than that of the event loop."""
        with self._writing:
            with self._changed:
                self._waiting += self._repeats.summaries(now=self._ending)
                entries, given_up, urgent = list(self._waiting), self._given_up, self._urgent
                self._urgent = False
            if given_up:
                lost = {"kind": "audit", "decision": "failed", "event": "entries_lost", "reason": str(given_up)}
                entries.append({"created": entries[-1]["created"] if entries else 0.0, **lost})
            if not entries:
                return
            lines = b"".join(line_of(new_id("aud"), entry) for entry in entries)
            try:
                self.lines.append(lines, durably=urgent)
            except OSError as error:  # tried again with what comes next
                if not self._failing:
                    logger.warning("the audit log cannot be written", extra={"problem": os.strerror(error.errno or 0)})
                self._failing = True
                return
            self._failing = False
            with self._changed:
                self._given_up -= given_up
                for _ in range(len(entries) - bool(given_up)):
                    self._waiting.popleft()

    @property
    def is_written(self) -> bool:
        """Whether what happens is written: not when nobody wants that, nor when it could not be the last time."""
        return self.enabled and not self._failing

    def close(self) -> None:
        """Take nothing any more, and write everything that was taken."""
        for name, level in self._levels.items():
            source = logging.getLogger(name)
            source.removeHandler(self)
            if not any(isinstance(other, AuditLog) for other in source.handlers):
                source.setLevel(level)
        self._levels.clear()
        with self._changed:
            self._ending = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
        self.write()
        self.lines.close()
        super().close()

    def _keep_writing(self) -> None:
        while not self._ending:
            with self._changed:
                self._changed.wait_for(self._is_due, WRITE_SECONDS)
            self.write()

    def _is_due(self) -> bool:
        return self._urgent or self._ending or (len(self._waiting) >= WRITE_AT_ONCE and not self._failing)
