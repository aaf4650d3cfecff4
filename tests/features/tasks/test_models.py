"""How far a goal is (feature 96)."""

from datetime import UTC, datetime

import pytest

from scrubjay.features.tasks.models import Goal, GoalStatus, Milestone

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def goal(*weights: float, given: float = 0.0, status: GoalStatus = GoalStatus.IN_PROGRESS) -> Goal:
    """A goal with milestones of these weights; those below zero are completed."""
    milestones = [
        Milestone(
            id=str(number), title="m", weight=abs(weight), created_at=NOW, completed_at=NOW if weight < 0 else None
        )
        for number, weight in enumerate(weights)
    ]
    return Goal(
        id="g", title="g", status=status, given_progress=given, created_at=NOW, updated_at=NOW, milestones=milestones
    )


@pytest.mark.parametrize(
    ("weights", "percent"),
    [
        ((1,), 0.0),
        ((-1,), 100.0),
        ((-3, 1), 75.0),
        ((-1, 1, 1), 33.3),
        ((-1, -1, 1), 66.7),
        ((-0.1, -0.2, -0.3), 100.0),
        ((-1_000, -1_000, 0.001), 99.9),
        ((0.1, 0.2, -0.3), 50.0),
    ],
)
def test_096_milestones_tell_how_far_it_is_and_100_only_when_all_are_reached(
    weights: tuple[float, ...], percent: float
) -> None:
    found = goal(*weights, given=42)
    assert (found.progress_percent, found.progress_from) == (percent, "milestones")
    assert found.ready_to_complete == (percent == 100)


def test_096_without_milestones_it_is_as_far_as_was_said() -> None:
    assert (goal(given=42).progress_percent, goal(given=42).progress_from) == (42, "given")
    assert [goal(given=percent).ready_to_complete for percent in (0, 99, 100)] == [False, False, True]


@pytest.mark.parametrize("status", [GoalStatus.COMPLETED, GoalStatus.ABANDONED])
def test_096_a_finished_goal_waits_for_nothing(status: GoalStatus) -> None:
    assert not goal(-1, status=status).ready_to_complete
