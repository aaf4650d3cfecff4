"""How imports of scripts are resolved to files."""

import json
from typing import Any

import pytest

from scrubjay.code_index.graph.manifests import Manifests
from scrubjay.code_index.graph.script_modules import ScriptModules
from scrubjay.code_index.models import FileFacts, Language
from scrubjay.code_index.parsing.reader import read_facts


def scripts(*paths: str, **manifests: Any) -> ScriptModules:
    """Return the modules of empty scripts and of manifests, as data or text, named by path with `__` for `/`."""
    facts = {path: FileFacts(Language.TYPESCRIPT, 1) for path in paths}
    for name, content in manifests.items():
        text = content if isinstance(content, str) else json.dumps(content)
        facts[name.replace("__", "/") + ".json"] = read_facts(text.encode(), Language.JSON)
    return ScriptModules(facts, Manifests(facts))


@pytest.mark.parametrize(
    ("module", "path"),
    [
        ("./b", "src/b.ts"),
        ("./b.js", "src/b.ts"),
        ("../top", "top.tsx"),
        ("./folder", "src/folder/index.ts"),
        (".", "src/index.ts"),
        ("@/folder/c", "src/folder/c.ts"),
        ("./nothing", None),
        ("library", None),
        ("node:fs", None),
    ],
)
def test_a_script_is_imported_by_path_with_any_suffix(module: str, path: str | None):
    files = ("src/a.ts", "src/b.ts", "top.tsx", "src/index.ts", "src/folder/index.ts", "src/folder/c.ts")
    assert scripts(*files).script("src/a.ts", module) == path


TSCONFIG = """{
  // of the editor as well
  "compilerOptions": {
    "baseUrl": "./code",
    "paths": { "@app/*": ["app/*"], "@app/odd/*": ["other/*"], "shared": ["shared/main.ts",], },
  },
}"""


@pytest.mark.parametrize(
    ("module", "path"),
    [
        ("@app/orders", "code/app/orders.ts"),
        ("@app/odd/orders", "code/other/orders.ts"),
        ("shared", "code/shared/main.ts"),
        ("shared/parts", "code/shared/parts.ts"),
        ("@app/nothing", None),
    ],
)
def test_paths_and_base_url_come_from_the_nearest_configuration(module: str, path: str | None):
    files = ("code/app/orders.ts", "code/other/orders.ts", "code/shared/main.ts", "code/shared/parts.ts")
    assert scripts(*files, tsconfig=TSCONFIG).script("code/app/start.ts", module) == path


def test_a_configuration_extends_others_by_path_or_package_and_its_own_paths_win():
    own = {"extends": "../../configs/base"}
    base = {"extends": "@company/config/strict.json", "compilerOptions": {"paths": {"~lib/*": ["../lib/*"]}}}
    strict = {"compilerOptions": {"baseUrl": "../../root", "paths": {"~lib/*": ["nowhere/*"]}}}
    modules = scripts(
        "lib/bell.ts",
        "root/rooted.ts",
        packages__web__tsconfig=own,
        configs__base=base,
        packages__config__strict=strict,
        packages__config__package={"name": "@company/config"},
    )
    # An inherited base URL is the folder in which paths are looked up.
    assert modules.script("packages/web/main.ts", "~lib/bell") == "lib/bell.ts"
    assert modules.script("packages/web/main.ts", "rooted") == "root/rooted.ts"
    assert modules.script("elsewhere/main.ts", "rooted") is None


def test_configurations_that_extend_each_other_do_not_recurse():
    modules = scripts("a.ts", tsconfig={"extends": "./other.json"}, other={"extends": "./tsconfig.json"})
    assert modules.script("a.ts", "b") is None


def test_a_configuration_may_only_reference_others():
    modules = scripts(
        "client/screens/bell.ts",
        tsconfig={"files": [], "references": [{"path": "./tsconfig.app.json"}]},
        **{"tsconfig.app": {"compilerOptions": {"paths": {"ui/*": ["./client/screens/*"]}}}},
    )
    assert modules.script("src/main.ts", "ui/bell") == "client/screens/bell.ts"


CORE = {
    "name": "@shop/core",
    "exports": {
        ".": {"types": "./dist/index.d.ts", "default": "./dist/index.js"},
        "./pricing": {"browser": "./src/browser.ts", "default": "./src/rules.ts"},
        "./plugins/*": "./src/plugins/*.ts",
    },
}


@pytest.mark.parametrize(
    ("module", "path"),
    [
        ("@shop/core", "packages/core/src/index.ts"),
        ("@shop/core/pricing", "packages/core/src/rules.ts"),
        ("@shop/core/plugins/tax", "packages/core/src/plugins/tax.ts"),
        ("@shop/other", None),
    ],
)
def test_a_package_entry_is_the_file_its_manifest_names_or_the_source_of_it(module: str, path: str | None):
    files = ("index.ts", "rules.ts", "browser.ts", "plugins/tax.ts", "pricing.ts")
    modules = scripts(*(f"packages/core/src/{each}" for each in files), packages__core__package=CORE)
    assert modules.script("packages/web/main.ts", module) == path


def test_the_main_file_of_a_package_is_found_in_its_source():
    modules = scripts(
        "libs/dates/src/calendar.ts", libs__dates__package={"name": "dates", "main": "./dist/calendar.js"}
    )
    assert modules.script("apps/diary.ts", "dates") == "libs/dates/src/calendar.ts"


def test_a_package_can_name_its_own_files_in_imports():
    imports = {"#env": {"browser": "./src/web.ts", "node": "./src/node.ts"}, "#inner/*": "./src/inner/*.ts"}
    files = ("src/web.ts", "src/node.ts", "src/inner/paths.ts")
    modules = scripts(*files, package={"name": "tool", "imports": imports})
    assert modules.script("src/main.ts", "#env") == "src/node.ts"
    assert modules.script("src/main.ts", "#inner/paths") == "src/inner/paths.ts"


def test_a_package_name_used_twice_is_not_resolved():
    packages = {"a__package": {"name": "twin"}, "b__package": {"name": "twin"}}
    assert scripts("a/index.ts", "b/index.ts", **packages).script("main.ts", "twin") is None


def test_an_imported_data_file_is_resolved_as_such():
    modules = scripts("main.ts", data={"name": "bells", "exports": ["a"]})
    assert modules.script("main.ts", "./data.json") == "data.json"
