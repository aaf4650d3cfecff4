"""The status of an index, from its newest job or its stored record."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scrubjay.code_index.store import IndexRecord
from scrubjay.core.errors import ErrorCode, ErrorRecord, NotFound
from scrubjay.core.progress import Progress
from scrubjay.features.code.index_status import status_of
from scrubjay.tooling.jobs.models import Job, JobState

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
EMPTY: dict[str, Any] = {
    "index_id": "idx_a",
    "stage": None,
    "estimated_completion": None,
    "current_operation": None,
    "error": None,
    "ended_at": None,
    "job_id": "job_1",
}
RECORD = IndexRecord(
    id="idx_a",
    root="/apollo",
    rev="HEAD",
    options={},
    generation=1,
    commit=None,
    created_at=NOW,
    updated_at=NOW,
    details={},
)


def job(state: JobState, done: float = 0, message: str = "", **more: Any) -> Job:
    return Job(id="job_1", kind="build", state=state, progress=Progress(done, 100, message), created_at=NOW, **more)


def test_a_running_build_reports_progress_and_estimated_completion() -> None:
    running = job(JobState.RUNNING, 25.2, "read: read 1 of 4 kB", started_at=NOW - timedelta(seconds=25.2))
    assert status_of("idx_a", None, running, NOW) == EMPTY | {
        "state": "running",
        "stage": "read",
        "progress": 25,
        "started_at": "2026-11-16T11:59:34.800000+00:00",
        "estimated_completion": "2026-11-16T12:01:14.800000+00:00",
        "current_operation": "read 1 of 4 kB",
    }


def test_a_build_that_has_just_started_has_no_estimate() -> None:
    started = job(JobState.CANCELLING, 2, "acquire: looking", started_at=NOW)
    status = status_of("idx_a", None, started, NOW)
    assert (status["state"], status["estimated_completion"]) == ("running", None)
    assert status_of("idx_a", None, job(JobState.QUEUED), NOW) == EMPTY | {
        "state": "queued",
        "progress": 0,
        "started_at": None,
    }


def test_a_finished_job_reports_its_outcome() -> None:
    ended = NOW + timedelta(seconds=1)
    error = ErrorRecord(ErrorCode.NOT_FOUND, "there is no folder")
    moments = {"started_at": NOW, "ended_at": ended}
    times = {"started_at": NOW.isoformat(), "ended_at": ended.isoformat()}
    failed = job(JobState.FAILED, 5, "acquire: looking at it", error=error, **moments)
    assert status_of("idx_a", RECORD, failed, NOW) == EMPTY | times | {
        "state": "failed",
        "stage": "acquire",
        "progress": 5,
        "error": "there is no folder",
    }
    cancelled = job(JobState.CANCELLED, 80, "graph: finding", **moments)
    assert status_of("idx_a", RECORD, cancelled, NOW)["state"] == "cancelled"
    completed = job(JobState.COMPLETED, 97, "write: written", **moments)
    assert status_of("idx_a", RECORD, completed, NOW) == EMPTY | times | {"state": "completed", "progress": 100}


def test_without_a_newer_job_the_stored_record_counts() -> None:
    completed = {"state": "completed", "progress": 100, "job_id": None}
    times = {"started_at": NOW.isoformat(), "ended_at": NOW.isoformat()}
    assert status_of("idx_a", RECORD, None, NOW) == EMPTY | completed | times
    older = job(JobState.FAILED, started_at=NOW, ended_at=NOW - timedelta(hours=1))
    assert status_of("idx_a", RECORD, older, NOW) == EMPTY | completed | times


def test_an_unknown_index_has_no_status() -> None:
    with pytest.raises(NotFound, match="idx_a"):
        status_of("idx_a", None, None, NOW)
