"""Time spans found in questions."""

import random
from datetime import UTC, datetime, timedelta, timezone

import pytest

from scrubjay.features.memory.ranking import dates
from scrubjay.features.memory.ranking.dates import (
    AFTER_DAY,
    AFTER_MONTH,
    IN_MONTH,
    MAX_SPANS,
    ON_DAY,
    YEARS_BACK,
    TimeSpan,
    find_time_spans,
)

ASKED_AT = datetime(2024, 6, 15, 10, 30, 5, 7, tzinfo=UTC)


def span(start: str, end: str, fit: float) -> TimeSpan:
    return TimeSpan(datetime.fromisoformat(f"{start}T00:00Z"), datetime.fromisoformat(f"{end}T00:00Z"), fit)


MAY_2023 = (span("2023-05-01", "2023-06-01", IN_MONTH), span("2023-06-01", "2023-06-08", AFTER_MONTH))
SEVENTH_OF_MAY_2023 = (
    span("2023-05-01", "2023-06-01", IN_MONTH),
    span("2023-05-06", "2023-05-09", ON_DAY),
    span("2023-05-09", "2023-05-15", AFTER_DAY),
)


@pytest.mark.parametrize(
    "question",
    [
        "What happened on 7 May 2023?",
        "the 7th of May, 2023",
        "May 7, 2023",
        "may 7th 2023",
        "MAY 07 2023",
        "between 2023-05-07 and now",
    ],
)
def test_a_full_date_gives_the_day_the_week_after_it_and_its_month(question: str) -> None:
    assert find_time_spans(question, ASKED_AT) == SEVENTH_OF_MAY_2023


@pytest.mark.parametrize("question", ["What happened in May 2023?", "may, 2023", "the minutes for 2023-05"])
def test_a_month_with_a_year_gives_the_month_and_the_week_after_it(question: str) -> None:
    assert find_time_spans(question, ASKED_AT) == MAY_2023


@pytest.mark.parametrize("question", ["in Sept 2022", "Sep. 2022", "september 2022", "2022-09"])
def test_month_names_can_be_abbreviated(question: str) -> None:
    assert find_time_spans(question, ASKED_AT) == (
        span("2022-09-01", "2022-10-01", IN_MONTH),
        span("2022-10-01", "2022-10-08", AFTER_MONTH),
    )


def test_december_is_followed_by_the_next_year() -> None:
    assert find_time_spans("31 December 2022", ASKED_AT) == (
        span("2022-12-01", "2023-01-01", IN_MONTH),
        span("2022-12-30", "2023-01-02", ON_DAY),
        span("2023-01-02", "2023-01-08", AFTER_DAY),
    )


def test_a_date_without_a_year_matches_recent_years_and_the_next() -> None:
    years = range(2025, 2025 - YEARS_BACK, -1)
    assert find_time_spans("the party on 3 August", ASKED_AT) == tuple(
        found
        for year in years
        for found in (
            span(f"{year}-08-01", f"{year}-09-01", IN_MONTH),
            span(f"{year}-08-02", f"{year}-08-05", ON_DAY),
            span(f"{year}-08-05", f"{year}-08-11", AFTER_DAY),
        )
    )


def test_29_february_exists_only_in_leap_years() -> None:
    exact = [
        found.start.date().isoformat() for found in find_time_spans("29 February", ASKED_AT) if found.fit == ON_DAY
    ]
    assert exact == ["2024-02-28", "2020-02-28", "2016-02-28", "2012-02-28"]


@pytest.mark.parametrize(("month", "year"), [("March", 2024), ("May", 2024), ("June", 2023), ("July", 2023)])
def test_last_with_a_month_means_the_latest_finished_one(month: str, year: int) -> None:
    found = find_time_spans(f"What did we do last {month}?", ASKED_AT)
    assert [one.start.year for one in found] == [year, year]
    assert find_time_spans(f"{month} {year}", ASKED_AT) == found


@pytest.mark.parametrize(
    "question",
    [
        "31 June",
        "June 31, 2023",
        "2023-06-31",
        "30 February 2024",
        "29 February 2023",
        "2023-13-01",
        "2023-00",
        "0000-05-07",
        "0001-01-01",
        "1 January 0001",
        "9999-12-31",
        f"{'9' * 5000} days ago",
        "",
        "Where does Alice work?",
    ],
)
def test_impossible_dates_give_no_time_span(question: str) -> None:
    assert find_time_spans(question, ASKED_AT) == ()


@pytest.mark.parametrize("question", ["What may I do?", "May I come in?", "It would mar the paint", "maybe", "decide"])
def test_ordinary_words_are_not_parsed_as_months(question: str) -> None:
    assert find_time_spans(question, ASKED_AT) == ()


@pytest.mark.parametrize("question", ["in may", "last May", "7 may", "may 7", "May 2023", "since Mar"])
def test_an_ambiguous_word_is_a_month_if_its_context_says_so(question: str) -> None:
    assert find_time_spans(question, ASKED_AT) != ()


@pytest.mark.parametrize("question", ["What did I read in 2021?", "since 2021", "the year 2021"])
def test_a_year_gives_the_whole_year(question: str) -> None:
    assert find_time_spans(question, ASKED_AT) == (span("2021-01-01", "2022-01-01", AFTER_MONTH),)


def test_numbers_that_are_no_years_give_no_time_span() -> None:
    assert find_time_spans("Who ran 2021 miles, or 5000 in 3000 steps?", ASKED_AT) == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did I eat today?", span("2024-06-15", "2024-06-16", ON_DAY)),
        ("YESTERDAY's lunch", span("2024-06-14", "2024-06-15", ON_DAY)),
        ("one day ago", span("2024-06-13", "2024-06-16", AFTER_DAY)),
        ("3 days ago", span("2024-06-11", "2024-06-14", AFTER_DAY)),
        ("a week ago", span("2024-06-05", "2024-06-12", AFTER_DAY)),
        ("Two weeks ago", span("2024-05-29", "2024-06-05", AFTER_DAY)),
        ("three months ago", span("2024-03-02", "2024-04-02", AFTER_DAY)),
        ("a year ago", span("2022-12-16", "2023-12-16", AFTER_DAY)),
        ("99999 days ago", span("1924-07-09", "1924-07-12", AFTER_DAY)),
        ("this week", span("2024-06-08", "2024-06-16", AFTER_MONTH)),
        ("the past month", span("2024-05-16", "2024-06-16", AFTER_MONTH)),
        ("last week", span("2024-06-01", "2024-06-16", AFTER_MONTH)),
        ("last month", span("2024-04-16", "2024-06-16", AFTER_MONTH)),
        ("Last year", span("2022-06-16", "2024-06-16", AFTER_MONTH)),
    ],
)
def test_relative_times_count_from_the_time_of_the_question(question: str, expected: TimeSpan) -> None:
    assert find_time_spans(question, ASKED_AT) == (expected,)


def test_every_named_time_gives_a_span() -> None:
    assert find_time_spans("May 2023, in 2021, or yesterday?", ASKED_AT) == (
        *MAY_2023,
        span("2021-01-01", "2022-01-01", AFTER_MONTH),
        span("2024-06-14", "2024-06-15", ON_DAY),
    )


def test_days_begin_at_midnight_in_the_time_zone_of_the_question() -> None:
    there = timezone(timedelta(hours=-7))
    asked_at = datetime(2024, 6, 15, 23, tzinfo=there)
    assert find_time_spans("today", asked_at) == (
        TimeSpan(datetime(2024, 6, 15, tzinfo=there), datetime(2024, 6, 16, tzinfo=there), ON_DAY),
    )
    assert find_time_spans("May 2023", asked_at)[0] == (
        TimeSpan(datetime(2023, 5, 1, tzinfo=there), datetime(2023, 6, 1, tzinfo=there), IN_MONTH)
    )


def test_the_number_of_time_spans_is_limited() -> None:
    question = " ".join(f"{day} {month}" for month in ("May", "June", "July") for day in range(1, 29))
    spans = find_time_spans(question, ASKED_AT)
    assert len(spans) == len(set(spans)) == MAX_SPANS


def test_a_date_with_a_time_of_day_gives_the_day() -> None:
    assert find_time_spans("at 2023-05-07T10:00", ASKED_AT) == find_time_spans("on 2023-05-07", ASKED_AT)


def test_the_verb_march_is_no_month() -> None:
    assert find_time_spans("why did they march on?", ASKED_AT) == ()
    assert find_time_spans("what happened in March 2024?", ASKED_AT) != ()


def test_the_date_prefilter_skips_only_questions_without_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    words = """
        why did the party move on from it may March Sept 3rd 7 of 2019 1999 in since 2023-05 2023-05-07T1 two a weeks
        days years ago AGO last this PAST week month today Yesterday summary marching 20 19 days ago, maybe dec
    """
    dice = random.Random(5)
    questions = [" ".join(dice.choices(words.split(), k=dice.randint(1, 6))) for _ in range(2_000)]
    quick = [find_time_spans(question, ASKED_AT) for question in questions]
    assert 200 < sum(not spans for spans in quick) < 1_800

    def always_parse(_: str) -> bool:
        return True

    monkeypatch.setattr(dates, "_may_contain_date", always_parse)
    assert quick == [find_time_spans(question, ASKED_AT) for question in questions]
