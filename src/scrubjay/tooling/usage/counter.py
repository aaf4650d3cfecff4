"""How often each tool is called, gathered in memory and kept from time to time."""

from collections import Counter

from scrubjay.tooling.event_bus import EventBus
from scrubjay.tooling.events import CallEnded
from scrubjay.tooling.usage.store import UsageStore


class UsageCounter:
    """Counts calls without making any of them wait for the disk."""

    def __init__(self) -> None:
        self._unsaved: Counter[str] = Counter()

    def subscribe(self, events: EventBus) -> None:
        """Count the calls that are published there and that reached their tool."""
        events.subscribe(CallEnded, self._call_ended)

    def _call_ended(self, event: CallEnded) -> None:
        if event.accepted:
            self._unsaved[event.tool_label] += 1

    async def flush(self, store: UsageStore) -> None:
        """Keep what was counted since the last time; what cannot be kept now is kept next time.

        A write whose caller is cancelled is done all the same, so nothing is put back then.
        """
        taken, self._unsaved = self._unsaved, Counter()
        if not taken:
            return
        try:
            await store.add(taken)
        except Exception:
            self._unsaved.update(taken)
            raise
