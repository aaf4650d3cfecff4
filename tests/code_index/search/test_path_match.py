"""How well the names of files and folders fit a question's words."""

import pytest

from scrubjay.code_index.facts.words import name_words
from scrubjay.code_index.search.path_match import Places

PATHS = ("src/auth/tokens.py", "src/auth/__init__.py", "web/tokenbuckets.test.ts", "README")


def fits(*words: str, worth: tuple[float, ...] | None = None) -> list[tuple[float, float, float]]:
    places = Places()
    places.add(PATHS[:2])
    places.add(PATHS[2:])
    fit = places.fit(words, worth or (1.0,) * len(words))
    columns = zip(fit.asked.tolist(), fit.named.tolist(), fit.folders.tolist(), strict=True)
    return [(round(asked, 3), round(named, 3), round(folders, 3)) for asked, named, folders in columns]


def test_a_files_name_counts_for_the_question_and_for_the_name() -> None:
    assert fits("token") == [(1, 1, 0), (0, 0, 0), (0.8, 0.8, 0), (0, 0, 0)]
    assert fits("token", "renew") == [(0.5, 1, 0), (0, 0, 0), (0.4, 0.8, 0), (0, 0, 0)]


def test_a_file_named_after_what_it_is_is_called_by_its_folder() -> None:
    assert fits("auth") == [(0, 0, 1), (1, 1, 1), (0, 0, 0), (0, 0, 0)]


def test_a_folder_of_sources_names_nothing_either() -> None:
    places = Places()
    places.add(["packages/leak-finder/src/index.ts", "crates/glob/src/lib.rs", "src/index.ts"])
    fit = places.fit(["leak", "glob", "index"], (1.0, 1.0, 1.0))
    assert fit.named.round(3).tolist() == [0.5, 1, 1]
    assert places.fit(["src"], (1.0,)).named.tolist() == [0, 0, 0]


def test_words_count_by_what_they_are_worth() -> None:
    assert fits("token", "src", worth=(3.0, 1.0))[0] == (0.75, 1, 0.25)


def test_beginnings_count_less_and_short_ones_least() -> None:
    assert [asked for asked, _, _ in fits("tok")] == [0.5, 0, 0.5, 0]
    assert [asked for asked, _, _ in fits("to")] == [0, 0, 0, 0]
    assert [folders for _, _, folders in fits("authent")] == [0.5, 0.5, 0, 0]


@pytest.mark.parametrize("words", [(), ("nowhere",)])
def test_words_that_no_place_has_fit_none(words: tuple[str, ...]) -> None:
    assert fits(*words) == [(0, 0, 0)] * 4


def test_the_last_word_of_a_name_is_the_whole_of_it() -> None:
    assert name_words("RootModel")[-1] == name_words("root_model")[-1] == "=rootmodel"
    assert name_words("Router") == ("router",)
    assert name_words("_") == ("_",)
