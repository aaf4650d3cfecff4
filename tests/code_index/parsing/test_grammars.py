"""The grammars produce the nodes that the readers were written for; `pyproject.toml` allows ranges of versions."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.languages import load_parser
from tests.code_index.parsing.grammar_nodes import SAMPLES, fields_of, kinds_of, recorded, tree_of

PROJECT = Path(__file__).parents[3]
LOCKED = dict(
    re.findall(r"^(tree-sitter[\w-]*)==(\S+)", (PROJECT / "requirements" / "run.txt").read_text("utf-8"), re.M)
)
DECLARED = [
    found
    for text in tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    if (found := Requirement(text)).name.startswith("tree-sitter")
]


@pytest.mark.parametrize("language", SAMPLES, ids=lambda language: language.value)
def test_a_grammar_parses_its_sample_as_recorded(language: Language) -> None:
    assert not load_parser(language).parse(SAMPLES[language].encode()).root_node.has_error
    assert tree_of(language) == recorded()[language]["tree"], "see grammar_nodes.py"


@pytest.mark.parametrize("language", SAMPLES, ids=lambda language: language.value)
def test_a_grammar_has_every_node_and_field_that_readers_use(language: Language) -> None:
    known = recorded()[language]
    assert {*known["kinds"]} - kinds_of(language) == set()
    assert {*known["fields"]} - fields_of(language) == set()


@pytest.mark.parametrize("declared", DECLARED, ids=lambda declared: declared.name)
def test_a_grammar_is_a_range_that_holds_the_locked_version(declared: Requirement) -> None:
    assert {found.operator for found in declared.specifier} == {">=", "<"}
    assert declared.specifier.contains(LOCKED[declared.name])


def test_every_locked_grammar_is_declared() -> None:
    assert {found.name for found in DECLARED} == {*LOCKED}
