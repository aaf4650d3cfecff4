"""Who sees what: everything kept is global, of one project, or private to one session."""

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """How far a memory can be seen."""

    GLOBAL = "global"
    PROJECT = "project"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Visibility:
    """What an asker may see: all that is global, its project's, and its session's own.

    Every query takes one; there is no way to ask without it.
    """

    project_id: str | None = None
    session_id: str | None = None
