"""The audit log of this process: subscribes to calls, requests and refusals, and writes them on its own thread."""

import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from scrubjay.core.ids import new_id
from scrubjay.features.monitoring.audit.entry import (
    Entry,
    call_entry,
    failure_entry,
    line_of,
    permission_entry,
    read_entry,
    refusal_entry,
    request_entry,
    security_entry,
)
from scrubjay.features.monitoring.audit.file import FILE_NAME, SharedLines
from scrubjay.features.monitoring.audit.repeats import Repeats
from scrubjay.tooling.event_bus import EventBus, Unsubscribe
from scrubjay.tooling.events import (
    CallEnded,
    PermissionDecided,
    RequestEnded,
    RequestFailed,
    RequestRefused,
    ResourceRead,
    SecurityEvent,
)
from scrubjay.tooling.process_events import PROCESS_EVENTS

logger = logging.getLogger("scrubjay.audit")

WRITE_SECONDS = 1.0
WRITE_AT_ONCE = 500
# When nothing can be written, older entries are kept and newer ones given up and counted.
MOST_WAITING = 50_000

Event = TypeVar("Event")


class AuditLog:
    """Writes an entry within a second, a security event at once, and everything when it is closed.

    No call waits for it. It covers the whole process, whichever application published an event.
    """

    def __init__(self, home: Path, *, max_bytes: int, keep_files: int, enabled: bool = True) -> None:
        self.enabled = enabled
        self.lines = SharedLines(home / FILE_NAME, max_bytes=max_bytes, keep_files=keep_files)
        self._waiting: deque[Entry] = deque()
        self._repeats = Repeats()
        self._given_up = 0
        self._changed = threading.Condition()
        self._urgent = self._ending = self._failing = False
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._subscriptions: list[Unsubscribe] = []

    def subscribe(self, events: EventBus = PROCESS_EVENTS) -> None:
        """Write what is published there from now on, if this log is enabled."""
        if not self.enabled:
            return
        self._subscribe(events, CallEnded, call_entry)
        self._subscribe(events, ResourceRead, read_entry)
        self._subscribe(events, RequestEnded, request_entry)
        self._subscribe(events, RequestFailed, failure_entry)
        self._subscribe(events, RequestRefused, refusal_entry)
        self._subscribe(events, PermissionDecided, permission_entry)
        self._subscribe(events, SecurityEvent, security_entry)

    def _subscribe(self, events: EventBus, kind: type[Event], entry_of: Callable[[Event], Entry]) -> None:
        self._subscriptions.append(events.subscribe(kind, lambda event: self._add(entry_of(event))))

    def _add(self, entry: Entry) -> None:
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
        """End the subscriptions, and write everything that is waiting."""
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

    def _keep_writing(self) -> None:
        while not self._ending:
            with self._changed:
                self._changed.wait_for(self._is_due, WRITE_SECONDS)
            self.write()

    def _is_due(self) -> bool:
        return self._urgent or self._ending or (len(self._waiting) >= WRITE_AT_ONCE and not self._failing)
