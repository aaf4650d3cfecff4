"""Events named in questions."""

from datetime import UTC, datetime, timedelta

import pytest

from scrubjay.features.memory.ranking.events import NamedEvent, find_event

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "event"),
    [
        ("What did we decide before the release?", NamedEvent("the release", "before")),
        ("what broke after our migration to PostgreSQL", NamedEvent("our migration to PostgreSQL", "after")),
        ("Who joined since Ada's move to Oslo, and why?", NamedEvent("Ada's move to Oslo", "after")),
        ("Which port did we use until the firewall change?", NamedEvent("the firewall change", "before")),
        ("What is a good time to call?", None),
        ("What did she do before breakfast?", None),
        ("before you answer, read the page", None),
        ("What happened after that?", None),
        ("Before I moved I lived where?", None),
    ],
)
def test_060_an_event_is_recognised_by_an_article_or_a_possessive(question: str, event: NamedEvent | None) -> None:
    assert find_event(question) == event


def test_060_an_event_bounds_the_time_span_before_or_after_it() -> None:
    then = NOW - timedelta(days=10)
    before, after = (
        NamedEvent("the release", "before").span(then, NOW),
        NamedEvent("the release", "after").span(then, NOW),
    )
    assert (before.end, after.start) == (then, then)
    assert before.start.year == 1
    assert after.end > NOW
    assert NamedEvent("the release", "after").span(NOW + timedelta(days=3), NOW).end > NOW + timedelta(days=3)
