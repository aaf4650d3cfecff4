"""Visibility of stored data: global, one project, or one session."""

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """Visibility of a memory."""

    GLOBAL = "global"
    PROJECT = "project"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Visibility:
    """The data that a query may see: global data, plus that of its project and its session."""

    project_id: str | None = None
    session_id: str | None = None
