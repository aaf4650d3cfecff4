"""What is kept of manifests: no more than decides which file an import means."""

import json
from typing import Any

import pytest

from scrubjay.code_index.graph.manifest_facts import LONGEST
from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts


def kept(text: str, language: Language) -> Any:
    flow = read_facts(text.encode(), language).flow
    return json.loads(flow) if flow else None


def test_a_new_version_of_a_dependency_changes_nothing():
    package = '{"name": "bells", "version": "%s", "dependencies": {"rope": "%s"}, "main": "a.js"}'
    assert kept(package % ("1.0", "2"), Language.JSON) == kept(package % ("1.1", "3"), Language.JSON)
    assert kept(package % ("1.0", "2"), Language.JSON) == {"package": {"name": "bells", "main": "a.js"}}
    cargo = '[package]\nname = "bells"\nversion = "%s"\n[dependencies]\nrope = "%s"\n'
    assert kept(cargo % ("1.0", "2"), Language.TEXT) == kept(cargo % ("1.1", "3"), Language.TEXT)
    module = "module x.org/bells\n\nrequire x.org/rope v1.%s\n"
    assert kept(module % 1, Language.TEXT) == kept(module % 2, Language.TEXT)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ('{"bells": 3}', Language.JSON),
        ('["name"]', Language.JSON),
        ("{", Language.JSON),
        ("", Language.JSON),
        ("", Language.TEXT),
        ("How to use the module of bells.\n", Language.TEXT),
        ("[package]\nname = broken\n", Language.TEXT),
        ("[tool]\nname = 'bells'\n", Language.TEXT),
        ('{"name": "' + "a" * LONGEST + '"}', Language.JSON),
    ],
)
def test_what_is_no_manifest_says_nothing(text: str, language: Language):
    assert kept(text, language) is None


def test_values_of_another_kind_than_they_should_be_are_no_harm():
    said = kept(
        '{"extends": 3, "references": "x", "compilerOptions": ["a"], "name": 1, "exports": null}', Language.JSON
    )
    assert said == {"typescript": {"extends": [], "references": []}, "package": {"name": None, "exports": None}}
    strange = '[package]\nname = 3\nlib = 4\n[workspace]\ndependencies = "x"\n[[bin]]\npath = 1\n'
    assert kept(strange, Language.TEXT) == {
        "cargo": {"name": "", "library": "", "path": "", "roots": [], "needs": {}, "shared": {}}
    }
