"""A corpus gives the same results however its files were added, stored or changed."""

from pathlib import Path

import pytest

from scrubjay.code_index.facts.digest import digest
from scrubjay.code_index.models import FileTrait, Language
from scrubjay.code_index.search.commit_history import CommitHistory
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.code_index.search.corpus_file import NAME, StoredCorpus, read_corpus, write_corpus
from scrubjay.code_index.search.ranker import Ranker, SignalToggles
from scrubjay.code_index.search.symbol_lookup import SymbolLookup
from scrubjay.code_index.store import Content, IndexedFile

FILES = {
    "shop/cart.py": '"""Carts."""\n\n\nclass Cart:\n    def total(self) -> int:\n        return sum(self.prices)\n',
    "shop/users.py": "def load_user(name: str) -> str:\n    # find the user in the database\n    return name\n",
    "tests/test_cart.py": "def test_total() -> None:\n    assert Cart().total() == 0\n",
    "a\udcff.py": "LIMIT = 7\n",
}
COMMITS = [("Sum up the prices of a cart", ["shop/cart.py"]), ("Load users lazily", ["shop/users.py", "gone.py"])]
QUESTIONS = ("total of a cart", "load_user", "where are users loaded from the database", "LIMIT", "nothing at all")


def file(path: str, text: str, generation: int = 1) -> IndexedFile:
    traits = FileTrait.TEST if path.startswith("tests/") else FileTrait(0)
    return IndexedFile(path, Content(str(hash(text)), Language.PYTHON), len(text), traits, False, generation)


def put(corpus: Corpus, files: dict[str, str], removed: tuple[str, ...] = ()) -> Corpus:
    corpus.update([(file(path, text), digest(text.encode(), Language.PYTHON)) for path, text in files.items()], removed)
    return corpus


def rankings(corpus: Corpus, history: CommitHistory | None = None) -> list[list[tuple[str, float]]]:
    """Return the paths and scores for each of the questions."""
    ranker = Ranker(corpus, history or CommitHistory(COMMITS))
    return [
        [(corpus.files[hit.file].path, round(hit.score, 4)) for hit in ranker.rank(question, 9)]
        for question in QUESTIONS
    ]


def test_the_best_file_is_first_and_tests_rank_below_the_program() -> None:
    results = rankings(put(Corpus(), FILES))
    assert [result[0][0] if result else None for result in results] == [
        "shop/cart.py",
        "shop/users.py",
        "shop/users.py",
        "a\udcff.py",
        None,
    ]
    assert "tests/test_cart.py" in [path for path, _ in results[0][1:]]


def test_among_equal_matches_the_file_with_more_commits_is_first() -> None:
    files = {f"shop/{name}.py": "def price() -> int:\n    return 1\n" for name in ("first", "other", "third")}
    subjects = [("Fix", ["shop/third.py", "shop/other.py"])] * 3 + [("Tidy", ["shop/third.py"])] * 3
    corpus = put(Corpus(), files)

    def order(history: CommitHistory, toggles: SignalToggles | None = None) -> list[str]:
        hits = Ranker(corpus, history).rank("price", 9, toggles or SignalToggles(vector=False))
        return [corpus.files[hit.file].path[5:-3] for hit in hits]

    assert order(CommitHistory()) == ["first", "other", "third"]
    assert order(CommitHistory(subjects)) == ["third", "other", "first"]
    assert order(CommitHistory(subjects), SignalToggles(vector=False, graph=False)) == ["first", "other", "third"]
    signals = Ranker(corpus, CommitHistory(subjects)).rank("price", 9, SignalToggles(vector=False))[1].signals
    assert 0 < signals["activity"] < 0.1


def test_files_can_be_added_one_by_one_and_replace_earlier_versions() -> None:
    expected = rankings(put(Corpus(), FILES))
    corpus = Corpus()
    for path, text in FILES.items():
        put(corpus, {path: "old = 1\n"})
        put(corpus, {path: text})
    put(corpus, {"gone.py": "total = cart\n"})
    put(corpus, {}, ("gone.py", "never.py"))
    assert rankings(corpus) == expected
    assert sorted(corpus.row_of) == sorted(FILES)
    assert (len(corpus.files), int(corpus.alive.sum())) == (9, 4)


def test_a_stored_corpus_gives_the_same_results_and_can_be_updated(tmp_path: Path) -> None:
    corpus, history = put(Corpus(), FILES), CommitHistory(COMMITS)
    write_corpus(tmp_path, StoredCorpus(3, "c0ffee", corpus, history))
    stored = read_corpus(tmp_path)
    assert stored is not None
    assert (stored.generation, stored.commit, stored.corpus.files) == (3, "c0ffee", corpus.files)
    assert rankings(stored.corpus, stored.history) == rankings(corpus, history)
    changed = {"shop/cart.py": "def checkout() -> None:\n    pass\n"}
    assert rankings(put(stored.corpus, changed), stored.history) == rankings(put(corpus, changed), history)
    assert SymbolLookup(stored.corpus).find("checkout") == SymbolLookup(corpus).find("checkout") != []


def test_changing_a_copy_does_not_change_the_original() -> None:
    corpus = put(Corpus(), FILES)
    before = rankings(corpus)
    put(corpus.copied(), {"new.py": "class Cart:\n    total = 1\n"}, ("shop/users.py",))
    assert rankings(corpus) == before
    assert sorted(corpus.row_of) == sorted(FILES)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "missing"])
def test_a_damaged_corpus_file_is_not_used(tmp_path: Path, damage: str) -> None:
    write_corpus(tmp_path, StoredCorpus(1, None, put(Corpus(), FILES), CommitHistory()))
    path = tmp_path / NAME
    content = bytearray(path.read_bytes())
    match damage:
        case "cut":
            path.write_bytes(content[:-70_000])
        case "flipped":
            content[len(content) // 2] ^= 1
            path.write_bytes(content)
        case "empty":
            path.write_bytes(b"")
        case _:
            path.unlink()
    assert read_corpus(tmp_path) is None


def test_signals_can_be_disabled() -> None:
    ranker = Ranker(put(Corpus(), FILES), CommitHistory(COMMITS))
    (hit, *_) = ranker.rank("load_user", 1, SignalToggles(vector=False, symbol=False, graph=False))
    assert {"embedding", "file_embedding", "defines"} & {*hit.signals} == set()
    (hit, *_) = ranker.rank("load_user", 1)
    assert hit.signals["defines"] > 0.5
