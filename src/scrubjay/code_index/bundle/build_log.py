"""What happened while an index was built, a line an event, and the same as a page for people."""

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

EVENTS = "events.jsonl"
# The older half of a longer file is let go.
LONGEST_BYTES = 256 * 1024
# Within a stage, progress is noted when it came so much further, in hundredths.
STEP = 10.0
# So many files are named in one line.
MOST_LISTED = 10

Event = Mapping[str, Any]


@dataclass
class Journal:
    """Notes the stages of one build beside passing them on. It is the build's reporter."""

    folder: Path
    record: IndexRecord
    reporter: Reporter
    clock: Clock
    _stage: str = field(default="", init=False)
    _noted: float = field(default=0.0, init=False)
    _began: datetime | None = field(default=None, init=False)

    def begin(self, snapshot: Snapshot) -> None:
        """Note what is about to be indexed."""
        self._began = self.clock()
        root = snapshot.root.encode("utf-8", "backslashreplace").decode()
        self._note("start", 0, f"Repository: {root}")
        self._note("start", 0, f"Revision: {snapshot.commit or snapshot.rev}")
        self._note("acquire", 0, f"Found {len(snapshot.files)} files and left out {len(snapshot.skipped)}")
        if snapshot.dirty:
            self._note("acquire", 0, f"{len(snapshot.dirty)} of them differ from the commit")
        for one in left_out_of(self.record.details):
            self._note("acquire", 0, f"Left out as {one.reason}: {_listed(one.paths, one.files)}")

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        stage, _, what = message.partition(": ")
        if stage != self._stage or done - self._noted >= STEP:
            self._stage, self._noted = stage, done
            self._note(stage, done, what)
        await self.reporter.report(done, total, message)

    def complete(self, record: IndexRecord) -> None:
        """Note that the index has come to this state."""
        self.record = record
        counts = record.details
        told = f"{counts['symbols']} definitions, {counts['edges']} uses resolved, {counts['unresolved']} not"
        self._note("write", 97, told)
        if broken := counts.get("broken", ()):
            self._note("write", 97, f"Syntax that could not be read in {_listed(broken, len(broken))}")
        self._note("complete", 100, "Pipeline completed successfully")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        match error:
            case None:
                pass
            case Cancelled():
                self._note("cancelled", self._noted, "Pipeline cancelled", level="WARNING")
            case ScrubjayError():
                self._note("failed", self._noted, f"Pipeline failed: {error.message}", level="ERROR")
            case Exception():
                self._note("failed", self._noted, f"Pipeline failed: {type(error).__name__}", level="ERROR")
            case _:
                self._note("interrupted", self._noted, "The process left; another goes on", level="WARNING")

    def _note(self, stage: str, progress: float, message: str, level: str = "INFO") -> None:
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
        file = self.folder / EVENTS
        try:
            size = _appended(file, line)
        except FileNotFoundError:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            size = _appended(file, line)
        if size > LONGEST_BYTES:
            _shorten(file)


def _appended(file: Path, line: bytes) -> int:
    """Write this at the end of the file; how long that is now."""
    with file.open("ab", buffering=0) as events:
        events.write(line)
        return events.tell()


def _listed(paths: Sequence[str], total: int) -> str:
    shown = paths[:MOST_LISTED]
    return ", ".join(shown) + (f" and {total - len(shown)} more" if total > len(shown) else "")


def events_of(folder: Path) -> Sequence[Event]:
    """All that is noted of an index, oldest first; a line that a crash cut off is left out."""
    try:
        lines = (folder / EVENTS).read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []
    return [*_events(lines)]


def until_complete(events: Sequence[Event], generation: int) -> Sequence[Event]:
    """Those up to where the index came to this state: the same whatever was tried and given up since."""
    places = [
        place
        for place, event in enumerate(events)
        if event["stage"] == "complete" and event.get("generation") == generation
    ]
    return events[: places[-1] + 1] if places else []


def log_page(index_id: str, events: Sequence[Event]) -> str:
    """The events as a page, with a section for each stage of each build."""
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


def _events(lines: Sequence[str]) -> Iterator[Event]:
    for line in lines:
        try:
            event = json.loads(line)
            yield {**event, "stage": event["stage"], "timestamp": event["timestamp"], "message": event["message"]}
        except (ValueError, KeyError, TypeError):
            continue


def _shorten(file: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    shorter = file.with_suffix(".shorter")
    shorter.write_bytes(b"".join(lines[len(lines) // 2 :]))
    shorter.replace(file)
