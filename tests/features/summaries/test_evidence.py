"""Categories and scores come from what was said, by rules that can be read and checked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.features.summaries.evidence import category_of, count_evidence, scores_from
from scrubjay.features.summaries.models import Material, Scores, SummaryCategory, Told, Turn


def session(*turns: tuple[str, str], facts: tuple[Told, ...] = ()) -> Material:
    return Material(turns=[Turn(prompt, "", response) for prompt, response in turns], facts=facts)


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
def test_the_sort_of_work_is_told_by_its_words(prompt: str, response: str, expected: SummaryCategory) -> None:
    assert category_of(session((prompt, response))) is expected


def test_words_of_code_tell_nothing_of_the_work() -> None:
    shown = "```python\nerror = fix(bug)\nfailed = crash\n```"
    assert category_of(session(("Add a button.", f"I added it.\n{shown}"))) is SummaryCategory.FEATURE


def test_what_is_counted_and_what_it_gives() -> None:
    material = Material(
        turns=[
            Turn(
                "Fix src/a.py for the customers.", "one two three", "Fixed src/a.py:\n```python\nx\ny\n```\nAll passed."
            ),
            Turn("No, that's wrong. Fix src/a.py again.", "", "I could not fix src/b.ts yet."),
        ],
        facts=[Told("The release is critical.", 0.75), Told("We deploy on Monday.", 0.25)],
    )
    evidence = count_evidence(material)
    assert evidence == {
        "turns": 2,
        "facts": 2,
        "importance": 1.0,
        "files": 2,
        "technologies": 2,
        "codeLines": 2,
        "thoughtWords": 3,
        "done": 1,
        "undone": 1,
        "friction": 1,
        "weightyWords": 3,
        "focus": evidence["focus"],
        "endsDone": 0.0,
    }
    assert 0.5 < evidence["focus"] <= 1
    assert scores_from({**evidence, "focus": 1.0}) == Scores(
        quality=70,  # 60 * (1 - 1/2) + 40 * 1
        productivity=30,  # 60 * 1/2 + 40 * 0
        impact=31,  # 40 * 1/3 + 30 * 2/10 + 30 * 3/8 = 13.33 + 6 + 11.25
        complexity=14,  # 30 * 2/10 + 25 * 2/20 + 20 * 2/200 + 15 * 2/6 + 10 * 3/1000 = 6 + 2.5 + .2 + 5 + .03
    )


def test_turns_of_one_matter_are_more_focused_than_turns_of_many() -> None:
    one = [("Fix the parser", "The parser reads tokens"), ("Test the parser tokens", "The parser test reads tokens")]
    many = [("Fix the parser", "The parser reads tokens"), ("Which logo?", "Green one"), ("Lunch?", "Soup at noon")]
    assert count_evidence(session(*one))["focus"] > count_evidence(session(*many))["focus"]


TEXT = st.text(max_size=200)


@given(
    st.lists(st.builds(Turn, TEXT, TEXT, TEXT), max_size=5),
    st.lists(st.builds(Told, TEXT, st.floats(0, 1)), max_size=3),
)
def test_scores_are_always_between_0_and_100_and_the_same_each_time(turns: list[Turn], facts: list[Told]) -> None:
    material = Material(turns=turns, facts=facts)
    scores = scores_from(count_evidence(material))
    assert scores == scores_from(count_evidence(material))
    for value in (scores.quality, scores.productivity, scores.impact, scores.complexity):
        assert 0 <= value <= 100
    assert category_of(material) in SummaryCategory
