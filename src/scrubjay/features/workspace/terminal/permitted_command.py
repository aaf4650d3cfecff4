"""A command that the policy has checked, ready to run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scrubjay.isolation.limits import Bounds


@dataclass(frozen=True, slots=True)
class PermittedCommand:
    """A checked command, ready to run."""

    text: str
    """The command as the caller wrote it."""
    program: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    bounds: Bounds
    folder: str
    """Its working directory."""
    lists_processes: bool = False
    """True if the output has command lines of other processes; secrets in it must be masked."""
