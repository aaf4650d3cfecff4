"""How much one connection, and all of them, may ask of the server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the operator allows."""

    connections: int = 1000
    workers: int = 8
    """How many questions and calls are worked on at once, over all connections."""
    waiting: int = 256
    """How many wait for that, over all connections."""
    open_per_connection: int = 32
    """How many of one connection wait or are worked on."""
    topics_per_connection: int = 32
    messages_per_second: float = 50
    outbox_bytes: int = 1024 * 1024
    """How much may wait for a reader."""
    outbox_messages: int = 512
    slow_seconds: float = 10
    """How long a reader may not read at all while something waits for it."""
    idle_seconds: float = 45
    """How long a client may say nothing, and how long it may take to join."""
    malformed: int = 20
    """How many frames of one connection may be beyond understanding."""
    wrong_keys: int = 5
