"""A project, the scope of memories."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A folder that an agent works in, known by its resolved path."""

    id: str
    path: str
    name: str
    created_at: datetime
