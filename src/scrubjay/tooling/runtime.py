"""Facts and resources of the process, for every feature."""

from dataclasses import dataclass
from pathlib import Path

import anyio.abc

from scrubjay.core.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The running process. Provided to wiring as a ready service."""

    home: Path
    """The folder of the store and of all derived files."""
    tasks: anyio.abc.TaskGroup
    """Background work; cancelled before services are closed."""
    clock: Clock
    adopts_jobs: bool
    """True if the process runs queued jobs of any process, and periodic jobs."""
    own_client: str | None
    """The client that the process was started for; None for a server of many clients."""
    default_project: Path | None
    """The project that clients work in until they set another."""
    max_message_bytes: int
    """Maximum size of a request or MCP message."""
