"""Definitions by their names: found among those that are the same word, and the likeliest first."""

import random

from scrubjay.code_index.discovery.file_traits import traits_by_path
from scrubjay.code_index.facts.digest import digest
from scrubjay.code_index.models import Language
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.code_index.search.symbol_lookup import Names
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
    corpus.put(
        (
            IndexedFile(path, Content(str(hash(text)), Language.PYTHON), len(text), traits_by_path(path), False, 1),
            digest(text.encode(), Language.PYTHON),
        )
        for path, text in files.items()
    )
    return corpus


def at(corpus: Corpus, rows: list[int]) -> list[str]:
    return [f"{corpus.files[int(corpus.symbols.files[row])].path}:{corpus.symbols.lines[row]}" for row in rows]


def test_a_name_is_found_as_it_is_written_among_those_that_are_the_same_word() -> None:
    names = [name for name in SPELLINGS for _ in range(2)]
    random.Random(7).shuffle(names)
    corpus = put(Corpus(), {f"m{place}.py": f"def {name}():\n    pass\n" for place, name in enumerate(names)})
    corpus = put(corpus, {"m0.py": "def other():\n    pass\n"})  # what it was before is there no more
    for name in SPELLINGS:
        expected = [f"m{place}.py:1" for place, own in enumerate(names) if own == name and place]
        assert sorted(at(corpus, Names(corpus).find(name))) == sorted(expected)


def test_upper_and_lower_case_count_only_if_that_finds_any() -> None:
    corpus = put(Corpus(), {"a.py": "class RootModel:\n    pass\n", "b.py": "def rootmodel():\n    pass\n"})
    names = Names(corpus)
    assert at(corpus, names.find("rootmodel")) == ["b.py:1"]
    assert at(corpus, names.find("ROOTMODEL")) == ["a.py:1", "b.py:1"]
    assert names.find("ROOTMODEL", exactly=True) == []


def test_of_definitions_of_one_name_the_likeliest_comes_first() -> None:
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
    assert at(corpus, Names(corpus).find("run")) == [
        "d.py:1", "f.py:1", "f.py:304", "c.py:1", "a.py:1", "b.py:1", "long.py:2", "e.py:1", "tests/test_run.py:1",
    ]  # fmt: skip


ROUTER = """package gin

type Context struct{ path string }

func (c *Context) Query(name string) string { return c.path + name }

func Query(name string) string { return name }
"""


def test_a_method_of_go_has_the_name_of_its_type_before_its_own() -> None:
    corpus = Corpus()
    text = ROUTER.encode()
    file = IndexedFile(
        "web/context.go", Content("1", Language.GO), len(text), traits_by_path("web/context.go"), False, 1
    )
    corpus.put([(file, digest(text, Language.GO))])
    for made in (corpus, corpus.copied(), Corpus.of(corpus.arrays())):
        names = Names(made)
        for name in ("Context.Query", "(*Context).Query", "context.go::Context.Query", "web.Context.Query"):
            assert at(made, names.find(name)) == ["web/context.go:5"]
        assert [names.qualified(row) for row in names.find("Query")] == ["Query", "Context.Query"]
        assert at(made, names.find("web.Query")) == ["web/context.go:7"]


OPENED = """pin_project! {
    pub struct Sleep { entry: Timer }
}
impl Sleep { fn reset(&self) {} }
cfg_rt! { pub fn spawn() {} }
"""


def test_what_is_read_out_of_a_macro_comes_behind_what_stands_in_the_same_file_as_it_is() -> None:
    corpus = Corpus()
    others = {"src/time.rs": OPENED, "src/other.rs": "pub struct Sleep;\nmod spawn {}\n"}
    for path, text in others.items():
        file = IndexedFile(path, Content(path, Language.RUST), len(text), traits_by_path(path), False, 1)
        corpus.put([(file, digest(text.encode(), Language.RUST))])
    for made in (corpus, corpus.copied(), Corpus.of(corpus.arrays())):
        names = Names(made)
        assert at(made, names.find("Sleep")) == ["src/other.rs:1", "src/time.rs:4", "src/time.rs:2"]
        assert at(made, names.find("spawn")) == ["src/time.rs:5", "src/other.rs:2"]


def test_a_file_may_be_named_whether_or_not_it_is_in_a_folder() -> None:
    twice = "class Session:\n    def login(self): ...\n"
    corpus = put(Corpus(), {"auth.py": twice, "src/auth.py": twice, "web.py": twice})
    names = Names(corpus)
    assert at(corpus, names.find("web.py::Session.login")) == ["web.py:2"]
    assert at(corpus, names.find("auth.py::Session.login")) == ["auth.py:2", "src/auth.py:2"]
    assert at(corpus, names.find("src/auth.py::Session.login")) == ["src/auth.py:2"]
    assert at(corpus, names.find("web::Session::login")) == ["web.py:2"]
    assert names.find("gone.py::Session.login") == []
