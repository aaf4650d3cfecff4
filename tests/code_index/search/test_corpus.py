"""All files of an index as they are searched: the same, however they came, were kept or changed."""

from pathlib import Path

import pytest

from scrubjay.code_index.facts.digest import digest
from scrubjay.code_index.models import FileTrait, Language
from scrubjay.code_index.search.commit_history import History
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.code_index.search.corpus_file import NAME, KeptCorpus, read_corpus, write_corpus
from scrubjay.code_index.search.ranker import Ranker, Toggles
from scrubjay.code_index.search.symbol_lookup import Names
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
    corpus.put([(file(path, text), digest(text.encode(), Language.PYTHON)) for path, text in files.items()], removed)
    return corpus


def told(corpus: Corpus, history: History | None = None) -> list[list[tuple[str, float]]]:
    ranker = Ranker(corpus, history or History(COMMITS))
    return [
        [(corpus.files[one.file].path, round(one.score, 4)) for one in ranker.rank(question, 9)]
        for question in QUESTIONS
    ]


def test_the_best_file_comes_first_and_tests_after_the_program() -> None:
    answers = told(put(Corpus(), FILES))
    assert [answer[0][0] if answer else None for answer in answers] == [
        "shop/cart.py",
        "shop/users.py",
        "shop/users.py",
        "a\udcff.py",
        None,
    ]
    assert "tests/test_cart.py" in [path for path, _ in answers[0][1:]]


def test_of_files_that_fit_alike_the_livelier_comes_first() -> None:
    files = {f"shop/{name}.py": "def price() -> int:\n    return 1\n" for name in ("first", "other", "third")}
    subjects = [("Mend", ["shop/third.py", "shop/other.py"])] * 3 + [("Tidy", ["shop/third.py"])] * 3
    corpus = put(Corpus(), files)

    def order(history: History, toggles: Toggles | None = None) -> list[str]:
        found = Ranker(corpus, history).rank("price", 9, toggles or Toggles(vector=False))
        return [corpus.files[one.file].path[5:-3] for one in found]

    assert order(History()) == ["first", "other", "third"]
    assert order(History(subjects)) == ["third", "other", "first"]
    assert order(History(subjects), Toggles(vector=False, graph=False)) == ["first", "other", "third"]
    signals = Ranker(corpus, History(subjects)).rank("price", 9, Toggles(vector=False))[1].signals
    assert 0 < signals["lively"] < 0.1


def test_files_can_come_one_after_the_other_and_in_the_place_of_others() -> None:
    whole = told(put(Corpus(), FILES))
    corpus = Corpus()
    for path, text in FILES.items():
        put(corpus, {path: "old = 1\n"})
        put(corpus, {path: text})
    put(corpus, {"gone.py": "total = cart\n"})
    put(corpus, {}, ("gone.py", "never.py"))
    assert told(corpus) == whole
    assert sorted(corpus.row_of) == sorted(FILES)
    assert (len(corpus.files), int(corpus.alive.sum())) == (9, 4)


def test_what_is_kept_in_a_file_answers_alike_and_goes_on(tmp_path: Path) -> None:
    corpus, history = put(Corpus(), FILES), History(COMMITS)
    write_corpus(tmp_path, KeptCorpus(3, "c0ffee", corpus, history))
    kept = read_corpus(tmp_path)
    assert kept is not None
    assert (kept.generation, kept.commit, kept.corpus.files) == (3, "c0ffee", corpus.files)
    assert told(kept.corpus, kept.history) == told(corpus, history)
    changed = {"shop/cart.py": "def checkout() -> None:\n    pass\n"}
    assert told(put(kept.corpus, changed), kept.history) == told(put(corpus, changed), history)
    assert Names(kept.corpus).find("checkout") == Names(corpus).find("checkout") != []


def test_a_copy_can_change_while_the_other_is_asked() -> None:
    corpus = put(Corpus(), FILES)
    before = told(corpus)
    put(corpus.copied(), {"new.py": "class Cart:\n    total = 1\n"}, ("shop/users.py",))
    assert told(corpus) == before
    assert sorted(corpus.row_of) == sorted(FILES)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "missing"])
def test_a_file_that_is_damaged_is_not_used(tmp_path: Path, damage: str) -> None:
    write_corpus(tmp_path, KeptCorpus(1, None, put(Corpus(), FILES), History()))
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


def test_witnesses_can_be_left_unheard() -> None:
    ranker = Ranker(put(Corpus(), FILES), History(COMMITS))
    (found, *_) = ranker.rank("load_user", 1, Toggles(vector=False, symbol=False, graph=False))
    assert {"meaning", "about", "defines"} & {*found.signals} == set()
    (found, *_) = ranker.rank("load_user", 1)
    assert found.signals["defines"] > 0.5
