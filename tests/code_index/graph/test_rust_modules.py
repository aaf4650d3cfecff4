"""The crates and modules of Rust."""

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


def test_without_a_manifest_a_file_is_a_module_of_the_crate_that_it_is_beside():
    found = modules({"bells/src/lib.rs": "", "bells/src/a/mod.rs": "", "bells/src/a/b.rs": "", "other/src/lib.rs": ""})
    assert found.of("bells/src/a/b.rs") == RustModule("bells/src/lib.rs", ("a", "b"))
    assert found.scope(RustModule("bells/src/lib.rs", ("a",))) == RustScope("bells/src/a/mod.rs")
    assert found.crate("bells", "other/src/lib.rs") == RustModule("bells/src/lib.rs")
    assert found.crate("serde", "other/src/lib.rs") is None
    assert found.crate("std", "other/src/lib.rs") is None


def test_a_module_may_be_within_a_file_or_in_one_of_another_name():
    lib = 'mod outer {\n    pub mod inner {}\n}\n#[cfg(unix)]\n#[path = "zone/unix.rs"]\nmod system;\n'
    found = modules({"src/lib.rs": lib, "src/zone/unix.rs": "", "src/system.rs": ""})
    assert found.scope(RustModule("src/lib.rs", ("outer", "inner"))) == RustScope("src/lib.rs", 1)
    assert found.of("src/lib.rs", 1) == RustModule("src/lib.rs", ("outer", "inner"))
    assert found.scope(RustModule("src/lib.rs", ("system",))) == RustScope("src/zone/unix.rs")
    assert found.of("src/zone/unix.rs") == RustModule("src/lib.rs", ("system",))
    assert found.scope(RustModule("src/lib.rs", ("outer", "gone"))) is None


def test_binaries_examples_and_tests_are_crates_beside_the_library_that_they_use_by_name():
    found = modules(
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
    assert found.of("src/ring.rs") == library.child("ring")
    assert found.of("src/options.rs") == RustModule("src/main.rs", ("options",))
    assert found.of("examples/demo/part.rs") == RustModule("examples/demo/main.rs", ("part",))
    assert found.of("tests/common/mod.rs") == RustModule("tests/ringing.rs", ("common",))
    for root in ("src/main.rs", "src/bin/worker.rs", "examples/demo/main.rs", "tests/ringing.rs", "programs/odd.rs"):
        assert found.of(root) == RustModule(root)
        assert found.crate("bell_tower", root) == library
        assert found.crate("other", root) is None


def test_a_crate_is_known_by_what_its_user_or_itself_calls_it():
    found = modules(
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
    assert [crate and crate.crate for name in names for crate in [found.crate(name, "app/src/main.rs")]] == [
        "log/src/lib.rs",
        "shapes/src/lib.rs",
        "engine/source/start.rs",
        "plain/src/lib.rs",
        None,
        None,
        None,
        None,
    ]


def test_an_import_leads_to_the_file_of_the_last_module_in_it():
    found = modules({"src/lib.rs": "mod a;\nmod tests {\n    use super::a;\n}\n", "src/a.rs": "", "src/a/b.rs": ""})
    assert found.imported("src/lib.rs", -1, ["crate", "a", "b", "thing"]) == "src/a/b.rs"
    assert found.imported("src/lib.rs", 1, ["super", "a"]) == "src/a.rs"
    assert found.imported("src/a/b.rs", -1, ["super", "super", "name"]) == "src/lib.rs"
    assert found.imported("src/a.rs", -1, ["std", "fmt"]) is None


def test_a_module_that_is_declared_in_a_macro_is_one():
    found = modules(
        {"src/lib.rs": "cfg_fs! {\n    pub mod fs;\n}\n", "src/fs/mod.rs": "mod metadata;\n", "src/fs/metadata.rs": ""}
    )
    assert found.scope(RustModule("src/lib.rs", ("fs", "metadata"))) == RustScope("src/fs/metadata.rs")
