"""The status of an index is that of the newest job, or of what is kept."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scrubjay.code_index.store import IndexRecord
from scrubjay.core.errors import ErrorCode, ErrorRecord, NotFound
from scrubjay.core.progress import Progress
from scrubjay.features.code.index_status import status_of
from scrubjay.tooling.jobs.models import Job, JobState

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
NOTHING: dict[str, Any] = {
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


def test_an_index_that_is_being_built_says_how_far_it_is_and_when_it_will_end() -> None:
    running = job(JobState.RUNNING, 25.2, "read: read 1 of 4 kB", started_at=NOW - timedelta(seconds=25.2))
    assert status_of("idx_a", None, running, NOW) == NOTHING | {
        "state": "running",
        "stage": "read",
        "progress": 25,
        "started_at": "2026-11-16T11:59:34.800000+00:00",
        "estimated_completion": "2026-11-16T12:01:14.800000+00:00",
        "current_operation": "read 1 of 4 kB",
    }


def test_at_the_beginning_nothing_is_said_of_the_end() -> None:
    begun = job(JobState.CANCELLING, 2, "acquire: looking", started_at=NOW)
    told = status_of("idx_a", None, begun, NOW)
    assert (told["state"], told["estimated_completion"]) == ("running", None)
    assert status_of("idx_a", None, job(JobState.QUEUED), NOW) == NOTHING | {
        "state": "queued",
        "progress": 0,
        "started_at": None,
    }


def test_how_it_ended_is_told() -> None:
    ended = NOW + timedelta(seconds=1)
    error = ErrorRecord(ErrorCode.NOT_FOUND, "there is no folder")
    moments = {"started_at": NOW, "ended_at": ended}
    told = {"started_at": NOW.isoformat(), "ended_at": ended.isoformat()}
    failed = job(JobState.FAILED, 5, "acquire: looking at it", error=error, **moments)
    assert status_of("idx_a", RECORD, failed, NOW) == NOTHING | told | {
        "state": "failed",
        "stage": "acquire",
        "progress": 5,
        "error": "there is no folder",
    }
    cancelled = job(JobState.CANCELLED, 80, "graph: finding", **moments)
    assert status_of("idx_a", RECORD, cancelled, NOW)["state"] == "cancelled"
    completed = job(JobState.COMPLETED, 97, "write: written", **moments)
    assert status_of("idx_a", RECORD, completed, NOW) == NOTHING | told | {"state": "completed", "progress": 100}


def test_without_a_newer_job_what_is_kept_counts() -> None:
    told = {"state": "completed", "progress": 100, "job_id": None}
    moments = {"started_at": NOW.isoformat(), "ended_at": NOW.isoformat()}
    assert status_of("idx_a", RECORD, None, NOW) == NOTHING | told | moments
    older = job(JobState.FAILED, started_at=NOW, ended_at=NOW - timedelta(hours=1))
    assert status_of("idx_a", RECORD, older, NOW) == NOTHING | told | moments


def test_an_index_that_never_was_has_no_status() -> None:
    with pytest.raises(NotFound, match="idx_a"):
        status_of("idx_a", None, None, NOW)
