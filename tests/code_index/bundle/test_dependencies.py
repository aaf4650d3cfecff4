"""Types and sources of imported libraries are taken from inside the repository only."""

from pathlib import Path

import pytest

from scrubjay.code_index.bundle.dependencies import Dependencies
from scrubjay.code_index.models import FileFacts, Import, Language
from tests.code_index.bundle.sample_repository import INSTALLED, KEY, write_files

MODULE = "scrubjay.code_index.bundle.dependencies"


def collect(root: Path, language: Language, *modules: str) -> Dependencies:
    dependencies = Dependencies(root.resolve())
    dependencies.add(FileFacts(language, 1, imports=[Import(module) for module in modules]))
    return dependencies


def names(dependencies: Dependencies) -> list[str]:
    return [file.name for file in dependencies.vendored_files()]


def test_a_package_is_included_with_its_types_but_not_its_dependencies(tmp_path: Path) -> None:
    root = write_files(tmp_path, INSTALLED)
    dependencies = collect(root, Language.TYPESCRIPT, "lodash/fp", "./own", "node:fs", "missing", "../../etc")
    assert names(dependencies) == ["types/@types/lodash/index.d.ts", "vendor_src/lodash/fp.js"]


def test_a_module_in_a_virtual_environment_is_included_without_secrets(tmp_path: Path) -> None:
    root = write_files(tmp_path, INSTALLED)
    dependencies = collect(root, Language.PYTHON, "yaml.nodes", ".own", "os")
    assert names(dependencies) == ["types/yaml/__init__.pyi", "vendor_src/yaml/__init__.py"]
    source = [*dependencies.vendored_files()][1].content()
    assert KEY.encode() not in source
    assert source.startswith(b"TOKEN = ")


def test_links_out_of_the_repository_are_not_followed(tmp_path: Path) -> None:
    outside = write_files(tmp_path / "outside", {"index.js": b"out\n", "one.js": b"out\n"})
    root = write_files(tmp_path / "root", {"node_modules/in/index.js": b"in\n"})
    (root / "node_modules/out").symlink_to(outside)
    (root / "node_modules/in/link.js").symlink_to(outside / "one.js")
    (root / "node_modules/loop").symlink_to("loop")
    (root / "node_modules/linked").symlink_to("in")
    assert names(collect(root, Language.JAVASCRIPT, "out", "in", "loop", "linked")) == [
        "vendor_src/in/index.js",
        "vendor_src/linked/index.js",
    ]


def test_the_limits_are_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_files(tmp_path, {f"node_modules/{name}/{file}.js": b"0123456789" for name in "ab" for file in "xyz"})
    both = collect(root, Language.JAVASCRIPT, "a", "b")
    monkeypatch.setattr(f"{MODULE}.MAX_FILES_PER_LIBRARY", 2)
    assert names(both) == [f"vendor_src/{path}.js" for path in ("a/x", "a/y", "b/x", "b/y")]
    monkeypatch.setattr(f"{MODULE}.MAX_BYTES", 35)
    assert len(names(both)) == 3
    monkeypatch.setattr(f"{MODULE}.MAX_FILES", 1)
    assert len(names(both)) == 1
    monkeypatch.setattr(f"{MODULE}.MAX_FILE_BYTES", 9)
    assert names(both) == []
