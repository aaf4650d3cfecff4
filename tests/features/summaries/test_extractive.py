"""Extractive summaries: the most informative sentences, without a language model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.summaries.extractive import (
    split_sentences,
    summarise_period,
    summarise_session,
)
from scrubjay.features.summaries.models import (
    GenerationMethod,
    SessionFact,
    SessionMaterial,
    Summary,
    SummaryCategory,
    Turn,
    WorkScores,
)
from scrubjay.features.summaries.titles import TITLE_WORDS, clip_title
from scrubjay.features.summaries.utterances import split_utterances


def session(*turns: tuple[str, str], facts: tuple[SessionFact, ...] = ()) -> SessionMaterial:
    return SessionMaterial(turns=[Turn(prompt, "", response) for prompt, response in turns], facts=facts)


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
    facts=(SessionFact("We decided to keep one cursor per export because opening one costs 13 ms.", 0.9),),
)


def test_the_text_has_a_line_for_each_part_of_the_outcome() -> None:
    summary = summarise_session(LONG)
    parts = dict(line.split(": ", 1) for line in summary.text.splitlines())
    assert list(parts) == ["Request", "Decided", "Outcome", "Files"]
    assert parts["Request"] == "Could you please find out why the nightly export is so slow?"
    assert parts["Decided"] == "We decided to keep one cursor per export because opening one costs 13 ms."
    assert "The export reads every row twice because the cursor is opened inside the loop" in parts["Outcome"]
    assert "The export takes 40 seconds now." in parts["Outcome"]
    assert "I added a note about cursors to docs/export.md." in parts["Outcome"]
    assert parts["Files"] == "export/rows.py, docs/export.md"
    for filler in ("Sure", "I will do that now", "Would you like", "for row in", "Here is"):
        assert filler not in summary.text
    assert summary.method is GenerationMethod.EXTRACTIVE
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
def test_the_title_is_the_request_in_at_most_ten_words(prompt: str, title: str) -> None:
    assert summarise_session(session((prompt, "Done."))).title == title


def test_repeated_sentences_appear_once() -> None:
    repeated = "The cache was cold because the server had been restarted at night."
    summary = summarise_session(
        session(*[("What is wrong with it now?", repeated)] * 5, ("And the disk?", "The disk is full."))
    )
    assert summary.text.count(repeated) == 1
    assert "The disk is full." in summary.text


def test_a_session_without_turns_has_an_empty_summary() -> None:
    summary = summarise_session(SessionMaterial(turns=[]))
    assert (summary.title, summary.text, summary.technologies) == ("", "", ())


def test_abbreviations_and_versions_do_not_split_sentences() -> None:
    text = "We use e.g. Redis for this. Version 2.5 of app.py is old! Is Dr. Who here? Yes, he is here."
    assert [utterance.text for utterance in split_utterances([("", text)])] == [
        "We use e.g. Redis for this.",
        "Version 2.5 of app.py is old!",
        "Is Dr. Who here?",
        "Yes, he is here.",
    ]
    assert split_sentences(text) == [utterance.text for utterance in split_utterances([("", text)])]


def part(title: str, text: str, impact: int = 10, category: SummaryCategory = SummaryCategory.OTHER) -> Summary:
    return Summary(
        title=title,
        text=text,
        category=category,
        scores=WorkScores(quality=50, productivity=100, impact=impact, complexity=20),
        technologies=("Python", title),
        method=GenerationMethod.EXTRACTIVE,
    )


def test_a_period_takes_its_title_and_text_from_its_most_important_part() -> None:
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
        scores=WorkScores(quality=50, productivity=100, impact=90, complexity=20),
        technologies=("Python", "Small talk", "Security hole closed in the upload of large files today"),
        method=GenerationMethod.EXTRACTIVE,
        evidence={"parts": 2},
    )
    assert summarise_period([(high, 3)]).title == high.title


def test_quality_and_productivity_of_a_period_are_weighted_means() -> None:
    one = part("a", "One thing was done here.")
    other = Summary(
        title="b",
        text="Another thing was done there.",
        category=SummaryCategory.FEATURE,
        scores=WorkScores(quality=100, productivity=20, impact=5, complexity=60),
        technologies=(),
        method=GenerationMethod.LLM,
    )
    assert summarise_period([(one, 3), (other, 1)]).scores == WorkScores(
        quality=62, productivity=80, impact=10, complexity=60
    )


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Short one.", "Short one"),
        ("one two three four five six seven eight nine ten eleven", "one two three four five six seven eight nine ten"),
        ("one two three four five six seven eight nine of the", "one two three four five six seven eight nine"),
        ("", ""),
    ],
)
def test_a_clipped_title_does_not_end_with_a_function_word(title: str, expected: str) -> None:
    assert clip_title(title) == expected


TEXT = st.text(max_size=300) | st.lists(
    st.sampled_from(["The parser works.", "Done!", "Why?", "x" * 400, "a b c d"])
).map(" ".join)


@given(st.lists(st.builds(Turn, TEXT, TEXT, TEXT), max_size=6))
def test_the_length_of_a_summary_is_limited_for_any_input(turns: list[Turn]) -> None:
    summary = summarise_session(SessionMaterial(turns=turns))
    assert len(summary.title.split()) <= TITLE_WORDS
    assert len(summary.text) <= 1_800 + 1_000
    assert summary == summarise_session(SessionMaterial(turns=turns))
