"""Match scores of file and folder names for the words of a query."""

import pytest

from scrubjay.code_index.facts.tokenizer import tokenize_name
from scrubjay.code_index.search.path_match import PathIndex

PATHS = ("src/auth/tokens.py", "src/auth/__init__.py", "web/tokenbuckets.test.ts", "README")


def fits(*words: str, weights: tuple[float, ...] | None = None) -> list[tuple[float, float, float]]:
    paths = PathIndex()
    paths.add(PATHS[:2])
    paths.add(PATHS[2:])
    fit = paths.fit(words, weights or (1.0,) * len(words))
    columns = zip(fit.query_share.tolist(), fit.name_share.tolist(), fit.folder_share.tolist(), strict=True)
    return [(round(query, 3), round(name, 3), round(folder, 3)) for query, name, folder in columns]


def test_a_file_name_match_is_scored_as_share_of_the_query_and_of_the_name() -> None:
    assert fits("token") == [(1, 1, 0), (0, 0, 0), (0.8, 0.8, 0), (0, 0, 0)]
    assert fits("token", "renew") == [(0.5, 1, 0), (0, 0, 0), (0.4, 0.8, 0), (0, 0, 0)]


def test_an_init_file_is_matched_by_the_name_of_its_folder() -> None:
    assert fits("auth") == [(0, 0, 1), (1, 1, 1), (0, 0, 0), (0, 0, 0)]


def test_generic_source_folders_do_not_name_a_file() -> None:
    paths = PathIndex()
    paths.add(["packages/leak-finder/src/index.ts", "crates/glob/src/lib.rs", "src/index.ts"])
    fit = paths.fit(["leak", "glob", "index"], (1.0, 1.0, 1.0))
    assert fit.name_share.round(3).tolist() == [0.5, 1, 1]
    assert paths.fit(["src"], (1.0,)).name_share.tolist() == [0, 0, 0]


def test_words_count_by_their_weight() -> None:
    assert fits("token", "src", weights=(3.0, 1.0))[0] == (0.75, 1, 0.25)


def test_prefixes_count_less_and_short_ones_not_at_all() -> None:
    assert [query for query, _, _ in fits("tok")] == [0.5, 0, 0.5, 0]
    assert [query for query, _, _ in fits("to")] == [0, 0, 0, 0]
    assert [folder for _, _, folder in fits("authent")] == [0.5, 0.5, 0, 0]


@pytest.mark.parametrize("words", [(), ("nowhere",)])
def test_words_that_occur_in_no_path_match_nothing(words: tuple[str, ...]) -> None:
    assert fits(*words) == [(0, 0, 0)] * 4


def test_the_last_word_of_a_compound_name_is_the_whole_name() -> None:
    assert tokenize_name("RootModel")[-1] == tokenize_name("root_model")[-1] == "=rootmodel"
    assert tokenize_name("Router") == ("router",)
    assert tokenize_name("_") == ("_",)
