"""Of two memories about one subject, which is true."""

from datetime import UTC, datetime, timedelta

import pytest

from scrubjay.core.scopes import Scope
from scrubjay.features.memory.conflicts import Verdict, judge
from scrubjay.features.memory.models import Memory

NOW = datetime(2026, 3, 1, tzinfo=UTC)
EARLIER, LATER = NOW - timedelta(days=1), NOW + timedelta(days=1)


def memory(content: str, since: datetime = NOW, confidence: float = 1.0) -> Memory:
    return Memory(
        id=f"mem_{content}",
        scope=Scope.GLOBAL,
        project_id=None,
        session_id=None,
        content=content,
        confidence=confidence,
        recorded_at=NOW,
        updated_at=NOW,
        valid_from=since,
    )


@pytest.mark.parametrize(
    ("since", "confidence", "verdict"),
    [
        (LATER, 1.0, Verdict.SUPERSEDES),
        (LATER, 0.8, Verdict.SUPERSEDES),
        (LATER, 0.7, Verdict.CONFLICTS),
        (EARLIER, 1.0, Verdict.PRECEDES),
        (EARLIER, 0.2, Verdict.PRECEDES),
        (NOW, 1.0, Verdict.CONFLICTS),
        (NOW, 0.1, Verdict.CONFLICTS),
    ],
)
def test_the_later_one_is_true_unless_it_is_much_less_sure(
    since: datetime, confidence: float, verdict: Verdict
) -> None:
    assert judge(memory("new", since, confidence), memory("old")) is verdict


def test_an_earlier_one_does_not_precede_one_that_is_much_less_sure() -> None:
    assert judge(memory("new", EARLIER, 0.9), memory("old", NOW, 0.5)) is Verdict.CONFLICTS


@pytest.mark.parametrize("since", [EARLIER, NOW, LATER])
def test_two_that_say_the_same_do_not_contradict_each_other(since: datetime) -> None:
    assert judge(memory("same", since, 0.1), memory("same")) is Verdict.SAME


def test_a_memory_is_true_since_it_says_so_or_happened_or_was_recorded() -> None:
    told = Memory(
        id="mem_1", scope=Scope.GLOBAL, project_id=None, session_id=None, content="x", recorded_at=NOW, updated_at=LATER
    )
    assert told.true_since == NOW
