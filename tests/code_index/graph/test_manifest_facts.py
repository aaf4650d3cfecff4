"""The facts of a manifest contain only what decides which file an import refers to."""

import json
from typing import Any

import pytest

from scrubjay.code_index.graph.manifest_facts import MAX_BYTES
from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts


def stored_flow(text: str, language: Language) -> Any:
    flow = read_facts(text.encode(), language).flow
    return json.loads(flow) if flow else None


def test_a_new_version_of_a_dependency_changes_no_facts():
    package = '{"name": "bells", "version": "%s", "dependencies": {"rope": "%s"}, "main": "a.js"}'
    assert stored_flow(package % ("1.0", "2"), Language.JSON) == stored_flow(package % ("1.1", "3"), Language.JSON)
    assert stored_flow(package % ("1.0", "2"), Language.JSON) == {"package": {"name": "bells", "main": "a.js"}}
    cargo = '[package]\nname = "bells"\nversion = "%s"\n[dependencies]\nrope = "%s"\n'
    assert stored_flow(cargo % ("1.0", "2"), Language.TEXT) == stored_flow(cargo % ("1.1", "3"), Language.TEXT)
    module = "module x.org/bells\n\nrequire x.org/rope v1.%s\n"
    assert stored_flow(module % 1, Language.TEXT) == stored_flow(module % 2, Language.TEXT)


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
        ('{"name": "' + "a" * MAX_BYTES + '"}', Language.JSON),
    ],
)
def test_a_file_that_is_not_a_manifest_has_no_facts(text: str, language: Language):
    assert stored_flow(text, language) is None


def test_values_of_unexpected_types_are_ignored():
    found = stored_flow(
        '{"extends": 3, "references": "x", "compilerOptions": ["a"], "name": 1, "exports": null}', Language.JSON
    )
    assert found == {"typescript": {"extends": [], "references": []}, "package": {"name": None, "exports": None}}
    malformed = '[package]\nname = 3\nlib = 4\n[workspace]\ndependencies = "x"\n[[bin]]\npath = 1\n'
    assert stored_flow(malformed, Language.TEXT) == {
        "cargo": {"name": "", "library": "", "path": "", "roots": [], "needs": {}, "shared": {}}
    }
