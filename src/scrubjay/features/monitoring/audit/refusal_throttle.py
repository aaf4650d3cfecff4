"""Throttling of repeated refusals: they are counted instead of written one by one.

Otherwise a refused client could push all other entries out of the rotating log.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

# Refusals written per minute: for one address, and for all addresses together.
WINDOW_SECONDS = 60.0
MAX_PER_ADDRESS, MAX_TOTAL = 60, 600
# Addresses counted separately; the others are counted together.
MAX_ADDRESSES = 1_000
_OTHERS = ""

Entry = Mapping[str, Any]


class RefusalThrottle:
    """Counts refusals beyond the limit instead of writing them, and summarises them."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._started_at = clock()
        self._written: Counter[str] = Counter()
        self._suppressed: Counter[str] = Counter()

    def suppresses(self, entry: Entry) -> bool:
        """Return True if this entry is only counted."""
        if entry["kind"] != "refusal":
            return False
        address = str(entry.get("address", _OTHERS))
        if self._written[address] < MAX_PER_ADDRESS and self._written.total() < MAX_TOTAL:
            self._written[address] += 1
            return False
        is_counted = address in self._suppressed or len(self._suppressed) < MAX_ADDRESSES
        self._suppressed[address if is_counted else _OTHERS] += 1
        return True

    def summaries(self, *, now: bool = False) -> list[dict[str, Any]]:
        """Return summary entries once the minute is over, or immediately with `now`."""
        moment = self._clock()
        if not now and moment - self._started_at < WINDOW_SECONDS:
            return []
        summaries = [_summary(address, number, moment) for address, number in self._suppressed.items()]
        self._started_at = moment
        self._written.clear()
        self._suppressed.clear()
        return summaries


def _summary(address: str, number: int, moment: float) -> dict[str, Any]:
    entry = {
        "created": moment,
        "kind": "refusal",
        "decision": "refused",
        "event": "repeated",
        "reason": f"{number} more",
    }
    return entry | ({"address": address} if address != _OTHERS else {})
