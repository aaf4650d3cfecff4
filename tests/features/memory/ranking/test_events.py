"""Which events a question names."""

from datetime import UTC, datetime, timedelta

import pytest

from scrubjay.features.memory.ranking.events import Event, event_named

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "event"),
    [
        ("What did we decide before the release?", Event("the release", "before")),
        ("what broke after our migration to PostgreSQL", Event("our migration to PostgreSQL", "after")),
        ("Who joined since Ada's move to Oslo, and why?", Event("Ada's move to Oslo", "after")),
        ("Which port did we use until the firewall change?", Event("the firewall change", "before")),
        ("What is a good time to call?", None),
        ("What did she do before breakfast?", None),
        ("before you answer, read the page", None),
        ("What happened after that?", None),
        ("Before I moved I lived where?", None),
    ],
)
def test_060_an_event_is_named_by_the_or_by_whose_it_is(question: str, event: Event | None) -> None:
    assert event_named(question) == event


def test_060_the_time_before_an_event_ends_with_it_and_the_time_after_it_begins_with_it() -> None:
    then = NOW - timedelta(days=10)
    before, after = Event("the release", "before").span(then, NOW), Event("the release", "after").span(then, NOW)
    assert (before.end, after.start) == (then, then)
    assert before.start.year == 1
    assert after.end > NOW
    assert Event("the release", "after").span(NOW + timedelta(days=3), NOW).end > NOW + timedelta(days=3)
