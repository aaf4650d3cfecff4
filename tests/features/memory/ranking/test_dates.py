"""The moments that a question names."""

import random
from datetime import UTC, datetime, timedelta, timezone

import pytest

from scrubjay.features.memory.ranking import dates
from scrubjay.features.memory.ranking.dates import (
    AFTER_DAY,
    AFTER_MONTH,
    IN_MONTH,
    MOST_SPANS,
    ON_DAY,
    YEARS_BACK,
    Span,
    spans_named,
)

ASKED_AT = datetime(2024, 6, 15, 10, 30, 5, 7, tzinfo=UTC)


def span(start: str, end: str, fit: float) -> Span:
    return Span(datetime.fromisoformat(f"{start}T00:00Z"), datetime.fromisoformat(f"{end}T00:00Z"), fit)


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
def test_a_day_with_its_year_is_that_day_the_week_after_it_and_its_month(question: str) -> None:
    assert spans_named(question, ASKED_AT) == SEVENTH_OF_MAY_2023


@pytest.mark.parametrize("question", ["What happened in May 2023?", "may, 2023", "the minutes for 2023-05"])
def test_a_month_with_its_year_is_that_month_and_the_week_after_it(question: str) -> None:
    assert spans_named(question, ASKED_AT) == MAY_2023


@pytest.mark.parametrize("question", ["in Sept 2022", "Sep. 2022", "september 2022", "2022-09"])
def test_a_month_may_be_shortened(question: str) -> None:
    assert spans_named(question, ASKED_AT) == (
        span("2022-09-01", "2022-10-01", IN_MONTH),
        span("2022-10-01", "2022-10-08", AFTER_MONTH),
    )


def test_december_is_followed_by_the_next_year() -> None:
    assert spans_named("31 December 2022", ASKED_AT) == (
        span("2022-12-01", "2023-01-01", IN_MONTH),
        span("2022-12-30", "2023-01-02", ON_DAY),
        span("2023-01-02", "2023-01-08", AFTER_DAY),
    )


def test_a_date_without_a_year_may_be_of_any_recent_year_and_the_next() -> None:
    years = range(2025, 2025 - YEARS_BACK, -1)
    assert spans_named("the party on 3 August", ASKED_AT) == tuple(
        found
        for year in years
        for found in (
            span(f"{year}-08-01", f"{year}-09-01", IN_MONTH),
            span(f"{year}-08-02", f"{year}-08-05", ON_DAY),
            span(f"{year}-08-05", f"{year}-08-11", AFTER_DAY),
        )
    )


def test_the_29th_of_february_is_only_in_years_that_have_it() -> None:
    exact = [found.start.date().isoformat() for found in spans_named("29 February", ASKED_AT) if found.fit == ON_DAY]
    assert exact == ["2024-02-28", "2020-02-28", "2016-02-28", "2012-02-28"]


@pytest.mark.parametrize(("month", "year"), [("March", 2024), ("May", 2024), ("June", 2023), ("July", 2023)])
def test_last_before_a_month_is_the_latest_that_is_over(month: str, year: int) -> None:
    found = spans_named(f"What did we do last {month}?", ASKED_AT)
    assert [one.start.year for one in found] == [year, year]
    assert spans_named(f"{month} {year}", ASKED_AT) == found


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
def test_a_question_without_a_moment_that_can_be_names_none(question: str) -> None:
    assert spans_named(question, ASKED_AT) == ()


@pytest.mark.parametrize("question", ["What may I do?", "May I come in?", "It would mar the paint", "maybe", "decide"])
def test_an_ordinary_word_is_no_month(question: str) -> None:
    assert spans_named(question, ASKED_AT) == ()


@pytest.mark.parametrize("question", ["in may", "last May", "7 may", "may 7", "May 2023", "since Mar"])
def test_an_ambiguous_word_is_a_month_where_the_question_says_so(question: str) -> None:
    assert spans_named(question, ASKED_AT) != ()


@pytest.mark.parametrize("question", ["What did I read in 2021?", "since 2021", "the year 2021"])
def test_a_year_is_all_of_it(question: str) -> None:
    assert spans_named(question, ASKED_AT) == (span("2021-01-01", "2022-01-01", AFTER_MONTH),)


def test_a_number_that_is_no_year_is_no_moment() -> None:
    assert spans_named("Who ran 2021 miles, or 5000 in 3000 steps?", ASKED_AT) == ()


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
def test_a_relative_moment_is_meant_from_when_the_question_is_asked(question: str, expected: Span) -> None:
    assert spans_named(question, ASKED_AT) == (expected,)


def test_every_moment_that_is_named_counts() -> None:
    assert spans_named("May 2023, in 2021, or yesterday?", ASKED_AT) == (
        *MAY_2023,
        span("2021-01-01", "2022-01-01", AFTER_MONTH),
        span("2024-06-14", "2024-06-15", ON_DAY),
    )


def test_a_day_begins_at_midnight_where_the_asker_is() -> None:
    there = timezone(timedelta(hours=-7))
    asked_at = datetime(2024, 6, 15, 23, tzinfo=there)
    assert spans_named("today", asked_at) == (
        Span(datetime(2024, 6, 15, tzinfo=there), datetime(2024, 6, 16, tzinfo=there), ON_DAY),
    )
    assert spans_named("May 2023", asked_at)[0] == (
        Span(datetime(2023, 5, 1, tzinfo=there), datetime(2023, 6, 1, tzinfo=there), IN_MONTH)
    )


def test_a_question_full_of_dates_names_no_more_than_can_be_looked_at() -> None:
    question = " ".join(f"{day} {month}" for month in ("May", "June", "July") for day in range(1, 29))
    spans = spans_named(question, ASKED_AT)
    assert len(spans) == len(set(spans)) == MOST_SPANS


def test_a_date_with_its_time_is_that_day() -> None:
    assert spans_named("at 2023-05-07T10:00", ASKED_AT) == spans_named("on 2023-05-07", ASKED_AT)


def test_those_who_march_name_no_month() -> None:
    assert spans_named("why did they march on?", ASKED_AT) == ()
    assert spans_named("what happened in March 2024?", ASKED_AT) != ()


def test_questions_that_are_not_looked_through_name_no_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    words = """
        why did the party move on from it may March Sept 3rd 7 of 2019 1999 in since 2023-05 2023-05-07T1 two a weeks
        days years ago AGO last this PAST week month today Yesterday summary marching 20 19 days ago, maybe dec
    """
    dice = random.Random(5)
    questions = [" ".join(dice.choices(words.split(), k=dice.randint(1, 6))) for _ in range(2_000)]
    quick = [spans_named(question, ASKED_AT) for question in questions]
    assert 200 < sum(not spans for spans in quick) < 1_800

    def may_always(_: str) -> bool:
        return True

    monkeypatch.setattr(dates, "_may_name", may_always)
    assert quick == [spans_named(question, ASKED_AT) for question in questions]
