"""Refusals that come again and again are counted and not written one by one.

Otherwise whoever is refused could push all that others did out of a log that keeps only so many files.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

# In each minute so many refusals of one address are written, and so many of all addresses together.
WINDOW_SECONDS = 60.0
MOST_OF_ONE, MOST_OF_ALL = 60, 600
# Of so many addresses it is known how often each was refused; the others are counted together.
MOST_ADDRESSES = 1_000
_OTHERS = ""

Entry = Mapping[str, Any]


class Repeats:
    """What is left out of the log, until it is told how much that was."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._began = clock()
        self._written: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()

    def leaves_out(self, entry: Entry) -> bool:
        """Whether this entry is only counted."""
        if entry["kind"] != "refusal":
            return False
        address = str(entry.get("address", _OTHERS))
        if self._written[address] < MOST_OF_ONE and self._written.total() < MOST_OF_ALL:
            self._written[address] += 1
            return False
        known = address in self._left_out or len(self._left_out) < MOST_ADDRESSES
        self._left_out[address if known else _OTHERS] += 1
        return True

    def summaries(self, *, now: bool = False) -> list[dict[str, Any]]:
        """What was left out in the last minute, once it is over; and what was until `now`, when nothing more comes."""
        moment = self._clock()
        if not now and moment - self._began < WINDOW_SECONDS:
            return []
        told = [_summary(address, number, moment) for address, number in self._left_out.items()]
        self._began = moment
        self._written.clear()
        self._left_out.clear()
        return told


def _summary(address: str, number: int, moment: float) -> dict[str, Any]:
    told = {
        "created": moment,
        "kind": "refusal",
        "decision": "refused",
        "event": "repeated",
        "reason": f"{number} more",
    }
    return told | ({"address": address} if address != _OTHERS else {})
