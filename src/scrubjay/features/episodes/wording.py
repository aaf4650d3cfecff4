"""Text formatting for reflections and features."""

MAX_CHARACTERS = 200


def shorten(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """Return the text on one line, truncated to `max_characters`."""
    line = " ".join(text.split())
    return line if len(line) <= max_characters else f"{line[: max_characters - 1].rstrip()}…"


def counted(number: int, what: str) -> str:
    """Return a number with its noun, in the singular for one."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def seconds(duration: float) -> str:
    return f"{duration:.1f} s" if duration < 10 else f"{duration:.0f} s"
