"""Size limits of an episode and its parts, in bytes of UTF-8."""

from typing import Final

from scrubjay.core.errors import TooLarge

MAX_STEPS: Final = 1_000
MAX_DESCRIPTION_BYTES: Final = 10_000
MAX_TEXT_BYTES: Final = 10_000
"""For each action, output, message, verdict and reason."""
MAX_DATA_BYTES: Final = 1_000_000
"""For the parameters of a step (as JSON), and for each artifact."""
MAX_EPISODE_BYTES: Final = 10_000_000
MAX_RESULT_BYTES: Final = 20_000_000
"""For all episodes that one call returns."""


def refuse_longer(text: str | None, max_bytes: int, what: str) -> None:
    """Raise `TooLarge` when a text has more than `max_bytes` bytes."""
    if text is not None and (size := len(text.encode())) > max_bytes:
        raise TooLarge(
            f"{what} has {size} bytes; the limit is {max_bytes}",
            hint="shorten it",
            details={"bytes": size, "max_bytes": max_bytes},
        )
