"""The map of the modules of a repository."""

from scrubjay.code_index.graph.module_map import Module, ModuleMap, build_module_map
from scrubjay.code_index.graph.resolver import resolve
from tests.code_index.graph.cases import facts_of


def test_a_map_has_the_purpose_exports_and_dependencies_of_each_module():
    facts = facts_of(
        {
            "package.json": '{"name": "shop"}',
            "src/index.ts": "import { open } from './store/file';\nimport x from 'left-pad';\n"
            "export function run() { open(); }\n",
            "src/store/file.ts": "export function open() {}\nexport class Store {}\nfunction hidden() {}\n",
        }
    )
    assert build_module_map("shop", facts, resolve(facts, facts)) == ModuleMap(
        name="shop",
        project_type="node",
        modules=[
            Module("shop", "shop", "src", "Defines run", ["run"], ["shop/store"], 1, 3),
            Module("shop/store", "store", "src/store", "Database and storage", ["Store", "open"], [], 3, 3),
        ],
        entry_points=["src/index.ts"],
        external_deps=["left-pad"],
    )


def test_the_documentation_of_a_module_takes_precedence_over_its_name():
    facts = facts_of({"src/lib.rs": "//! Keeps parcels. And more.\npub mod db;\n", "src/db.rs": "pub fn open() {}\n"})
    module_map = build_module_map("post", facts, resolve(facts, facts))
    assert module_map.text() == "  post - Keeps parcels -> post/db\n  post/db - Database and storage"
    assert module_map.entry_points == ["src/lib.rs"]
    assert module_map.project_type == "rust"


def test_the_largest_definition_describes_an_undocumented_module():
    source = 'T = 1\n"""Only a number."""\n\n\nclass Parcel:\n    """Goes from one to another."""\n\n    weight = 3\n'
    facts = facts_of({"post/parcel.py": source})
    (module,) = build_module_map("post", facts, resolve(facts, facts)).modules
    assert module.purpose == "Parcel: Goes from one to another"


def test_a_folder_of_go_is_one_module_and_tests_can_be_left_out():
    facts = facts_of(
        {
            "main.go": 'package main\nimport "example.com/app/store"\nfunc main() { store.Open() }\n',
            "store/a.go": "package store\nfunc Open() {}\n",
            "store/b.go": "package store\nfunc Shut() {}\n",
            "store/a_test.go": "package store\nfunc TestOpen() {}\n",
        }
    )
    module_map = build_module_map(
        "app", facts, resolve(facts, facts), is_excluded=lambda path: path.endswith("_test.go")
    )
    assert [(each.id, each.exports, each.depends_on) for each in module_map.modules] == [
        ("app", [], ["app/store"]),
        ("app/store", ["Open", "Shut"], []),
    ]
    assert module_map.entry_points == ["main.go"]


def test_a_repository_without_code_has_an_empty_map():
    assert build_module_map("none", {}, {}) == ModuleMap("none", "unknown", [], [], [])
