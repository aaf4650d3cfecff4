"""Looking back at an episode: what went well, what could be better, and what it shows. Rules, and no model."""

from datetime import datetime
from itertools import islice
from typing import Final

from scrubjay.features.episodes.models import Episode, Reflection
from scrubjay.features.episodes.reflection.improvements import improvements
from scrubjay.features.episodes.reflection.insights import insights
from scrubjay.features.episodes.reflection.successes import successes
from scrubjay.features.episodes.step_stats import Tally

# What is said first counts most; more is not read.
MOST_OF_EACH: Final = 5


def reflect(episode: Episode, at: datetime) -> Reflection:
    """Of an episode that has its outcome and its end."""
    tally = Tally.of(episode.steps)
    return Reflection(
        successes=tuple(islice(successes(episode, tally), MOST_OF_EACH)),
        improvements=tuple(islice(improvements(episode, tally), MOST_OF_EACH)),
        insights=tuple(islice(insights(episode, tally), MOST_OF_EACH)),
        generated_at=at,
    )
