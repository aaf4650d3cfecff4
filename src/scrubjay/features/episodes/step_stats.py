"""Counts over the steps of an episode, computed once for reward, quality and reflection."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from scrubjay.features.episodes.models import EpisodeStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """A failed step and the successful step directly after it."""

    failed: EpisodeStep
    succeeded: EpisodeStep


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCounts:
    """Counts over steps."""

    steps: int
    succeeded: int
    failed: int
    tools: Counter[str]
    """Uses per tool, in the order of first use."""
    actions: int
    """Number of distinct actions."""
    recoveries: tuple[Recovery, ...]

    @classmethod
    def of(cls, steps: Sequence[EpisodeStep]) -> Self:
        return cls(
            steps=len(steps),
            succeeded=sum(step.succeeded for step in steps),
            failed=sum(step.failed for step in steps),
            tools=Counter(step.tool for step in steps),
            actions=len({step.action for step in steps}),
            recoveries=tuple(
                Recovery(failed=first, succeeded=second)
                for first, second in pairwise(steps)
                if first.failed and second.succeeded
            ),
        )

    @property
    def success_rate(self) -> float:
        """Share of steps that succeeded; 0 without steps. A pending step did not succeed."""
        return self.succeeded / self.steps if self.steps else 0.0

    @property
    def error_rate(self) -> float:
        """Share of steps that ended in an error or a timeout; 0 without steps."""
        return self.failed / self.steps if self.steps else 0.0
