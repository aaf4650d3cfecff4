"""How Rust crates and modules are found."""

from scrubjay.code_index.graph.manifests import Manifests
from scrubjay.code_index.graph.rust_modules import RustModule, RustModules, RustScope
from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts


def modules(sources: dict[str, str]) -> RustModules:
    facts = {
        path: read_facts(text.encode(), Language.RUST if path.endswith(".rs") else Language.TEXT)
        for path, text in sources.items()
    }
    return RustModules(facts, Manifests(facts))


def test_without_a_manifest_a_file_belongs_to_the_crate_next_to_it():
    project = modules(
        {"bells/src/lib.rs": "", "bells/src/a/mod.rs": "", "bells/src/a/b.rs": "", "other/src/lib.rs": ""}
    )
    assert project.of("bells/src/a/b.rs") == RustModule("bells/src/lib.rs", ("a", "b"))
    assert project.scope(RustModule("bells/src/lib.rs", ("a",))) == RustScope("bells/src/a/mod.rs")
    assert project.crate("bells", "other/src/lib.rs") == RustModule("bells/src/lib.rs")
    assert project.crate("serde", "other/src/lib.rs") is None
    assert project.crate("std", "other/src/lib.rs") is None


def test_a_module_may_be_inline_or_in_a_file_of_another_name():
    lib = 'mod outer {\n    pub mod inner {}\n}\n#[cfg(unix)]\n#[path = "zone/unix.rs"]\nmod system;\n'
    project = modules({"src/lib.rs": lib, "src/zone/unix.rs": "", "src/system.rs": ""})
    assert project.scope(RustModule("src/lib.rs", ("outer", "inner"))) == RustScope("src/lib.rs", 1)
    assert project.of("src/lib.rs", 1) == RustModule("src/lib.rs", ("outer", "inner"))
    assert project.scope(RustModule("src/lib.rs", ("system",))) == RustScope("src/zone/unix.rs")
    assert project.of("src/zone/unix.rs") == RustModule("src/lib.rs", ("system",))
    assert project.scope(RustModule("src/lib.rs", ("outer", "gone"))) is None


def test_binaries_examples_and_tests_are_crates_that_use_the_library_by_name():
    project = modules(
        {
            "Cargo.toml": '[package]\nname = "bell-tower"\n\n[[bin]]\nname = "odd"\npath = "programs/odd.rs"\n',
            "src/lib.rs": "mod ring;\n",
            "src/ring.rs": "",
            "src/main.rs": "mod options;\n",
            "src/options.rs": "",
            "src/bin/worker.rs": "",
            "examples/demo/main.rs": "mod part;\n",
            "examples/demo/part.rs": "",
            "tests/ringing.rs": "mod common;\n",
            "tests/common/mod.rs": "",
            "programs/odd.rs": "",
        }
    )
    library = RustModule("src/lib.rs")
    assert project.of("src/ring.rs") == library.child("ring")
    assert project.of("src/options.rs") == RustModule("src/main.rs", ("options",))
    assert project.of("examples/demo/part.rs") == RustModule("examples/demo/main.rs", ("part",))
    assert project.of("tests/common/mod.rs") == RustModule("tests/ringing.rs", ("common",))
    for root in ("src/main.rs", "src/bin/worker.rs", "examples/demo/main.rs", "tests/ringing.rs", "programs/odd.rs"):
        assert project.of(root) == RustModule(root)
        assert project.crate("bell_tower", root) == library
        assert project.crate("other", root) is None


def test_a_crate_is_found_by_the_name_that_its_user_or_its_own_manifest_gives_it():
    project = modules(
        {
            "Cargo.toml": '[workspace]\nmembers = ["*"]\n[workspace.dependencies]\ngeo = { package = "shapes" }\n',
            "app/Cargo.toml": (
                '[package]\nname = "app"\n[dependencies]\nlog = { package = "log-v1", path = "../log" }\n'
                'geo.workspace = true\nengine-core = "1"\n[target.\'cfg(unix)\'.dependencies]\nplain-one = "1"\n'
            ),
            "app/src/main.rs": "",
            "log/Cargo.toml": '[package]\nname = "log-v1"\n',
            "log/src/lib.rs": "",
            "shapes/Cargo.toml": '[package]\nname = "shapes"\n',
            "shapes/src/lib.rs": "",
            "engine/Cargo.toml": '[package]\nname = "engine-core"\n[lib]\nname = "engine"\npath = "source/start.rs"\n',
            "engine/source/start.rs": "",
            "plain/Cargo.toml": '[package]\nname = "plain-one"\n',
            "plain/src/lib.rs": "",
        }
    )
    names = ("log", "geo", "engine", "plain_one", "log_v1", "shapes", "engine_core", "serde")
    assert [crate and crate.crate for name in names for crate in [project.crate(name, "app/src/main.rs")]] == [
        "log/src/lib.rs",
        "shapes/src/lib.rs",
        "engine/source/start.rs",
        "plain/src/lib.rs",
        None,
        None,
        None,
        None,
    ]


def test_an_import_resolves_to_the_file_of_its_last_module():
    project = modules({"src/lib.rs": "mod a;\nmod tests {\n    use super::a;\n}\n", "src/a.rs": "", "src/a/b.rs": ""})
    assert project.imported("src/lib.rs", -1, ["crate", "a", "b", "thing"]) == "src/a/b.rs"
    assert project.imported("src/lib.rs", 1, ["super", "a"]) == "src/a.rs"
    assert project.imported("src/a/b.rs", -1, ["super", "super", "name"]) == "src/lib.rs"
    assert project.imported("src/a.rs", -1, ["std", "fmt"]) is None


def test_a_module_declared_in_a_macro_is_found():
    project = modules(
        {"src/lib.rs": "cfg_fs! {\n    pub mod fs;\n}\n", "src/fs/mod.rs": "mod metadata;\n", "src/fs/metadata.rs": ""}
    )
    assert project.scope(RustModule("src/lib.rs", ("fs", "metadata"))) == RustScope("src/fs/metadata.rs")
