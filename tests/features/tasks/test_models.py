"""Progress of goals, from milestones or a given percentage."""

from datetime import UTC, datetime

import pytest

from scrubjay.features.tasks.models import Goal, GoalStatus, Milestone

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def goal(*weights: float, given: float = 0.0, status: GoalStatus = GoalStatus.IN_PROGRESS) -> Goal:
    """Return a goal with milestones of these weights; negative weights are completed milestones."""
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
def test_096_milestones_determine_progress_and_100_requires_all(weights: tuple[float, ...], percent: float) -> None:
    found = goal(*weights, given=42)
    assert (found.progress_percent, found.progress_from) == (percent, "milestones")
    assert found.ready_to_complete == (percent == 100)


def test_096_without_milestones_the_given_progress_counts() -> None:
    assert (goal(given=42).progress_percent, goal(given=42).progress_from) == (42, "given")
    assert [goal(given=percent).ready_to_complete for percent in (0, 99, 100)] == [False, False, True]


@pytest.mark.parametrize("status", [GoalStatus.COMPLETED, GoalStatus.ABANDONED])
def test_096_a_finished_goal_is_not_ready_to_complete(status: GoalStatus) -> None:
    assert not goal(-1, status=status).ready_to_complete
