"""What moves between stores."""

from dataclasses import dataclass
from datetime import datetime

from recollect.domain.memories import Memory


@dataclass(frozen=True, slots=True)
class Moved:
    """A memory on its way from one store to another: as it is, and how often it was an answer."""

    memory: Memory
    uses: int = 0
    used_at: datetime | None = None
