"""Rule-based reflection on an episode: successes, improvements and insights, without a language model."""

from datetime import datetime
from itertools import islice
from typing import Final

from scrubjay.features.episodes.models import Episode, Reflection, TypicalEffort
from scrubjay.features.episodes.reflection.improvements import improvements
from scrubjay.features.episodes.reflection.insights import insights
from scrubjay.features.episodes.reflection.successes import successes
from scrubjay.features.episodes.step_stats import StepCounts

# Items of each kind; they come in the order of their importance.
MAX_ITEMS: Final = 5


def reflect(episode: Episode, at: datetime, typical: TypicalEffort | None = None) -> Reflection:
    """Return the reflection on an episode that has its outcome and end time.

    `typical` is the effort of similar tasks; without it nothing is compared with them.
    """
    counts = StepCounts.of(episode.steps)
    return Reflection(
        successes=tuple(islice(successes(episode, counts, typical), MAX_ITEMS)),
        improvements=tuple(islice(improvements(episode, counts, typical), MAX_ITEMS)),
        insights=tuple(islice(insights(episode, counts, typical), MAX_ITEMS)),
        generated_at=at,
    )
