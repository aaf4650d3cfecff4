"""Events that a question names to give a time: "before the release", "since our move to Oslo"."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from scrubjay.features.memory.ranking.dates import TimeSpan

# Fit of memories on the named side of an event. It is low, because that side is long and contains many memories.
EVENT_FIT = 0.3
# Matches only phrases that certainly name an event: with an article or possessive, up to the end of the clause.
_EVENT = re.compile(
    r"\b(?P<side>before|after|since|until)\s+"
    r"(?P<name>(?:the|our|my|your|his|her|their|its|\w+['\u2019]s)(?:\s+[\w'\u2019-]+){1,5}?)\s*(?=[?.!,;:]|$)",
    re.IGNORECASE,
)
_LONG_AGO = datetime(1, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class NamedEvent:
    """An event named in a question, and the side of it that the question asks about."""

    name: str
    side: Literal["before", "after"]

    def span(self, happened_at: datetime, asked_at: datetime) -> TimeSpan:
        """Return the time span before or after the event, given when it happened."""
        if self.side == "before":
            return TimeSpan(_LONG_AGO, happened_at, EVENT_FIT)
        return TimeSpan(happened_at, max(asked_at, happened_at) + timedelta(days=1), EVENT_FIT)


def find_event(question: str) -> NamedEvent | None:
    """Return the event that the question refers to; None if there is none."""
    if (found := _EVENT.search(question)) is None:
        return None
    side = "before" if found["side"].casefold() in ("before", "until") else "after"
    return NamedEvent(found["name"], side)
