"""Settings of sessions and of the call history."""

from pydantic import BaseModel, Field


class SessionSettings(BaseModel):
    """Sessions of clients and the history of their tool calls."""

    history: bool = Field(
        default=True,
        description="Record every tool call in its client's session: arguments with secrets masked, and the first 500 "
        "characters of the result.",
    )
    keep_days: float = Field(
        default=30,
        gt=0,
        le=36_500,
        description="Days until recorded calls are deleted, together with sessions that have no calls left.",
    )
