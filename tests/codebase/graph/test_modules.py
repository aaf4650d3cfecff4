import pytest

from recollect.codebase.graph.modules import Modules
from recollect.domain.code import FileFacts, Import, Language


def _modules(*paths: str, language: Language = Language.TYPESCRIPT) -> Modules:
    return Modules({path: FileFacts(language, 1) for path in paths})


@pytest.mark.parametrize(
    ("module", "found"),
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
def test_a_script_imports_by_path_with_any_ending(module: str, found: str | None):
    files = ("src/a.ts", "src/b.ts", "top.tsx", "src/index.ts", "src/folder/index.ts", "src/folder/c.ts")
    assert _modules(*files).script("src/a.ts", module) == found


def test_a_go_package_is_found_by_what_the_imports_share():
    files = {
        "main.go": FileFacts(Language.GO, 1, imports=[Import("example.com/app/http"), Import("net/http")]),
        "http/serve.go": FileFacts(Language.GO, 1),
    }
    modules = Modules(files)
    assert modules.go_package("example.com/app/http") == "http"
    assert modules.go_package("example.com/app") == ""
    assert modules.go_package("net/http") is None


def test_a_rust_file_is_a_module_of_its_crate():
    modules = _modules("core/src/lib.rs", "core/src/a/mod.rs", "core/src/a/b.rs", language=Language.RUST)
    assert modules.rust_module("core/src/a/b.rs") == ("core/src", ("a", "b"))
    assert modules.rust_file(("core/src", ("a",))) == "core/src/a/mod.rs"
    assert modules.rust_crate("core", "other/src/lib.rs") == ("core/src", ())
    assert modules.rust_crate("serde", "other/src/lib.rs") is None


def test_a_header_is_the_nearest_whose_path_ends_so():
    modules = _modules("a/main.c", "a/util.h", "b/util.h", "inc/sys/deep.h", language=Language.C)
    assert modules.by_suffix("a/main.c", "util.h") == "a/util.h"
    assert modules.by_suffix("a/main.c", "sys/deep.h") == "inc/sys/deep.h"
    assert modules.by_suffix("a/main.c", "stdio.h") is None
