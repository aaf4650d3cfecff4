"""What the names of those that use a file say of it."""

from collections.abc import Mapping, Sequence

import numpy as np

from scrubjay.code_index.facts.digest import digest
from scrubjay.code_index.facts.packing import kept_edges
from scrubjay.code_index.facts.words import query_words
from scrubjay.code_index.models import Edge, Evidence, FileEdges, FileTrait, Language, UseKind
from scrubjay.code_index.search.callers_text import MOST_FORGOTTEN, Users
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
    corpus.put(
        (
            IndexedFile(path, Content(path, Language.PYTHON), len(text), FileTrait(0), False, 1),
            digest(text.encode(), Language.PYTHON),
        )
        for path, text in files.items()
    )
    return corpus


def use(source: int, path: str, confidence: float = 1.0) -> Edge:
    return Edge(source, path, 0, UseKind.CALL, 1, Evidence.IMPORTED, confidence)


def used(corpus: Corpus, edges: Mapping[str, Sequence[Edge]], users: Users | None = None) -> Users:
    users = users or Users()
    users.add(corpus, read_uses(corpus, {path: kept_edges(FileEdges(own)).edges for path, own in edges.items()}))
    return users


def said(users: Users, corpus: Corpus, query: str) -> dict[str, float]:
    """What is said for which files that are there."""
    found = np.round(users.of_files(corpus).fit(query_words(query)), 3).tolist()
    return {path: found[row] for path, row in corpus.row_of.items() if found[row]}


def test_a_file_is_told_by_the_names_of_what_uses_it() -> None:
    corpus = put(Corpus(), FILES)
    edges = {"shop.py": [use(0, "sums.py"), use(1, "sums.py"), use(1, "texts.py")]}
    users = used(corpus, edges)
    assert said(users, corpus, "checkout") == {"sums.py": 1.0}
    assert [*said(users, corpus, "refund of a basket")] == ["sums.py", "texts.py"]
    assert said(users, corpus, "tax") == {}
    assert said(users, corpus, "") == {}


def test_what_has_a_part_of_the_words_says_less() -> None:
    corpus = put(Corpus(), FILES)
    users = used(corpus, {"shop.py": [use(0, "sums.py")]})
    whole, part = (said(users, corpus, query)["sums.py"] for query in ("checkout", "checkout for a hovercraft"))
    assert 0 < part < whole == 1.0


def test_one_that_uses_a_file_often_counts_once_and_many_count_more() -> None:
    corpus = put(Corpus(), FILES)
    users = used(
        corpus,
        {
            "shop.py": [*[use(0, "texts.py")] * 9, use(0, "sums.py"), use(1, "sums.py")],
            "tests/test_tax.py": [use(0, "sums.py")],
        },
    )
    told = said(users, corpus, "basket")
    assert told["sums.py"] == 1.0 > told["texts.py"]


def test_guesses_a_files_own_uses_and_those_of_no_definition_say_nothing() -> None:
    corpus = put(Corpus(), FILES)
    edges = {"sums.py": [use(1, "sums.py")], "shop.py": [use(0, "sums.py", 0.4), use(-1, "sums.py"), use(0, "gone.py")]}
    assert said(used(corpus, edges), corpus, "checkout basket add") == {}
    # Another process has indexed it again, with more in it.
    assert said(used(corpus, {"shop.py": [use(2, "texts.py"), use(99, "texts.py")]}), corpus, "basket test tax") == {}


def test_when_a_file_changes_what_it_used_before_is_forgotten_and_who_uses_it_is_not() -> None:
    corpus = put(Corpus(), FILES)
    users = used(corpus, {"shop.py": [use(0, "sums.py")], "tests/test_tax.py": [use(0, "sums.py")]})
    before = users.copied()
    put(corpus, {"shop.py": "def pay(): ...\n", "sums.py": "def plus(): ...\n"})
    used(corpus, {"shop.py": [use(0, "texts.py")]}, users)
    assert said(users, corpus, "checkout") == {}
    assert said(users, corpus, "pay") == {"texts.py": 1.0}
    assert said(users, corpus, "tax") == {"sums.py": 1.0}
    assert said(before, corpus, "pay") == {}


def test_a_file_that_leads_elsewhere_without_having_changed_is_told_anew_however_often() -> None:
    corpus = put(Corpus(), FILES)
    users = used(corpus, {"shop.py": [use(1, "texts.py")], "tests/test_tax.py": [use(0, "sums.py")]})
    for _ in range(9):
        used(corpus, {"shop.py": [use(0, "sums.py")]}, users)
        used(corpus, {"shop.py": [use(0, "texts.py")]}, users)
    anew = used(corpus, {"shop.py": [use(0, "texts.py")], "tests/test_tax.py": [use(0, "sums.py")]})
    for query in ("checkout of a basket", "refund", "tax"):
        assert said(users, corpus, query) == said(anew, corpus, query)
    assert len(users.arrays()["used"]) <= 2 * MOST_FORGOTTEN
    used(corpus, {"shop.py": [], "tests/test_tax.py": []}, users)
    assert said(users, corpus, "checkout of a basket, with tax") == {}


def test_what_was_kept_says_the_same() -> None:
    corpus = put(Corpus(), FILES)
    users = used(corpus, {"shop.py": [use(0, "sums.py"), use(1, "texts.py")]})
    kept = Users.of(users.arrays())
    assert said(kept, corpus, "refund a basket") == said(users, corpus, "refund a basket") != {}
    assert said(Users.of(Users().arrays()), corpus, "refund a basket") == {}
