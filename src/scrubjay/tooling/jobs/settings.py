"""Settings of jobs."""

from pydantic import BaseModel, Field


class JobSettings(BaseModel):
    """Jobs: work that can outlive its call."""

    patience_seconds: float = Field(
        default=10,
        ge=0,
        le=600,
        description="Seconds that an MCP call waits for the result of a job before it returns the job instead.",
    )
    lease_seconds: float = Field(
        default=30,
        ge=3,
        le=3600,
        description="Seconds after which a job is taken over by another process if its own has not renewed the lease.",
    )
    keep_days: float = Field(
        default=30, gt=0, le=36_500, description="Days after which the record of an ended job is erased."
    )
