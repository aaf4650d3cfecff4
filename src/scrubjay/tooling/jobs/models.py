"""Work that outlives its caller, as it is kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from scrubjay.core.errors import ErrorRecord
from scrubjay.core.progress import Progress


class JobState(StrEnum):
    """Where a job is in its life."""

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
    """One piece of long work: what it is, how far it is, how it ended."""

    id: str
    kind: str
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    state: JobState
    progress: Progress = Progress()
    result: Mapping[str, Any] | None = None
    error: ErrorRecord | None = None
    attempts: int = 0
    owner: str | None = None
    """The process that runs it, while its lease lasts."""
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
