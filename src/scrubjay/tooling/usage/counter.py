"""Count calls per tool in memory and write the counts periodically."""

from collections import Counter

from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import CallEnded
from scrubjay.tooling.usage.store import UsageStore


class UsageCounter:
    """Counts calls without disk access."""

    def __init__(self) -> None:
        self._unsaved: Counter[str] = Counter()

    def subscribe(self, events: EventBus) -> None:
        """Count the published calls that reached their tool."""
        events.subscribe(CallEnded, self._call_ended)

    def _call_ended(self, event: CallEnded) -> None:
        if event.accepted:
            self._unsaved[event.tool_label] += 1

    async def flush(self, store: UsageStore) -> None:
        """Store the new counts; after a failed write they are stored the next time.

        A write whose caller is cancelled still completes, so nothing is put back then.
        """
        taken, self._unsaved = self._unsaved, Counter()
        if not taken:
            return
        try:
            await store.add(taken)
        except Exception:
            self._unsaved.update(taken)
            raise
