"""Jobs as stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from scrubjay.core.errors import ErrorRecord
from scrubjay.core.progress import Progress


class JobState(StrEnum):
    """State of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        return self in (JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A unit of long-running work, with its progress and outcome."""

    id: str
    kind: str
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    state: JobState
    progress: Progress = Progress()
    result: Mapping[str, Any] | None = None
    error: ErrorRecord | None = None
    attempts: int = 0
    owner: str | None = None
    """The process that holds the lease."""
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
