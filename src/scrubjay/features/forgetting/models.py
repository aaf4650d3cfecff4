"""Values of forgetting."""

from dataclasses import dataclass
from datetime import datetime

from scrubjay.features.memory.models import MemoryKind


@dataclass(frozen=True, slots=True)
class AgingMemory:
    """The values of a memory that determine its strength and whether it can be evicted."""

    id: str
    kind: MemoryKind
    importance: float
    recorded_at: datetime
    uses: int
    used_at: datetime | None
    protected: bool
    superseded: bool
