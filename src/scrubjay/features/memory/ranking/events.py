"""The events that a question names to say when something was: "before the release", "since our move to Oslo"."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from scrubjay.features.memory.ranking.dates import Span

# How well something fits that happened on the named side of an event: it says little about which of many it was.
ON_ITS_SIDE = 0.3
# Only what is certain to be one: with "the" or whose it is, up to the end of the clause.
_EVENT = re.compile(
    r"\b(?P<side>before|after|since|until)\s+"
    r"(?P<name>(?:the|our|my|your|his|her|their|its|\w+['\u2019]s)(?:\s+[\w'\u2019-]+){1,5}?)\s*(?=[?.!,;:]|$)",
    re.IGNORECASE,
)
_LONG_AGO = datetime(1, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened once, and on which side of it a question looks."""

    name: str
    side: Literal["before", "after"]

    def span(self, happened_at: datetime, asked_at: datetime) -> Span:
        """The time that is meant, now that it is known when it happened."""
        if self.side == "before":
            return Span(_LONG_AGO, happened_at, ON_ITS_SIDE)
        return Span(happened_at, max(asked_at, happened_at) + timedelta(days=1), ON_ITS_SIDE)


def event_named(question: str) -> Event | None:
    """The event by which a question says when; None when it names none."""
    if (found := _EVENT.search(question)) is None:
        return None
    side = "before" if found["side"].casefold() in ("before", "until") else "after"
    return Event(found["name"], side)
