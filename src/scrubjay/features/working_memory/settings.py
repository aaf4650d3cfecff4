"""Settings of working memory."""

from pydantic import BaseModel, Field


class WorkingSettings(BaseModel):
    """Working memory of sessions."""

    capacity: int = Field(default=100, ge=1, le=10_000, description="Maximum number of items per session.")
    ttl_seconds: float = Field(default=300, ge=1, le=86_400, description="Default seconds until an item expires.")
    threshold: float = Field(
        default=0.3,
        ge=0,
        le=1,
        description="Importance, 0 to 1, from which an item becomes a memory before it expires; also the minimum "
        "consolidation score.",
    )
