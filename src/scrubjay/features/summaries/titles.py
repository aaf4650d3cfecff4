"""Short titles."""

TITLE_WORDS = 10
# Words that a title must not end with.
_DANGLING = frozenset(
    """
    a about after an and are as at be because before between but by can for from has have in into is it it's its
    need of on or per since so than that the their this to was we when which will with
    """.split()  # noqa: SIM905 - read as words, not as a list
)


def clip_title(text: str, words: int = TITLE_WORDS) -> str:
    """Return at most this many words, not ending with a word such as "the"."""
    kept = text.split()
    if len(kept) > words:
        kept = kept[:words]
        while len(kept) > 1 and kept[-1].casefold().strip(",;:") in _DANGLING:
            kept.pop()
    return " ".join(kept).rstrip(".,;:!?-\u2013\u2014\u3002\uff01\uff1f ")
