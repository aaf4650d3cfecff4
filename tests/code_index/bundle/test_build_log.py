"""What happened while an index was built can be read, as lines and as a page."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from scrubjay.code_index.bundle.build_log import EVENTS, LONGEST_BYTES, Journal, events_of, log_page, until_complete
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
    """A second later at every look."""

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


def journal(folder: Path, generation: int = 1) -> Journal:
    return Journal(folder, record(generation), SilentReporter(), Clock())


async def built(folder: Path, generation: int = 1) -> None:
    with journal(folder, generation) as own:
        own.begin(SNAPSHOT)
        for done in range(5, 71, 5):
            await own.report(done, 100, f"read: {done} of 70")
        await own.report(70, 100, "graph: finding")
        own.complete(record(generation))


async def test_a_build_is_told_stage_by_stage(tmp_path: Path) -> None:
    await built(tmp_path)
    assert log_page("idx_a", events_of(tmp_path)) == (
        "# Pipeline Log for idx_a\n"
        "\n## 2026-11-16 10:30:17 - Pipeline Started\n- Repository: /apollo\n- Revision: c0ffee\n"
        "\n## 2026-11-16 10:30:19 - Stage: Acquire\n- Found 1 files and left out 0\n"
        "- 1 of them differ from the commit\n"
        "\n## 2026-11-16 10:30:21 - Stage: Read\n"
        "- 5 of 70\n- 15 of 70\n- 25 of 70\n- 35 of 70\n- 45 of 70\n- 55 of 70\n- 65 of 70\n"
        "\n## 2026-11-16 10:30:28 - Stage: Graph\n- finding\n"
        "\n## 2026-11-16 10:30:29 - Stage: Write\n- 3 definitions, 2 uses resolved, 1 not\n"
        "\n## 2026-11-16 10:30:30 - Pipeline Completed\n- Pipeline completed successfully\n"
    )


@pytest.mark.parametrize(
    ("error", "stage", "message"),
    [
        (Cancelled("stop"), "cancelled", "Pipeline cancelled"),
        (Unavailable("no disk"), "failed", "Pipeline failed: no disk"),
        (ZeroDivisionError("a secret"), "failed", "Pipeline failed: ZeroDivisionError"),
        (KeyboardInterrupt(), "interrupted", "The process left; another goes on"),
    ],
)
async def test_a_build_that_did_not_end_well_says_how_it_ended(
    tmp_path: Path, error: BaseException, stage: str, message: str
) -> None:
    with pytest.raises(type(error)), journal(tmp_path):
        raise error
    (event,) = events_of(tmp_path)
    assert (event["stage"], event["message"]) == (stage, message)


async def test_what_was_tried_since_is_no_part_of_a_state(tmp_path: Path) -> None:
    await built(tmp_path)
    before = events_of(tmp_path)
    given_up = journal(tmp_path, 2)
    given_up.begin(SNAPSHOT)
    with pytest.raises(Cancelled), given_up:
        raise Cancelled("stop")
    assert len(events_of(tmp_path)) > len(before)
    assert until_complete(events_of(tmp_path), 1) == before
    assert until_complete(events_of(tmp_path), 2) == []


def test_nothing_is_made_by_looking(tmp_path: Path) -> None:
    assert log_page("idx_a", events_of(tmp_path / "none")) == "# Pipeline Log for idx_a\n\nNo log entries yet.\n"
    assert list(tmp_path.iterdir()) == []


async def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    await built(tmp_path)
    whole = events_of(tmp_path)
    with (tmp_path / EVENTS).open("ab") as file:
        file.write(b'[1]\n{"stage": "re')
    assert events_of(tmp_path) == whole


async def test_a_long_journal_lets_the_oldest_go(tmp_path: Path) -> None:
    (tmp_path / EVENTS).write_bytes(b"x" * 99 + b"\n" + b'{"stage":"a","timestamp":"b","message":"c"}\n' * 9_000)
    await built(tmp_path)
    assert (tmp_path / EVENTS).stat().st_size < LONGEST_BYTES
    assert events_of(tmp_path)[-1]["stage"] == "complete"
