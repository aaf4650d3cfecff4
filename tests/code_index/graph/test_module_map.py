from scrubjay.code_index.graph.module_map import Module, ModuleMap, module_map
from scrubjay.code_index.graph.resolver import resolve
from tests.code_index.graph.cases import facts_of


def test_a_map_tells_what_each_module_is_for_and_what_it_needs():
    facts = facts_of(
        {
            "package.json": '{"name": "shop"}',
            "src/index.ts": "import { open } from './store/file';\nimport x from 'left-pad';\n"
            "export function run() { open(); }\n",
            "src/store/file.ts": "export function open() {}\nexport class Store {}\nfunction hidden() {}\n",
        }
    )
    assert module_map("shop", facts, resolve(facts, facts)) == ModuleMap(
        name="shop",
        project_type="node",
        modules=[
            Module("shop", "shop", "src", "Defines run", ["run"], ["shop/store"], 1, 3),
            Module("shop/store", "store", "src/store", "Database and storage", ["Store", "open"], [], 3, 3),
        ],
        entry_points=["src/index.ts"],
        external_deps=["left-pad"],
    )


def test_what_a_module_says_of_itself_goes_before_what_its_name_says():
    facts = facts_of({"src/lib.rs": "//! Keeps parcels. And more.\npub mod db;\n", "src/db.rs": "pub fn open() {}\n"})
    drawn = module_map("post", facts, resolve(facts, facts))
    assert drawn.text() == "  post - Keeps parcels -> post/db\n  post/db - Database and storage"
    assert drawn.entry_points == ["src/lib.rs"]
    assert drawn.project_type == "rust"


def test_what_most_of_a_module_is_about_speaks_for_it_by_its_name():
    source = 'T = 1\n"""Only a number."""\n\n\nclass Parcel:\n    """Goes from one to another."""\n\n    weight = 3\n'
    facts = facts_of({"post/parcel.py": source})
    (module,) = module_map("post", facts, resolve(facts, facts)).modules
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
    drawn = module_map("app", facts, resolve(facts, facts), left_out=lambda path: path.endswith("_test.go"))
    assert [(each.id, each.exports, each.depends_on) for each in drawn.modules] == [
        ("app", [], ["app/store"]),
        ("app/store", ["Open", "Shut"], []),
    ]
    assert drawn.entry_points == ["main.go"]


def test_a_repository_without_code_has_an_empty_map():
    assert module_map("none", {}, {}) == ModuleMap("none", "unknown", [], [], [])
