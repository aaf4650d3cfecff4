"""The audit log of this process: subscribes to calls, requests and refusals, and writes them on its own thread."""

import logging
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scrubjay.core.ids import new_id
from scrubjay.features.monitoring.audit.entry import ENTRY_OF
from scrubjay.features.monitoring.audit.file import FILE_NAME, SharedLines
from scrubjay.features.monitoring.audit.lines import Entry, line_of
from scrubjay.features.monitoring.audit.refusal_throttle import RefusalThrottle
from scrubjay.tooling.event_bus import EventBus, Unsubscribe
from scrubjay.tooling.process_events import PROCESS_EVENTS

logger = logging.getLogger("scrubjay.audit")

WRITE_SECONDS = 1.0
WRITE_AT_ONCE = 500
# If nothing can be written, older entries are kept and newer ones dropped and counted.
MAX_PENDING = 50_000


class AuditLog:
    """Writes an entry within a second, a security event at once, and everything when it is closed.

    No call waits for it. It covers the whole process, whichever application published an event.
    """

    def __init__(self, home: Path, *, max_bytes: int, keep_files: int, enabled: bool = True) -> None:
        self.enabled = enabled
        self.lines = SharedLines(home / FILE_NAME, max_bytes=max_bytes, keep_files=keep_files)
        self._pending: deque[Entry] = deque()
        self._throttle = RefusalThrottle()
        self._dropped = 0
        self._changed = threading.Condition()
        self._urgent = self._ending = self._failing = False
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._subscriptions: list[Unsubscribe] = []

    def subscribe(self, events: EventBus = PROCESS_EVENTS) -> None:
        """Record the events published on this bus, if this log is enabled."""
        if not self.enabled:
            return
        for kind, entry_of in ENTRY_OF.items():
            self._subscribe(events, kind, entry_of)

    def _subscribe(self, events: EventBus, kind: type[Any], entry_of: Callable[[Any], Entry]) -> None:
        self._subscriptions.append(events.subscribe(kind, lambda event: self._add(entry_of(event))))

    def _add(self, entry: Entry) -> None:
        with self._changed:
            if self._throttle.suppresses(entry):
                return
            if len(self._pending) >= MAX_PENDING:
                self._dropped += 1
                return
            self._pending.append(entry)
            self._urgent |= entry["kind"] == "security"
            if self._thread is None and not self._ending:
                self._thread = threading.Thread(target=self._write_loop, name="audit", daemon=True)
                self._thread.start()
            if self._urgent or len(self._pending) == WRITE_AT_ONCE:
                self._changed.notify()

    def write(self) -> None:
        """Write all pending entries; blocks, so do not call it on the event loop's thread."""
        with self._writing:
            with self._changed:
                self._pending += self._throttle.summaries(now=self._ending)
                entries, dropped, urgent = list(self._pending), self._dropped, self._urgent
                self._urgent = False
            if dropped:
                lost = {"kind": "audit", "decision": "failed", "event": "entries_lost", "reason": str(dropped)}
                entries.append({"created": entries[-1]["created"] if entries else 0.0, **lost})
            if not entries:
                return
            lines = b"".join(line_of(new_id("aud"), entry) for entry in entries)
            try:
                self.lines.append(lines, durably=urgent)
            except OSError as error:  # retried with the next entries
                if not self._failing:
                    logger.warning("cannot write the audit log", extra={"problem": error.strerror or str(error)})
                self._failing = True
                return
            self._failing = False
            with self._changed:
                self._dropped -= dropped
                for _ in range(len(entries) - bool(dropped)):
                    self._pending.popleft()

    @property
    def is_written(self) -> bool:
        """True if the log is enabled and the last write succeeded."""
        return self.enabled and not self._failing

    def close(self) -> None:
        """End the subscriptions and write all pending entries."""
        for unsubscribe in self._subscriptions:
            unsubscribe()
        self._subscriptions.clear()
        with self._changed:
            self._ending = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
        self.write()
        self.lines.close()

    def _write_loop(self) -> None:
        while not self._ending:
            with self._changed:
                self._changed.wait_for(self._is_due, WRITE_SECONDS)
            self.write()

    def _is_due(self) -> bool:
        return self._urgent or self._ending or (len(self._pending) >= WRITE_AT_ONCE and not self._failing)
