"""Words of the former dialect do not come back to the code."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
FOLDERS = ("src/scrubjay", "native", "deploy", "integrations")
SUFFIXES = frozenset({".py", ".sql", ".js", ".c", ".h", ".html", ".toml", ".sh"})
DIALECT = re.compile(
    r"\b(told|tells?|telling|heard|hears?|hearing|mend(?:s|ed|ing)?|anew|whoever|meanwhile|heed(?:s|ed|ing)?|doors?"
    r"|doorkeepers?|witness(?:es)?|of which|so many|so long|so much|somebody|nobody|handed|settled?|settling|apart"
    r"|wish(?:es)?|guests?|inquest|lately|hurry|strangers?)\b",
    re.IGNORECASE,
)
# Words with a legitimate meaning, by the files that may use them.
ALLOWED = {
    # WebAssembly's term for the code that runs inside the host
    "guest": {"features/sandbox/guest.py", "features/sandbox/runner.py", "features/sandbox/wasm_module.py"},
    # a key of a stored format: the callbacks of a module, the speakers of an audience
    "handed": {"code_index/graph/names_flow.py"},
    "heard": {
        "search_index/row_columns.py",
        "features/facts/stated_facts.py",  # words of the sentences that are read
        "search_index/terms.py",  # irregular verbs of the stemmer
    },
    "hear": {"search_index/terms.py"},
    # words of the questions and statements that are parsed
    "nobody": {
        "features/facts/llm_facts.py",
        "features/knowledge/sentence_parser.py",
        "features/memory/ranking/selection.py",
    },
    "settled": {"features/facts/stated_facts.py", "features/summaries/cues.py"},
    "somebody": {"code_index/questions/parser.py", "features/knowledge/sentence_parser.py"},
    "tell": {
        "code_index/bundle/build_log.py",  # the method of Python's files, here and in the next three
        "code_index/graph/python.py",
        "features/transfer/importer.py",
        "search_index/segment_file.py",
        "features/workspace/screen/service.py",  # AppleScript's keyword
        "code_index/questions/parser.py",  # words of the questions that are parsed
        "features/answers/service.py",
        "features/knowledge/question_relations.py",
        "features/memory/ranking/question.py",
        "features/summaries/cues.py",
        "search_index/terms.py",
    },
    "told": {"features/memory/ranking/question.py", "search_index/terms.py"},
}


def find_dialect(text: str, path: str) -> list[str]:
    """Return the words of the dialect in a file, without those that it may use."""
    words = [found.lower() for found in DIALECT.findall(text)]
    return [word for word in words if path not in ALLOWED.get(word.removesuffix("s"), ())]


def files() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from sorted(path for path in (PROJECT / folder).rglob("*") if path.suffix in SUFFIXES)


def test_no_file_has_words_of_the_dialect() -> None:
    found: dict[str, list[str]] = {}
    for path in files():
        relative = path.relative_to(PROJECT).as_posix().removeprefix("src/scrubjay/")
        if words := find_dialect(path.read_text("utf-8", "replace"), relative):
            found[relative] = words
    assert found == {}, "use plain English; see CONTRIBUTING.md"


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("What was Told is kept anew.", "core/ids.py", ["told", "anew"]),
        ("the guest's memory", "features/sandbox/guest.py", []),
        ("the guest's memory", "core/ids.py", ["guest"]),
        ("told", "features/sandbox/guest.py", ["told"]),
        ("Return the stored rows.", "core/ids.py", []),
    ],
)
def test_words_are_found_except_where_they_are_allowed(text: str, path: str, words: list[str]) -> None:
    assert find_dialect(text, path) == words
