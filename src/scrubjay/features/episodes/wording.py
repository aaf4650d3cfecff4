"""How facts of an episode are put into a sentence."""

LONGEST = 200


def short(text: str, most: int = LONGEST) -> str:
    """The text on one line, and no longer than that."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def counted(number: int, what: str) -> str:
    """A number of things, in the singular for one."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def seconds(duration: float) -> str:
    return f"{duration:.1f} s" if duration < 10 else f"{duration:.0f} s"
