"""Settings of memory: the quota of a client."""

from pydantic import BaseModel, Field


class QuotaSettings(BaseModel):
    """Limits of one client."""

    memories_per_client: int = Field(
        default=0,
        ge=0,
        description="Maximum number of memories of one client, and of its tasks, goals and milestones together; 0 for "
        "no limit.",
    )
    writes_per_minute: int = Field(
        default=6000,
        ge=0,
        description="Maximum writes per minute of one client, of any size; 0 for no limit.",
    )
