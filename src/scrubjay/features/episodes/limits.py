"""How large an episode and its parts may be, in bytes of UTF-8."""

from typing import Final

from scrubjay.core.errors import TooLarge

MOST_STEPS: Final = 1_000
DESCRIPTION_BYTES: Final = 10_000
TEXT_BYTES: Final = 10_000
"""What a step did, what came out of it, a verdict, a reason."""
DATA_BYTES: Final = 1_000_000
"""The parameters of a step, an artifact."""
EPISODE_BYTES: Final = 10_000_000
TOLD_BYTES: Final = 20_000_000
"""What episodes that are told at once may take together."""


def refuse_longer(text: str | None, most: int, what: str) -> None:
    """`TooLarge` when a text has more bytes than that."""
    if text is not None and (size := len(text.encode())) > most:
        raise TooLarge(
            f"{what} has {size} bytes, and may have {most}",
            hint="tell less of it",
            details={"bytes": size, "most_bytes": most},
        )
