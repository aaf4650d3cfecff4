"""Summaries of the sessions that the rules were developed on keep the points of their checklists."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.session_checks import PARTS, CheckedSession, check, read_sessions
from scrubjay.features.summaries.extractive import TITLE_WORDS, summarise_session
from scrubjay.features.summaries.models import SessionMaterial, Summary, Turn

SESSIONS, GREETINGS = read_sessions(Path(__file__).with_name("development_sessions.json"))
# A few points may be missing, because the length of a summary is limited.
MIN_FOUND = 0.88
MIN_FOUND_OF_ONE = 0.6


def summarise(session: CheckedSession) -> Summary:
    return summarise_session(SessionMaterial(turns=[Turn(prompt, "", response) for prompt, response in session.turns]))


def checked(session: CheckedSession) -> tuple[Counter[str], Counter[str], int]:
    summary = summarise(session)
    values = {name: getattr(summary.scores, name) for name in ("quality", "productivity", "impact", "complexity")}
    result = check(session, {"title": summary.title, "summary": summary.text, **values}, "")
    return result.found, result.total, result.claimed


def test_the_summaries_keep_most_points_and_no_rejected_work() -> None:
    results = [checked(session) for session in SESSIONS]
    found = sum((one for one, _, _ in results), Counter[str]())
    total = sum((one for _, one, _ in results), Counter[str]())
    assert found.total() / total.total() >= MIN_FOUND, {part: f"{found[part]} of {total[part]}" for part in PARTS}
    assert [claimed for _, _, claimed in results] == [0] * len(SESSIONS)


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
def test_a_summary_keeps_the_request_and_most_points(session: CheckedSession) -> None:
    found, total, _ = checked(session)
    assert found["request"] == 1
    assert found.total() / total.total() >= MIN_FOUND_OF_ONE, found
    assert len(summarise(session).title.split()) <= TITLE_WORDS


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("rate limit for the gateway", "Add a rate limit per API key to the gateway"),
        ("import of bank statements is off", "The nightly import of bank statements books wrong amounts"),
        ("dark mode", "A dark mode for the dashboard"),
        ("cron jobs to kubernetes", "Move the three jobs (invoice-run, cleanup, report-mail) to Kubernetes CronJobs"),
        ("release 2.4", "Release 2.4.0 of the parser library"),
        ("orders page is slow", "The orders page takes 9 seconds for big customers"),
        ("flaky test suite", "About every third run of the backend suite fails"),
        ("login with passkeys", "Add passkeys to our login"),
    ],
)
def test_the_title_is_the_request(name: str, title: str) -> None:
    (session,) = [one for one in SESSIONS if one.name == name]
    assert summarise(session).title == title


@pytest.mark.parametrize("session", GREETINGS, ids=lambda session: session.name)
def test_greetings_have_neither_content_nor_scores(session: CheckedSession) -> None:
    summary = summarise(session)
    assert (summary.title, summary.text, summary.scores.quality) == ("", "", 0)


def test_work_scores_higher_than_greetings() -> None:
    lowest = min(summarise(session).scores.quality for session in SESSIONS)
    assert lowest >= 30
    assert max(summarise(session).scores.quality for session in GREETINGS) == 0
