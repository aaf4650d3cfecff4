"""Settings of the Phoenix WebSocket."""

from pydantic import BaseModel, Field


class SynapseSettings(BaseModel):
    """The Synapse channel, a WebSocket at /cortex/websocket."""

    enabled: bool = Field(default=True, description="Serve the WebSocket.")
    workers: int = Field(
        default=8, ge=1, le=1000, description="Questions and calls that run at the same time, over all connections."
    )
    max_waiting: int = Field(
        default=256,
        ge=0,
        le=100_000,
        description="Questions and calls that may wait for a worker; further ones are refused as overloaded.",
    )
    max_connections: int = Field(default=1000, ge=1, le=100_000, description="Maximum open connections.")
    messages_per_second: float = Field(
        default=50, ge=1, le=100_000, description="Messages per second that one connection may send on average."
    )
    max_frame_bytes: int = Field(
        default=1024 * 1024, ge=1024, description="Maximum size of a WebSocket message in bytes."
    )
    outbox_bytes: int = Field(
        default=1024 * 1024,
        ge=1024,
        description="Bytes that may wait for a client that reads slowly. Beyond that, thoughts and progress are "
        "dropped; the connection is closed when results do not fit either.",
    )
    slow_seconds: float = Field(
        default=10, gt=0, le=600, description="Seconds after which a client that does not read is disconnected."
    )
    idle_seconds: float = Field(
        default=45,
        gt=0,
        le=3600,
        description="Seconds without a message or heartbeat, or without joining a topic, after which a client is "
        "disconnected.",
    )
