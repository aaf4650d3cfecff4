"""Values of forgetting."""

from dataclasses import dataclass
from datetime import datetime

from scrubjay.features.memory.models import Kind


@dataclass(frozen=True, slots=True)
class Ageing:
    """The properties of a memory that decide whether it fades."""

    id: str
    kind: Kind
    importance: float
    recorded_at: datetime
    uses: int
    used_at: datetime | None
    protected: bool
    superseded: bool
