"""Files are found by the words in the names of their callers."""

from collections.abc import Mapping, Sequence

import numpy as np

from scrubjay.code_index.facts.digest import digest
from scrubjay.code_index.facts.packing import pack_edges
from scrubjay.code_index.facts.tokenizer import query_words
from scrubjay.code_index.models import Edge, Evidence, FileEdges, FileTrait, Language, UseKind
from scrubjay.code_index.search.callers_text import COMPACTION_RATIO, CallerWords
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.code_index.search.use_columns import read_uses
from scrubjay.code_index.store import Content, IndexedFile

FILES = {
    "shop.py": "def checkout_basket(): ...\ndef refund_basket(): ...\n",
    "tests/test_tax.py": "def test_basket_with_tax(): ...\n",
    "sums.py": "def add(): ...\ndef add_basket(): ...\n",
    "texts.py": "def shorten(): ...\n",
}


def put(corpus: Corpus, files: dict[str, str]) -> Corpus:
    """Add or replace files of a corpus."""
    corpus.update(
        (
            IndexedFile(path, Content(path, Language.PYTHON), len(text), FileTrait(0), False, 1),
            digest(text.encode(), Language.PYTHON),
        )
        for path, text in files.items()
    )
    return corpus


def use(source: int, path: str, confidence: float = 1.0) -> Edge:
    return Edge(source, path, 0, UseKind.CALL, 1, Evidence.IMPORTED, confidence)


def add_uses(corpus: Corpus, edges: Mapping[str, Sequence[Edge]], callers: CallerWords | None = None) -> CallerWords:
    callers = callers or CallerWords()
    callers.add(corpus, read_uses(corpus, {path: pack_edges(FileEdges(own)).edges for path, own in edges.items()}))
    return callers


def caller_scores(callers: CallerWords, corpus: Corpus, query: str) -> dict[str, float]:
    """Return the nonzero scores of the current files."""
    scores = np.round(callers.for_files(corpus).fit(query_words(query)), 3).tolist()
    return {path: scores[row] for path, row in corpus.row_of.items() if scores[row]}


def test_a_file_is_found_by_the_names_of_its_callers() -> None:
    corpus = put(Corpus(), FILES)
    edges = {"shop.py": [use(0, "sums.py"), use(1, "sums.py"), use(1, "texts.py")]}
    callers = add_uses(corpus, edges)
    assert caller_scores(callers, corpus, "checkout") == {"sums.py": 1.0}
    assert [*caller_scores(callers, corpus, "refund of a basket")] == ["sums.py", "texts.py"]
    assert caller_scores(callers, corpus, "tax") == {}
    assert caller_scores(callers, corpus, "") == {}


def test_callers_that_have_only_some_of_the_words_score_lower() -> None:
    corpus = put(Corpus(), FILES)
    callers = add_uses(corpus, {"shop.py": [use(0, "sums.py")]})
    whole, part = (
        caller_scores(callers, corpus, query)["sums.py"] for query in ("checkout", "checkout for a hovercraft")
    )
    assert 0 < part < whole == 1.0


def test_repeated_uses_by_one_caller_count_once_and_more_callers_count_more() -> None:
    corpus = put(Corpus(), FILES)
    callers = add_uses(
        corpus,
        {
            "shop.py": [*[use(0, "texts.py")] * 9, use(0, "sums.py"), use(1, "sums.py")],
            "tests/test_tax.py": [use(0, "sums.py")],
        },
    )
    scores = caller_scores(callers, corpus, "basket")
    assert scores["sums.py"] == 1.0 > scores["texts.py"]


def test_guesses_uses_within_a_file_and_uses_outside_definitions_are_ignored() -> None:
    corpus = put(Corpus(), FILES)
    edges = {"sums.py": [use(1, "sums.py")], "shop.py": [use(0, "sums.py", 0.4), use(-1, "sums.py"), use(0, "gone.py")]}
    assert caller_scores(add_uses(corpus, edges), corpus, "checkout basket add") == {}
    # Another process has indexed the file again, with more definitions.
    assert (
        caller_scores(
            add_uses(corpus, {"shop.py": [use(2, "texts.py"), use(99, "texts.py")]}), corpus, "basket test tax"
        )
        == {}
    )


def test_changing_a_file_removes_its_old_uses_and_keeps_its_callers() -> None:
    corpus = put(Corpus(), FILES)
    callers = add_uses(corpus, {"shop.py": [use(0, "sums.py")], "tests/test_tax.py": [use(0, "sums.py")]})
    before = callers.copied()
    put(corpus, {"shop.py": "def pay(): ...\n", "sums.py": "def plus(): ...\n"})
    add_uses(corpus, {"shop.py": [use(0, "texts.py")]}, callers)
    assert caller_scores(callers, corpus, "checkout") == {}
    assert caller_scores(callers, corpus, "pay") == {"texts.py": 1.0}
    assert caller_scores(callers, corpus, "tax") == {"sums.py": 1.0}
    assert caller_scores(before, corpus, "pay") == {}


def test_uses_of_an_unchanged_file_can_be_replaced_any_number_of_times() -> None:
    corpus = put(Corpus(), FILES)
    callers = add_uses(corpus, {"shop.py": [use(1, "texts.py")], "tests/test_tax.py": [use(0, "sums.py")]})
    for _ in range(9):
        add_uses(corpus, {"shop.py": [use(0, "sums.py")]}, callers)
        add_uses(corpus, {"shop.py": [use(0, "texts.py")]}, callers)
    rebuilt = add_uses(corpus, {"shop.py": [use(0, "texts.py")], "tests/test_tax.py": [use(0, "sums.py")]})
    for query in ("checkout of a basket", "refund", "tax"):
        assert caller_scores(callers, corpus, query) == caller_scores(rebuilt, corpus, query)
    assert len(callers.arrays()["used"]) <= 2 * COMPACTION_RATIO
    add_uses(corpus, {"shop.py": [], "tests/test_tax.py": []}, callers)
    assert caller_scores(callers, corpus, "checkout of a basket, with tax") == {}


def test_stored_caller_words_give_the_same_scores() -> None:
    corpus = put(Corpus(), FILES)
    callers = add_uses(corpus, {"shop.py": [use(0, "sums.py"), use(1, "texts.py")]})
    restored = CallerWords.of(callers.arrays())
    assert caller_scores(restored, corpus, "refund a basket") == caller_scores(callers, corpus, "refund a basket") != {}
    assert caller_scores(CallerWords.of(CallerWords().arrays()), corpus, "refund a basket") == {}
