"""The moments that a question names: "on 7 May 2023", "last March", "two weeks ago"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MINYEAR, datetime, timedelta

# A date without a year may be of any of these many years before the question.
YEARS_BACK = 15
# Somebody who names more means something else than a moment; each costs a look at every memory.
MOST_SPANS = 100
# How well something fits that happened in the named month, just after it, on the named day, in the week after it.
IN_MONTH, AFTER_MONTH, ON_DAY, AFTER_DAY = 0.5, 0.3, 1.0, 0.65

_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
}
_MONTH = "|".join([*_MONTHS, *(month[:3] for month in _MONTHS if month != "may"), "sept"])
_NAMED = re.compile(
    rf"(?:\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)?[ ,]+)?\b(?P<month>{_MONTH})\b\.?"
    r"(?:[ ,]+(?P<later_day>\d{1,2})(?:st|nd|rd|th)?\b)?(?:[ ,]+(?P<year>\d{4})\b)?",
    re.IGNORECASE,
)
_ISO = re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})(?:-(?P<day>\d{2}))?(?:\b|(?=T\d))")
# These are also ordinary words; alone they are a month only where one says so.
_AMBIGUOUS = re.compile(
    r"\b(?:in|of|during|last|this|next|early|late|mid|since|by|until|before|after) $", re.IGNORECASE
)
_YEAR = re.compile(r"\b(?:in|during|of|since|year) (?P<year>(?:19|20)\d{2})\b", re.IGNORECASE)
_AGO = re.compile(rf"\b(?P<count>\d{{1,5}}|{'|'.join(_NUMBERS)}) (?P<unit>day|week|month|year)s? ago\b", re.IGNORECASE)
_LAST = re.compile(r"\b(?P<which>last|this|past) (?P<unit>week|month|year)\b", re.IGNORECASE)
_NEAR = {"today": 0, "yesterday": 1}
_NEEDED = (*(month[:3] for month in _MONTHS), *_NEAR, " ago", *("last ", "this ", "past "))
_DAYS_OF = {"day": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time that a question means, and how well what happened in it fits."""

    start: datetime
    end: datetime
    fit: float


def spans_named(question: str, asked_at: datetime) -> tuple[Span, ...]:
    """Every stretch of time that the question names; relative ones are meant from when it is asked."""
    if question.isascii() and not _may_name(question.lower()):
        return ()
    found = dict.fromkeys((*_absolute(question, asked_at), *_relative(question, asked_at)))
    return tuple(found)[:MOST_SPANS]


def _may_name(lowered: str) -> bool:
    """Whether any of the patterns could match: most questions have nothing of what each of them needs."""
    if " 19" in lowered or " 20" in lowered or "-" in lowered:  # a year, or a date in numbers
        return True
    return any(map(lowered.__contains__, _NEEDED))


def _absolute(question: str, asked_at: datetime) -> Iterator[Span]:
    for found in _NAMED.finditer(question):
        day, year = found["day"] or found["later_day"], found["year"]
        word = found["month"].lower()
        if (
            word in ("may", "mar", "march")
            and not (day or year)
            and not _AMBIGUOUS.search(question[: found.start("month")])
        ):
            continue
        month = [name[:3] for name in _MONTHS].index(word[:3]) + 1
        if year is None and re.search(r"\blast\s+$", question[: found.start("month")], re.IGNORECASE):
            years = [asked_at.year if month < asked_at.month else asked_at.year - 1]
        else:
            years = [int(year)] if year else [asked_at.year + 1 - back for back in range(YEARS_BACK)]
        for one in years:
            yield from _around(one, month, int(day) if day else None, asked_at)
    for found in _ISO.finditer(question):
        yield from _around(
            int(found["year"]), int(found["month"]), int(found["day"]) if found["day"] else None, asked_at
        )
    for found in _YEAR.finditer(question):
        start = asked_at.replace(year=int(found["year"]), month=1, day=1, hour=0, minute=0, second=0, microsecond=0)
        yield Span(start, start.replace(year=start.year + 1), AFTER_MONTH)


def _around(year: int, month: int, day: int | None, like: datetime) -> Iterator[Span]:
    if year == MINYEAR:  # nothing is before its first day
        return
    try:
        first = datetime(year, month, 1, tzinfo=like.tzinfo)
        following = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=like.tzinfo)
        exact = datetime(year, month, day, tzinfo=like.tzinfo) if day else None
    except ValueError:  # the 31st of June
        return
    yield Span(first, following, IN_MONTH)
    if exact is None:
        yield Span(following, following + timedelta(days=7), AFTER_MONTH)
    else:
        yield Span(exact - timedelta(days=1), exact + timedelta(days=2), ON_DAY)
        yield Span(exact + timedelta(days=2), exact + timedelta(days=8), AFTER_DAY)


def _relative(question: str, asked_at: datetime) -> Iterator[Span]:
    midnight = asked_at.replace(hour=0, minute=0, second=0, microsecond=0)
    for word, days in _NEAR.items():
        if re.search(rf"\b{word}\b", question, re.IGNORECASE):
            yield Span(midnight - timedelta(days=days), midnight - timedelta(days=days - 1), ON_DAY)
    for found in _AGO.finditer(question):
        count = found["count"].lower()
        unit = _DAYS_OF[found["unit"].lower()]
        days = unit * (_NUMBERS[count] if count in _NUMBERS else min(int(count), 36_500 // unit))
        middle, slack = midnight - timedelta(days=days), timedelta(days=max(1, unit // 2))
        yield Span(middle - slack, middle + slack + timedelta(days=1), AFTER_DAY)
    for found in _LAST.finditer(question):
        days = _DAYS_OF[found["unit"].lower()]
        reach = days if found["which"].lower() in ("this", "past") else 2 * days
        yield Span(midnight - timedelta(days=reach), midnight + timedelta(days=1), AFTER_MONTH)
