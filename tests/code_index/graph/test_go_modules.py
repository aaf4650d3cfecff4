"""How imports of Go are resolved to folders."""

from scrubjay.code_index.graph.go_modules import GoModules
from scrubjay.code_index.graph.manifests import Manifests
from scrubjay.code_index.models import FileFacts, Import, Language
from scrubjay.code_index.parsing.reader import read_facts


def modules(*paths: str, **manifests: str) -> GoModules:
    """Return the modules of empty files and of manifests, which are named by path with `__` for `/`."""
    facts = {path: FileFacts(Language.GO, 1) for path in paths}
    for name, text in manifests.items():
        facts[name.replace("__", "/").replace("go_", "go.")] = read_facts(text.encode(), Language.TEXT)
    return GoModules(facts, Manifests(facts))


def test_a_package_is_found_by_its_module_path():
    project = modules(
        "root.go", "http/serve.go", go_mod="// bells\nmodule example.com/app/v2 // the second\n\ngo 1.19\n"
    )
    assert project.package("example.com/app/v2", "http/serve.go") == ""
    assert project.package("example.com/app/v2/http", "root.go") == "http"
    assert project.package("example.com/app/http", "root.go") is None
    assert project.package("example.com/app/v2http", "root.go") is None
    assert project.package("net/http", "root.go") is None


def test_the_module_with_the_longest_matching_path_has_the_package():
    project = modules(
        "a.go", "tools/gen/gen.go", "gen/gen.go", go_mod="module x.org/a\n", tools__go_mod="module x.org/a/tools\n"
    )
    assert project.package("x.org/a/tools/gen", "a.go") == "tools/gen"
    assert project.package("x.org/a/gen", "tools/gen/gen.go") == "gen"


def test_a_replacement_by_a_folder_applies_only_to_the_module_that_declares_it():
    replaced = """module x.org/a

require x.org/lib v1.2.3

replace (
	x.org/lib v1.2.3 => ../forked
	x.org/far => x.org/other v1.0.0
)
"""
    project = modules(
        "a/a.go", "forked/bell/bell.go", "b/b.go", "far/far.go", a__go_mod=replaced, b__go_mod='module "x.org/b"\n'
    )
    assert project.package("x.org/lib/bell", "a/a.go") == "forked/bell"
    assert project.package("x.org/lib/bell", "b/b.go") is None
    assert project.package("x.org/far", "a/a.go") is None
    assert project.package("x.org/b", "a/a.go") == "b"


def test_a_replacement_in_a_workspace_applies_to_all_its_modules():
    work = "go 1.19\n\nuse (\n\t./a\n\t./b\n)\n\nreplace x.org/lib => ./forked\n"
    project = modules("a/a.go", "forked/bell.go", go_work=work, a__go_mod="module x.org/a\n")
    assert project.package("x.org/lib", "a/a.go") == "forked"


def test_without_a_manifest_a_package_is_found_by_the_common_import_prefix():
    facts = {
        "main.go": FileFacts(Language.GO, 1, imports=[Import("example.com/app/http"), Import("net/http")]),
        "http/serve.go": FileFacts(Language.GO, 1),
    }
    project = GoModules(facts, Manifests(facts))
    assert project.package("example.com/app/http", "main.go") == "http"
    assert project.package("example.com/app", "main.go") == ""
    assert project.package("net/http", "main.go") is None
