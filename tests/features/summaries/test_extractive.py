"""Without a language model, a summary consists of the sentences that tell most."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.summaries.extractive import (
    MOST_CHARACTERS,
    MOST_SENTENCES,
    TITLE_WORDS,
    clip_title,
    summarise_period,
    summarise_session,
)
from scrubjay.features.summaries.models import Material, Method, Scores, Summary, SummaryCategory, Told, Turn


def session(*turns: tuple[str, str], facts: tuple[Told, ...] = ()) -> Material:
    return Material(turns=[Turn(prompt, "", response) for prompt, response in turns], facts=facts)


LONG = session(
    (
        "Hi! Could you please find out why the nightly export is so slow?",
        "Sure, let me look at it.\n\nHere is what I found. The export reads every row twice because the cursor is "
        "opened inside the loop in export/rows.py. Reading 40,000 rows takes 9 minutes.",
    ),
    (
        "Then change it.",
        "I will do that now. I moved the cursor out of the loop in export/rows.py.\n"
        "```python\nfor row in cursor: ...\n```\n"
        "The export takes 40 seconds now. Would you like me to continue?",
    ),
    ("Thanks. And write it down.", "I added a note about cursors to docs/export.md. All tests pass."),
    facts=(Told("We decided to keep one cursor per export because opening one costs 13 ms.", 0.9),),
)


def test_the_text_has_cause_outcome_and_decision_in_their_order_and_nothing_else() -> None:
    summary = summarise_session(LONG)
    sentences = [
        "The export reads every row twice because the cursor is opened inside the loop in export/rows.py.",
        "I added a note about cursors to docs/export.md.",
        "We decided to keep one cursor per export because opening one costs 13 ms.",
    ]
    places = [summary.text.find(sentence) for sentence in sentences]
    assert all(place >= 0 for place in places), summary.text
    assert places == sorted(places)
    for filler in ("Sure", "I will do that now", "Would you like", "for row in", "Here is"):
        assert filler not in summary.text
    assert summary.method is Method.EXTRACTIVE
    assert summary.technologies == ("Python", "Markdown")


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        (
            "Hi! Could you please find out why the nightly export is so slow?",
            "Find out why the nightly export is so slow",
        ),
        ("I want you to rename the parser.", "Rename the parser"),
        ("Fix it: the cat sat on the mat with the big dog in the old house.", "Fix it: the cat sat on the mat"),
        ("The build is red. Please fix the build of the Windows wheel.", "Fix the build of the Windows wheel"),
        ("请修复登录错误。", "请修复登录错误"),
    ],
)
def test_the_title_is_what_was_asked_for_in_at_most_ten_words(prompt: str, title: str) -> None:
    assert summarise_session(session((prompt, "Done."))).title == title


def test_the_same_thing_is_said_once() -> None:
    again = "The cache was cold because the server had been restarted at night."
    summary = summarise_session(
        session(*[("What is wrong with it now?", again)] * 5, ("And the disk?", "The disk is full."))
    )
    assert summary.text.count(again) == 1
    assert "The disk is full." in summary.text


def test_without_turns_there_is_nothing_to_say() -> None:
    summary = summarise_session(Material(turns=[]))
    assert (summary.title, summary.text, summary.technologies) == ("", "", ())


def test_sentences_end_where_they_end() -> None:
    text = "We use e.g. Redis for this. Version 2.5 of app.py is old! Is Dr. Who here? Yes, he is here."
    summary = summarise_session(session(("", text)))
    for sentence in re.split(r"(?<=[.!?]) (?=[A-Z])", summary.text):
        assert sentence in text


def part(title: str, text: str, impact: int = 10, category: SummaryCategory = SummaryCategory.OTHER) -> Summary:
    return Summary(
        title=title,
        text=text,
        category=category,
        scores=Scores(quality=50, productivity=100, impact=impact, complexity=20),
        technologies=("Python", title),
        method=Method.EXTRACTIVE,
    )


def test_a_period_has_the_best_of_its_parts() -> None:
    low = part("Small talk", "The weather was nice in the morning.")
    high = part(
        "Security hole closed in the upload of large files today",
        "The upload of files accepted any path. Now it is resolved first.",
        90,
        SummaryCategory.BUGFIX,
    )
    summary = summarise_period([(low, 1), (high, 3)])
    assert summary == Summary(
        title="Security hole closed in the upload, and 1 more",
        text="The upload of files accepted any path. Now it is resolved first.",
        category=SummaryCategory.BUGFIX,
        scores=Scores(quality=50, productivity=100, impact=90, complexity=20),
        technologies=("Python", "Small talk", "Security hole closed in the upload of large files today"),
        method=Method.EXTRACTIVE,
        evidence={"parts": 2},
    )
    assert summarise_period([(high, 3)]).title == high.title


def test_quality_and_productivity_of_a_period_are_means_over_memories() -> None:
    one = part("a", "One thing was done here.")
    other = Summary(
        title="b",
        text="Another thing was done there.",
        category=SummaryCategory.FEATURE,
        scores=Scores(quality=100, productivity=20, impact=5, complexity=60),
        technologies=(),
        method=Method.LLM,
    )
    assert summarise_period([(one, 3), (other, 1)]).scores == Scores(
        quality=62, productivity=80, impact=10, complexity=60
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("Short one.", "Short one"),
        ("one two three four five six seven eight nine ten eleven", "one two three four five six seven eight nine ten"),
        ("one two three four five six seven eight nine of the", "one two three four five six seven eight nine"),
        ("", ""),
    ],
)
def test_a_title_is_cut_where_it_can_end(given: str, expected: str) -> None:
    assert clip_title(given) == expected


TEXT = st.text(max_size=300) | st.lists(
    st.sampled_from(["The parser works.", "Done!", "Why?", "x" * 400, "a b c d"])
).map(" ".join)


@given(st.lists(st.builds(Turn, TEXT, TEXT, TEXT), max_size=6))
def test_a_summary_is_short_whatever_was_said(turns: list[Turn]) -> None:
    summary = summarise_session(Material(turns=turns))
    assert len(summary.title.split()) <= TITLE_WORDS
    assert len(summary.text) <= MOST_CHARACTERS + 300 + MOST_SENTENCES * 2
    assert summary == summarise_session(Material(turns=turns))
