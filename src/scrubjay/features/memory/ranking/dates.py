"""Dates and time spans named in a question: "on 7 May 2023", "last March", "two weeks ago"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MINYEAR, datetime, timedelta

# A date without a year is looked for in this many years up to the next one.
YEARS_BACK = 15
# A text with more dates is no question about a time, and each span costs a pass over all memories.
MAX_SPANS = 100
# Fit of a memory from the named month, the week after it, the named day (give or take one), the week after it.
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
# "may" and "march" are also ordinary words: alone, they are a month only after one of these words.
_AMBIGUOUS = re.compile(
    r"\b(?:in|of|during|last|this|next|early|late|mid|since|by|until|before|after) $", re.IGNORECASE
)
_YEAR = re.compile(r"\b(?:in|during|of|since|year) (?P<year>(?:19|20)\d{2})\b", re.IGNORECASE)
_AGO = re.compile(rf"\b(?P<count>\d{{1,5}}|{'|'.join(_NUMBERS)}) (?P<unit>day|week|month|year)s? ago\b", re.IGNORECASE)
_LAST = re.compile(r"\b(?P<which>last|this|past) (?P<unit>week|month|year)\b", re.IGNORECASE)
_NEAR_DAYS = {"today": 0, "yesterday": 1}
_PREFILTER = (*(month[:3] for month in _MONTHS), *_NEAR_DAYS, " ago", *("last ", "this ", "past "))
_DAYS_OF = {"day": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A half-open time span, with the fit (0 to 1) of memories within it."""

    start: datetime
    end: datetime
    fit: float


def find_time_spans(question: str, asked_at: datetime) -> tuple[TimeSpan, ...]:
    """Return the time spans that the question names; relative ones count from `asked_at`."""
    if question.isascii() and not _may_contain_date(question.lower()):
        return ()
    found = dict.fromkeys((*_absolute_spans(question, asked_at), *_relative_spans(question, asked_at)))
    return tuple(found)[:MAX_SPANS]


def _may_contain_date(lowered: str) -> bool:
    """Return False if no pattern can match, which is the case for most questions. Much faster than the patterns."""
    if " 19" in lowered or " 20" in lowered or "-" in lowered:  # a year, or a date in numbers
        return True
    return any(map(lowered.__contains__, _PREFILTER))


def _absolute_spans(question: str, asked_at: datetime) -> Iterator[TimeSpan]:
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
            yield from _spans_around(one, month, int(day) if day else None, asked_at)
    for found in _ISO.finditer(question):
        yield from _spans_around(
            int(found["year"]), int(found["month"]), int(found["day"]) if found["day"] else None, asked_at
        )
    for found in _YEAR.finditer(question):
        start = asked_at.replace(year=int(found["year"]), month=1, day=1, hour=0, minute=0, second=0, microsecond=0)
        yield TimeSpan(start, start.replace(year=start.year + 1), AFTER_MONTH)


def _spans_around(year: int, month: int, day: int | None, like: datetime) -> Iterator[TimeSpan]:
    if year == MINYEAR:  # the day before its first day does not exist
        return
    try:
        first = datetime(year, month, 1, tzinfo=like.tzinfo)
        following = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=like.tzinfo)
        exact = datetime(year, month, day, tzinfo=like.tzinfo) if day else None
    except ValueError:  # the 31st of June
        return
    yield TimeSpan(first, following, IN_MONTH)
    if exact is None:
        yield TimeSpan(following, following + timedelta(days=7), AFTER_MONTH)
    else:
        yield TimeSpan(exact - timedelta(days=1), exact + timedelta(days=2), ON_DAY)
        yield TimeSpan(exact + timedelta(days=2), exact + timedelta(days=8), AFTER_DAY)


def _relative_spans(question: str, asked_at: datetime) -> Iterator[TimeSpan]:
    midnight = asked_at.replace(hour=0, minute=0, second=0, microsecond=0)
    for word, days in _NEAR_DAYS.items():
        if re.search(rf"\b{word}\b", question, re.IGNORECASE):
            yield TimeSpan(midnight - timedelta(days=days), midnight - timedelta(days=days - 1), ON_DAY)
    for found in _AGO.finditer(question):
        count = found["count"].lower()
        unit = _DAYS_OF[found["unit"].lower()]
        days = unit * (_NUMBERS[count] if count in _NUMBERS else min(int(count), 36_500 // unit))
        middle, slack = midnight - timedelta(days=days), timedelta(days=max(1, unit // 2))
        yield TimeSpan(middle - slack, middle + slack + timedelta(days=1), AFTER_DAY)
    for found in _LAST.finditer(question):
        days = _DAYS_OF[found["unit"].lower()]
        reach = days if found["which"].lower() in ("this", "past") else 2 * days
        yield TimeSpan(midnight - timedelta(days=reach), midnight + timedelta(days=1), AFTER_MONTH)
