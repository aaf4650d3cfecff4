"""The log of an index build can be read as JSON lines and as Markdown."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from scrubjay.code_index.bundle.build_log import (
    EVENTS_FILE,
    MAX_BYTES,
    BuildLogReporter,
    events_until_complete,
    read_events,
    render_log,
)
from scrubjay.code_index.models import Language, Snapshot, SourceFile
from scrubjay.code_index.store import IndexRecord
from scrubjay.core.errors import Cancelled, Unavailable
from scrubjay.core.progress import SilentReporter

NOW = datetime(2026, 11, 16, 10, 30, 15, tzinfo=UTC)
DETAILS = {"symbols": 3, "edges": 2, "unresolved": 1}
SNAPSHOT = Snapshot(
    root="/apollo", rev="HEAD", commit="c0ffee", files=[SourceFile("a.py", "b", 1, Language.PYTHON, dirty=True)]
)


class Clock:
    """A clock that advances by one second per reading."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def record(generation: int = 1) -> IndexRecord:
    return IndexRecord(
        id="idx_a",
        root="/apollo",
        rev="HEAD",
        options={},
        generation=generation,
        commit=None,
        created_at=NOW,
        updated_at=NOW,
        details=DETAILS,
    )


def make_reporter(folder: Path, generation: int = 1) -> BuildLogReporter:
    return BuildLogReporter(folder, record(generation), SilentReporter(), Clock())


async def log_build(folder: Path, generation: int = 1) -> None:
    with make_reporter(folder, generation) as reporter:
        reporter.begin(SNAPSHOT)
        for done in range(5, 71, 5):
            await reporter.report(done, 100, f"read: {done} of 70")
        await reporter.report(70, 100, "graph: finding")
        reporter.complete(record(generation))


async def test_a_build_is_logged_stage_by_stage(tmp_path: Path) -> None:
    await log_build(tmp_path)
    assert render_log("idx_a", read_events(tmp_path)) == (
        "# Pipeline Log for idx_a\n"
        "\n## 2026-11-16 10:30:17 - Pipeline Started\n- Repository: /apollo\n- Revision: c0ffee\n"
        "\n## 2026-11-16 10:30:19 - Stage: Acquire\n- Found 1 files, skipped 0\n"
        "- 1 of them differ from the commit\n"
        "\n## 2026-11-16 10:30:21 - Stage: Read\n"
        "- 5 of 70\n- 15 of 70\n- 25 of 70\n- 35 of 70\n- 45 of 70\n- 55 of 70\n- 65 of 70\n"
        "\n## 2026-11-16 10:30:28 - Stage: Graph\n- finding\n"
        "\n## 2026-11-16 10:30:29 - Stage: Write\n- 3 definitions, 2 uses resolved, 1 unresolved\n"
        "\n## 2026-11-16 10:30:30 - Pipeline Completed\n- Pipeline completed successfully\n"
    )


@pytest.mark.parametrize(
    ("error", "stage", "message"),
    [
        (Cancelled("stop"), "cancelled", "Pipeline cancelled"),
        (Unavailable("no disk"), "failed", "Pipeline failed: no disk"),
        (ZeroDivisionError("a secret"), "failed", "Pipeline failed: ZeroDivisionError"),
        (KeyboardInterrupt(), "interrupted", "The process stopped; another will continue"),
    ],
)
async def test_a_build_that_fails_logs_how_it_ended(
    tmp_path: Path, error: BaseException, stage: str, message: str
) -> None:
    with pytest.raises(type(error)), make_reporter(tmp_path):
        raise error
    (event,) = read_events(tmp_path)
    assert (event["stage"], event["message"]) == (stage, message)


async def test_later_attempts_do_not_change_the_log_of_a_state(tmp_path: Path) -> None:
    await log_build(tmp_path)
    before = read_events(tmp_path)
    cancelled = make_reporter(tmp_path, 2)
    cancelled.begin(SNAPSHOT)
    with pytest.raises(Cancelled), cancelled:
        raise Cancelled("stop")
    assert len(read_events(tmp_path)) > len(before)
    assert events_until_complete(read_events(tmp_path), 1) == before
    assert events_until_complete(read_events(tmp_path), 2) == []


def test_reading_the_log_creates_no_files(tmp_path: Path) -> None:
    assert render_log("idx_a", read_events(tmp_path / "none")) == "# Pipeline Log for idx_a\n\nNo log entries yet.\n"
    assert list(tmp_path.iterdir()) == []


async def test_a_truncated_line_is_ignored(tmp_path: Path) -> None:
    await log_build(tmp_path)
    complete = read_events(tmp_path)
    with (tmp_path / EVENTS_FILE).open("ab") as file:
        file.write(b'[1]\n{"stage": "re')
    assert read_events(tmp_path) == complete


async def test_a_long_log_drops_the_oldest_events(tmp_path: Path) -> None:
    (tmp_path / EVENTS_FILE).write_bytes(b"x" * 99 + b"\n" + b'{"stage":"a","timestamp":"b","message":"c"}\n' * 9_000)
    await log_build(tmp_path)
    assert (tmp_path / EVENTS_FILE).stat().st_size < MAX_BYTES
    assert read_events(tmp_path)[-1]["stage"] == "complete"
