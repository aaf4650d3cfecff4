"""Categories and scores of sessions are computed from their words by documented rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.summaries.evidence import classify, compute_scores, count_evidence
from scrubjay.features.summaries.models import SessionFact, SessionMaterial, SummaryCategory, Turn, WorkScores
from scrubjay.features.summaries.validity import judge


def session(*turns: tuple[str, str], facts: tuple[SessionFact, ...] = ()) -> SessionMaterial:
    return SessionMaterial(turns=[Turn(prompt, "", response) for prompt, response in turns], facts=facts)


def count(material: SessionMaterial) -> dict[str, float]:
    return count_evidence(material, judge([(turn.prompt, turn.response) for turn in material.turns]))


@pytest.mark.parametrize(
    ("prompt", "response", "expected"),
    [
        ("Fix the crash in the parser.", "The error came from a null; fixed.", SummaryCategory.BUGFIX),
        ("Add support for dark mode.", "I implemented the new option.", SummaryCategory.FEATURE),
        ("Refactor the billing module.", "I renamed it and simplified the loops.", SummaryCategory.REFACTORING),
        ("Write docs for the API.", "The README and the tutorial are there.", SummaryCategory.DOCUMENTATION),
        ("Scaffold a new project from scratch.", "The boilerplate is ready.", SummaryCategory.NEW_APP),
        ("Why is the query slow? Compare both.", "I measured and profiled them.", SummaryCategory.ANALYSIS),
        ("Good morning.", "Good morning to you.", SummaryCategory.OTHER),
        ("Fix it. Document it.", "", SummaryCategory.OTHER),
        ("", "", SummaryCategory.OTHER),
    ],
)
def test_the_words_of_a_session_determine_its_category(prompt: str, response: str, expected: SummaryCategory) -> None:
    assert classify(session((prompt, response))) is expected


def test_words_in_code_blocks_do_not_affect_the_category() -> None:
    shown = "```python\nerror = fix(bug)\nfailed = crash\n```"
    assert classify(session(("Add a button.", f"I added it.\n{shown}"))) is SummaryCategory.FEATURE


def test_scores_are_computed_from_counted_evidence() -> None:
    material = SessionMaterial(
        turns=[
            Turn(
                "Fix src/a.py for the customers.", "one two three", "Fixed src/a.py:\n```python\nx\ny\n```\nAll passed."
            ),
            Turn("No, that's wrong. Fix src/a.py again.", "", "I could not fix src/b.ts yet."),
        ],
        facts=[SessionFact("The release is critical.", 0.75), SessionFact("We deploy on Monday.", 0.25)],
    )
    evidence = count(material)
    assert evidence == {
        "turns": 2,
        "working": 2,
        "facts": 2,
        "importance": 1.0,
        "files": 2,
        "technologies": 2,
        "codeLines": 2,
        "thoughtWords": 3,
        "done": 0,  # what was fixed first was wrong
        "undone": 1,
        "friction": 1,
        "weightyWords": 3,
        "focus": evidence["focus"],
        "endsDone": 0.0,
        "substance": evidence["substance"],
    }
    assert 0.5 < evidence["focus"] <= 1
    assert compute_scores({**evidence, "focus": 1.0, "substance": 1.0}) == WorkScores(
        quality=70,  # 60 * (1 - 1/2) + 40 * 1
        productivity=0,  # 60 * 0/2 + 40 * 0
        impact=31,  # 40 * 1/3 + 30 * 2/10 + 30 * 3/8 = 13.33 + 6 + 11.25
        complexity=14,  # 30 * 2/10 + 25 * 2/20 + 20 * 2/200 + 15 * 2/6 + 10 * 3/1000 = 6 + 2.5 + .2 + 5 + .03
    )


def test_turns_on_one_topic_are_more_focused_than_turns_on_many() -> None:
    one = [("Fix the parser", "The parser reads tokens"), ("Test the parser tokens", "The parser test reads tokens")]
    many = [
        ("Fix the parser", "The parser reads tokens"),
        ("Draw a logo for the website", "The logo of the website is a green bird"),
        ("What is for lunch at noon", "Soup with bread is served for lunch"),
    ]
    assert count(session(*one))["focus"] > count(session(*many))["focus"]


@pytest.mark.parametrize(
    "turns",
    [
        [("hi", "Hello! How can I help you today?"), ("hello", "")],
        [("Good morning", "Good morning! What would you like to work on?"), ("nothing yet, thanks", "All right.")],
        [("test", "Your message arrived."), ("ok", "")],
        [
            ("hey, just checking if this works", "Yes, everything works. What can I do for you?"),
            ("great, later", "Bye!"),
        ],
        [("Hi! What can you do?", "I can write code, fix bugs, run tests and explain how your project works.")],
        [],
    ],
)
def test_greetings_have_no_scores(turns: list[tuple[str, str]]) -> None:
    scores = compute_scores(count(session(*turns)))
    assert scores == WorkScores(quality=0, productivity=0, impact=0, complexity=0)


def test_objections_lower_quality_and_unfinished_work_lowers_productivity() -> None:
    smooth = [
        ("Add a cache to the parser", "I added the cache to src/parser.py; the parser takes 3 ms instead of 90."),
        ("Add a test for the parser cache", "I added four tests of the parser cache for large files, all pass."),
    ]
    rough = [
        ("Add a cache to the parser", "I added the cache to src/parser.py; the parser takes 3 ms instead of 90."),
        ("No, the parser still fails with an empty file", "Sorry, the cache could not handle empty files yet."),
        ("That's wrong again", "I could not find the cause in the parser cache."),
    ]
    good, bad = (compute_scores(count(session(*turns))) for turns in (smooth, rough))
    assert good.quality > bad.quality + 30
    assert good.productivity == 100
    assert bad.productivity <= 20


TEXT = st.text(max_size=200)


@given(
    st.lists(st.builds(Turn, TEXT, TEXT, TEXT), max_size=5),
    st.lists(st.builds(SessionFact, TEXT, st.floats(0, 1)), max_size=3),
)
def test_scores_are_deterministic_and_between_0_and_100(turns: list[Turn], facts: list[SessionFact]) -> None:
    material = SessionMaterial(turns=turns, facts=facts)
    scores = compute_scores(count(material))
    assert scores == compute_scores(count(material))
    for value in (scores.quality, scores.productivity, scores.impact, scores.complexity):
        assert 0 <= value <= 100
    assert classify(material) in SummaryCategory
