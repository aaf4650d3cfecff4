"""The number of memories that finished calls added, for Mira's `session_update` events."""

from scrubjay.features.facts.tools import StoreFactResult
from scrubjay.features.memory.tools import RememberManyResult, RememberResult
from scrubjay.features.turns.tools import AddMemoryResult
from scrubjay.tooling.events import CallEnded


def memories_added(call: CallEnded) -> int:
    """Return how many new memories a finished call stored; 0 for a failure, an update or a repeated request."""
    match call.answer:
        case RememberResult(outcome="stored", repeated=False) | AddMemoryResult() | StoreFactResult():
            return 1
        case RememberManyResult(stored=stored):
            return stored
        case _:
            return 0
