"""Settings of Mira's routes, chat and event stream."""

from pydantic import BaseModel, Field


class MiraSettings(BaseModel):
    """Mira's endpoints under /api, its chat, and its event stream at /ws."""

    enabled: bool = Field(default=True, description="Serve Mira's endpoints.")
    remember: bool = Field(default=True, description="Store the exchanges of its chat as memories.")
    persona: str = Field(
        default="You are an assistant with a long memory.",
        max_length=8_000,
        description="System prompt of its chat, for all callers. Callers can extend it for a project or a session with "
        "the tool `persona`.",
    )
    max_connections: int = Field(
        default=1000, ge=1, le=100_000, description="Maximum number of simultaneous connections to /ws."
    )
    outbox_bytes: int = Field(
        default=1024 * 1024,
        ge=64 * 1024,
        description="Bytes that may wait for a slow connection. Beyond that it is closed; the client can reconnect and "
        "replay the events that it missed.",
    )
    slow_seconds: float = Field(
        default=10, gt=0, le=600, description="Seconds after which a connection that reads nothing is closed."
    )
