"""Definitions are found by name, the likeliest first."""

import random

from scrubjay.code_index.discovery.file_traits import traits_by_path
from scrubjay.code_index.facts.digest import digest
from scrubjay.code_index.models import Language
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.code_index.search.symbol_lookup import SymbolLookup
from scrubjay.code_index.store import Content, IndexedFile

SPELLINGS = (
    "root_model",
    "RootModel",
    "rootModel",
    "rootmodel",
    "ROOT_MODEL",
    "_root_model",
    "Größe",
    "größe",
    "x" * 200,
)


def put(corpus: Corpus, files: dict[str, str]) -> Corpus:
    corpus.update(
        (
            IndexedFile(path, Content(str(hash(text)), Language.PYTHON), len(text), traits_by_path(path), False, 1),
            digest(text.encode(), Language.PYTHON),
        )
        for path, text in files.items()
    )
    return corpus


def at(corpus: Corpus, rows: list[int]) -> list[str]:
    """Return path and line of each symbol row."""
    return [f"{corpus.files[int(corpus.symbols.files[row])].path}:{corpus.symbols.lines[row]}" for row in rows]


def test_a_name_is_found_in_its_exact_spelling() -> None:
    names = [name for name in SPELLINGS for _ in range(2)]
    random.Random(7).shuffle(names)
    corpus = put(Corpus(), {f"m{number}.py": f"def {name}():\n    pass\n" for number, name in enumerate(names)})
    corpus = put(corpus, {"m0.py": "def other():\n    pass\n"})  # replaces the earlier content
    for name in SPELLINGS:
        expected = [f"m{number}.py:1" for number, own in enumerate(names) if own == name and number]
        assert sorted(at(corpus, SymbolLookup(corpus).find(name))) == sorted(expected)


def test_case_is_ignored_only_when_there_is_no_exact_match() -> None:
    corpus = put(Corpus(), {"a.py": "class RootModel:\n    pass\n", "b.py": "def rootmodel():\n    pass\n"})
    names = SymbolLookup(corpus)
    assert at(corpus, names.find("rootmodel")) == ["b.py:1"]
    assert at(corpus, names.find("ROOTMODEL")) == ["a.py:1", "b.py:1"]
    assert names.find("ROOTMODEL", exactly=True) == []


def test_among_definitions_of_one_name_the_likeliest_is_first() -> None:
    body = "    pass\n"
    corpus = put(
        Corpus(),
        {
            "tests/test_run.py": f"class run:\n{body}",
            "b.py": f"def run():\n{body}",
            "a.py": f"def run():\n{body}",
            "c.py": f"def run():\n{body * 2}",
            "long.py": f"class Job:\n    def run(self):\n{'        pass' + chr(10)}",
            "d.py": f"class run:\n{body}",
            "e.py": "run = 1\n",
            "f.py": f"def run():\n{body * 300}\n\ndef run():\n{body * 400}",
        },
    )
    assert at(corpus, SymbolLookup(corpus).find("run")) == [
        "d.py:1", "f.py:1", "f.py:304", "c.py:1", "a.py:1", "b.py:1", "long.py:2", "e.py:1", "tests/test_run.py:1",
    ]  # fmt: skip


ROUTER = """package gin

type Context struct{ path string }

func (c *Context) Query(name string) string { return c.path + name }

func Query(name string) string { return name }
"""


def test_a_go_method_is_qualified_by_its_receiver_type() -> None:
    corpus = Corpus()
    text = ROUTER.encode()
    file = IndexedFile(
        "web/context.go", Content("1", Language.GO), len(text), traits_by_path("web/context.go"), False, 1
    )
    corpus.update([(file, digest(text, Language.GO))])
    for each in (corpus, corpus.copied(), Corpus.of(corpus.arrays())):
        names = SymbolLookup(each)
        for name in ("Context.Query", "(*Context).Query", "context.go::Context.Query", "web.Context.Query"):
            assert at(each, names.find(name)) == ["web/context.go:5"]
        assert [names.qualified(row) for row in names.find("Query")] == ["Query", "Context.Query"]
        assert at(each, names.find("web.Query")) == ["web/context.go:7"]


MACROS = """pin_project! {
    pub struct Sleep { entry: Timer }
}
impl Sleep { fn reset(&self) {} }
cfg_rt! { pub fn spawn() {} }
"""


def test_definitions_inside_macros_rank_below_plain_ones_in_the_same_file() -> None:
    corpus = Corpus()
    files = {"src/time.rs": MACROS, "src/other.rs": "pub struct Sleep;\nmod spawn {}\n"}
    for path, text in files.items():
        file = IndexedFile(path, Content(path, Language.RUST), len(text), traits_by_path(path), False, 1)
        corpus.update([(file, digest(text.encode(), Language.RUST))])
    for each in (corpus, corpus.copied(), Corpus.of(corpus.arrays())):
        names = SymbolLookup(each)
        assert at(each, names.find("Sleep")) == ["src/other.rs:1", "src/time.rs:4", "src/time.rs:2"]
        assert at(each, names.find("spawn")) == ["src/time.rs:5", "src/other.rs:2"]


def test_a_qualified_name_can_start_with_a_file_name_or_path() -> None:
    twice = "class Session:\n    def login(self): ...\n"
    corpus = put(Corpus(), {"auth.py": twice, "src/auth.py": twice, "web.py": twice})
    names = SymbolLookup(corpus)
    assert at(corpus, names.find("web.py::Session.login")) == ["web.py:2"]
    assert at(corpus, names.find("auth.py::Session.login")) == ["auth.py:2", "src/auth.py:2"]
    assert at(corpus, names.find("src/auth.py::Session.login")) == ["src/auth.py:2"]
    assert at(corpus, names.find("web::Session::login")) == ["web.py:2"]
    assert names.find("gone.py::Session.login") == []
