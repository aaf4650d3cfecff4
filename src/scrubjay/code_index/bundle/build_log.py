"""Log the events of index builds as JSON lines, and render the log as Markdown."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scrubjay.code_index.index.statistics import left_out_of
from scrubjay.code_index.models import Snapshot
from scrubjay.code_index.store import IndexRecord
from scrubjay.core.clock import Clock
from scrubjay.core.errors import Cancelled, ScrubjayError
from scrubjay.core.progress import Reporter

EVENTS_FILE = "events.jsonl"
# Above this size, the older half of the file is dropped.
MAX_BYTES = 256 * 1024
# Percentage points of progress after which a stage is logged again.
STEP = 10.0
# Maximum number of paths in one message.
MAX_LISTED = 10

Event = Mapping[str, Any]


@dataclass
class BuildLogReporter:
    """A progress reporter that logs the stages of one build and passes all reports on."""

    folder: Path
    record: IndexRecord
    reporter: Reporter
    clock: Clock
    _stage: str = field(default="", init=False)
    _logged_progress: float = field(default=0.0, init=False)
    _began: datetime | None = field(default=None, init=False)

    def begin(self, snapshot: Snapshot) -> None:
        """Log which repository is about to be indexed."""
        self._began = self.clock()
        root = snapshot.root.encode("utf-8", "backslashreplace").decode()
        self._log("start", 0, f"Repository: {root}")
        self._log("start", 0, f"Revision: {snapshot.commit or snapshot.rev}")
        self._log("acquire", 0, f"Found {len(snapshot.files)} files, skipped {len(snapshot.skipped)}")
        if snapshot.dirty:
            self._log("acquire", 0, f"{len(snapshot.dirty)} of them differ from the commit")
        for one in left_out_of(self.record.details):
            self._log("acquire", 0, f"Skipped ({one.reason}): {_join_paths(one.paths, one.files)}")

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        stage, _, what = message.partition(": ")
        if stage != self._stage or done - self._logged_progress >= STEP:
            self._stage, self._logged_progress = stage, done
            self._log(stage, done, what)
        await self.reporter.report(done, total, message)

    def complete(self, record: IndexRecord) -> None:
        """Log that the index reached the state of this record."""
        self.record = record
        counts = record.details
        summary = f"{counts['symbols']} definitions, {counts['edges']} uses resolved, {counts['unresolved']} unresolved"
        self._log("write", 97, summary)
        if broken := counts.get("broken", ()):
            self._log("write", 97, f"Syntax errors in {_join_paths(broken, len(broken))}")
        self._log("complete", 100, "Pipeline completed successfully")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        match error:
            case None:
                pass
            case Cancelled():
                self._log("cancelled", self._logged_progress, "Pipeline cancelled", level="WARNING")
            case ScrubjayError():
                self._log("failed", self._logged_progress, f"Pipeline failed: {error.message}", level="ERROR")
            case Exception():
                self._log("failed", self._logged_progress, f"Pipeline failed: {type(error).__name__}", level="ERROR")
            case _:
                message = "The process stopped; another will continue"
                self._log("interrupted", self._logged_progress, message, level="WARNING")

    def _log(self, stage: str, progress: float, message: str, level: str = "INFO") -> None:
        now = self.clock()
        event = {
            "timestamp": now.isoformat(),
            "level": level,
            "logger": "scrubjay.code_index",
            "message": message,
            "index_id": self.record.id,
            "generation": self.record.generation,
            "stage": stage,
            "progress": progress,
            "duration_ms": round((now - (self._began or now)).total_seconds() * 1000),
        }
        line = (json.dumps(event, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        file = self.folder / EVENTS_FILE
        try:
            size = _append(file, line)
        except FileNotFoundError:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            size = _append(file, line)
        if size > MAX_BYTES:
            _drop_older_half(file)


def _append(file: Path, line: bytes) -> int:
    """Append a line to the file and return the new size."""
    with file.open("ab", buffering=0) as events:
        events.write(line)
        return events.tell()


def _join_paths(paths: Sequence[str], total: int) -> str:
    shown = paths[:MAX_LISTED]
    return ", ".join(shown) + (f" and {total - len(shown)} more" if total > len(shown) else "")


def read_events(folder: Path) -> Sequence[Event]:
    """Return the logged events of an index, oldest first; lines that a crash truncated are left out."""
    try:
        lines = (folder / EVENTS_FILE).read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []
    return [*_parse_lines(lines)]


def events_until_complete(events: Sequence[Event], generation: int) -> Sequence[Event]:
    """Return the events up to the completion of this generation, so that later attempts do not change the result."""
    positions = [
        position
        for position, event in enumerate(events)
        if event["stage"] == "complete" and event.get("generation") == generation
    ]
    return events[: positions[-1] + 1] if positions else []


def render_log(index_id: str, events: Sequence[Event]) -> str:
    """Render the events as Markdown, with a section for each stage of each build."""
    lines = [f"# Pipeline Log for {index_id}"]
    last: tuple[object, object] | None = None
    for event in events:
        here = event.get("generation"), event["stage"]
        if here != last:
            moment = str(event["timestamp"])[:19].replace("T", " ")
            lines += ["", f"## {moment} - {_heading(str(event['stage']))}"]
            last = here
        lines.append(f"- {' '.join(str(event['message']).split())}")
    if not events:
        lines += ["", "No log entries yet."]
    return "\n".join(lines) + "\n"


def _heading(stage: str) -> str:
    match stage:
        case "start":
            return "Pipeline Started"
        case "complete":
            return "Pipeline Completed"
        case "cancelled" | "failed" | "interrupted":
            return f"Pipeline {stage.capitalize()}"
        case _:
            return f"Stage: {stage.capitalize()}"


def _parse_lines(lines: Sequence[str]) -> Iterator[Event]:
    for line in lines:
        try:
            event = json.loads(line)
            yield {**event, "stage": event["stage"], "timestamp": event["timestamp"], "message": event["message"]}
        except (ValueError, KeyError, TypeError):
            continue


def _drop_older_half(file: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    shorter = file.with_suffix(".shorter")
    shorter.write_bytes(b"".join(lines[len(lines) // 2 :]))
    shorter.replace(file)
