"""Selection removes duplicates and, on request, diversifies the results (feature 60)."""

from datetime import UTC, datetime

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Memory
from scrubjay.features.memory.ranking.selection import (
    covers_text,
    diversify,
    find_near_duplicates,
    fold_duplicates,
    is_duplicate,
    spread_over_sessions,
    spread_over_time,
)
from scrubjay.search_index.neighbourhood import REACH

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def memory(content: str, *, speaker: str | None = None, key: str | None = None) -> Memory:
    return Memory(
        id=content,
        scope=Scope.GLOBAL,
        project_id=None,
        session_id=None,
        content=content,
        speaker=speaker,
        key=key,
        recorded_at=NOW,
        updated_at=NOW,
    )


def directions(*degrees: float) -> NDArray[np.float32]:
    """Return unit vectors at these angles, in degrees."""
    angles = np.radians(np.array(degrees))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("We deploy on Thursdays.", "we deploy on Thursday", True),
        ("We chose PostgreSQL because the team knows it.", "We chose PostgreSQL because the team knows it well.", True),
        ("We deploy on Thursdays.", "We do not deploy on Thursdays.", False),
        ("The alarm of the old house is never on", "The alarm of the old house is on", False),
        ("Ada owes Bob ten euros", "Bob owes Ada ten euros", False),
        ("The limit of the public service is 100", "The limit of the public service is 200", False),
        ("The limit of the public service is", "The limit of the public service is 5", False),
        ("Turn the light on", "Turn the light off", False),
        ("We write it in C++", "We write it in C#", False),
        ("We deploy on Friday", "We deploy on Friday?", False),
        ("Ada likes tea", "Ada likes green tea", False),
        ("🎉", "🔥", False),
        ("🎉", "🎉", True),
    ],
)
def test_060_duplicates_have_almost_the_same_words_in_the_same_order(one: str, other: str, same: bool) -> None:
    assert is_duplicate(memory(one), memory(other)) is same
    assert is_duplicate(memory(other), memory(one)) is same


@pytest.mark.parametrize(
    ("text", "other", "whole"),
    [
        ("We deploy on Thursdays.", "we  deploy on thursdays", True),
        ("We chose PostgreSQL because the team knows it well.", "We chose PostgreSQL because the team knows it.", True),
        (
            "We chose PostgreSQL because the team knows it.",
            "We chose PostgreSQL because the team knows it well.",
            False,
        ),
        ("We deploy on Thursdays.", "We deploy on Thursday.", False),
        ("Ada deployed the service", "Ada deploys the service", False),
        ("The alarm of the old house is never on", "The alarm of the old house is on", False),
        ("The limit of the public service is 5", "The limit of the public service is", False),
        ("That went well :)", "That went well :(", False),
        ("...", "!", False),
        ("🎉", "🎉", True),
    ],
)
def test_047_a_text_covers_another_only_if_it_contains_all_its_words(text: str, other: str, whole: bool) -> None:
    assert covers_text(text, other) is whole


def test_060_memories_of_different_speakers_or_keys_are_no_duplicates() -> None:
    assert is_duplicate(memory("I like tea.", speaker="Ada"), memory("I like tea.", speaker="Ada"))
    assert not is_duplicate(memory("I like tea.", speaker="Ada"), memory("I like tea.", speaker="Bob"))
    assert is_duplicate(memory("enabled", key="search"), memory("enabled"))
    assert not is_duplicate(memory("enabled", key="search"), memory("enabled", key="export"))


def test_060_near_duplicates_are_listed_and_replaced_by_further_candidates() -> None:
    vectors = directions(0, 90, 2, 45, 91, 135, 200)
    assert find_near_duplicates(vectors, [0, 1, 2, 3, 4, 5, 6], 4) == ([0, 1, 2, 3, 4, 5], {2: [0], 4: [1]})
    assert find_near_duplicates(vectors, [0, 1, 3, 5, 6, 2, 4], 4) == ([0, 1, 3, 5], {})
    assert find_near_duplicates(vectors, [2, 0, 4, 1], 3) == ([2, 0, 4, 1], {0: [2], 1: [4]})
    assert find_near_duplicates(vectors, [], 3) == ([], {})


def test_060_many_duplicates_do_not_hide_other_candidates() -> None:
    vectors = directions(*[0] * 50, 60, 120)
    some, lookalikes = find_near_duplicates(vectors, list(range(52)), 3)
    assert some == list(range(52))
    assert lookalikes == {place: list(range(place)) for place in range(1, 50)}


def test_060_texts_without_vectors_have_no_near_duplicates() -> None:
    vectors = np.full((3, 2), np.nan, dtype=np.float32)
    assert find_near_duplicates(vectors, [2, 1, 0], 2) == ([2, 1], {})
    some_known = np.concatenate([vectors[:2], directions(0, 1)])
    assert find_near_duplicates(some_known, [0, 1, 2, 3], 4) == ([0, 1, 2, 3], {3: [2]})


def test_060_chains_of_duplicates_are_folded_into_the_best() -> None:
    memories = {place: memory(text) for place, text in enumerate(["We sail", "We swim", "We sail.", "we sail!"])}
    assert fold_duplicates(memories, {1: [0], 2: [0, 1], 3: [2]}) == {2: 0, 3: 0}


def test_060_diversity_prefers_candidates_unlike_the_preceding_ones() -> None:
    scores = np.array([0.9, 0.8, 0.5, 0.1], dtype=np.float32)
    vectors = directions(0, 5, 90, 180)
    assert diversify(scores, vectors, [0, 1, 2, 3], 0.0) == [0, 1, 2, 3]
    assert diversify(scores, vectors, [0, 1, 2, 3], 0.5) == [0, 2, 3, 1]
    assert diversify(scores, vectors, [0, 1], 1.0) == [0, 1]
    vectors[1] = np.nan
    assert diversify(scores, vectors, [0, 1, 2, 3], 0.3) == [0, 1, 2, 3]


def in_conversation(rows: int) -> NDArray[np.intp]:
    """Return the neighbours of rows that follow each other in one conversation."""
    places = np.arange(rows)[:, np.newaxis] + np.arange(-REACH, REACH + 1)
    return np.where((places >= 0) & (places < rows), places, -1).astype(np.intp)


def test_060_results_on_a_topic_are_spread_over_sessions() -> None:
    scores = np.array([0.60, 0.59, 0.56, 0.55, 0.30, 0.30], dtype=np.float32)
    sessions = np.array([1, 1, 1, 2, -1, -1], dtype=np.int32)
    apart = np.full((6, 2 * REACH + 1), -1, dtype=np.intp)
    apart[:, REACH] = range(6)
    assert spread_over_time(scores, sessions, apart, [0, 1, 2, 3, 4, 5], 6) == [0, 1, 3, 2, 4, 5]
    assert spread_over_time(scores, sessions, apart, [0, 1, 2, 3, 4, 5], 1) == [0, 1, 2, 3, 4, 5]
    assert spread_over_time(scores, sessions, apart, [1, 3], 6) == [1, 3]


def test_060_results_about_several_things_are_spread_over_sessions() -> None:
    scores = np.array([0.60, 0.59, 0.58, 0.57, 0.57, 0.57], dtype=np.float32)
    sessions = np.array([1, 1, 1, 2, -1, -1], dtype=np.int32)
    assert spread_over_sessions(scores, sessions, [0, 1, 2, 3, 4, 5], 6) == [0, 1, 3, 4, 5, 2]
    assert spread_over_sessions(scores, sessions, [0, 1, 2, 3, 4, 5], 1) == [0, 1, 3, 2, 4, 5]


def test_060_results_on_a_topic_are_spread_over_the_course_of_a_conversation() -> None:
    scores = np.array([0.60, 0.59, 0.58, 0.40, 0.40, 0.40, 0.40, 0.50], dtype=np.float32)
    sessions = np.zeros(8, dtype=np.int32)
    order = spread_over_time(scores, sessions, in_conversation(8), [0, 1, 2, 7, 3, 4, 5, 6], 2)
    assert order == [0, 7, 1, 2, 3, 4, 5, 6]
