"""Limits of the Phoenix WebSocket, per connection and in total."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SynapseLimits:
    """Limits of all connections together and of each one."""

    connections: int = 1000
    workers: int = 8
    """Questions and calls that run at the same time, over all connections."""
    waiting: int = 256
    """Questions and calls that may wait for a worker, over all connections."""
    open_per_connection: int = 32
    """Questions and calls of one connection that may wait or run."""
    topics_per_connection: int = 32
    messages_per_second: float = 50
    outbox_bytes: int = 1024 * 1024
    """Bytes that may wait to be sent to a client."""
    outbox_messages: int = 512
    slow_seconds: float = 10
    """Seconds after which a client that does not read is disconnected."""
    idle_seconds: float = 45
    """Seconds without a message, or without a join, after which a client is disconnected."""
    malformed: int = 20
    """Malformed frames that are tolerated on one connection."""
    wrong_keys: int = 5
