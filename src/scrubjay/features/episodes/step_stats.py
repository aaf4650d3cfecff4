"""What the steps of an episode say together: counted once, for all who judge it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from scrubjay.features.episodes.models import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """A step that failed, and the next one, which did not."""

    failed: Step
    succeeded: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Steps, counted."""

    steps: int
    succeeded: int
    failed: int
    tools: Counter[str]
    """How often each tool was used, in the order of first use."""
    actions: int
    """How many different things were done."""
    recoveries: tuple[Recovery, ...]

    @classmethod
    def of(cls, steps: Sequence[Step]) -> Self:
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
        """The share of steps that succeeded; 0 without any. A step without a result is none of them."""
        return self.succeeded / self.steps if self.steps else 0.0

    @property
    def error_rate(self) -> float:
        """The share of steps that ended in an error or a timeout; 0 without any."""
        return self.failed / self.steps if self.steps else 0.0
