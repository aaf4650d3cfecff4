"""Types and sources of what is imported are found in the repository's own folder, and nowhere else."""

from pathlib import Path

import pytest

from scrubjay.code_index.bundle import dependencies
from scrubjay.code_index.bundle.dependencies import Dependencies
from scrubjay.code_index.models import FileFacts, Import, Language
from tests.code_index.bundle.house import BESIDE, KEY, written


def importing(root: Path, language: Language, *modules: str) -> Dependencies:
    found = Dependencies(root.resolve())
    found.add(FileFacts(language, 1, imports=[Import(module) for module in modules]))
    return found


def names(found: Dependencies) -> list[str]:
    return [one.name for one in found.found()]


def test_a_package_comes_with_its_types_and_without_its_own_packages(tmp_path: Path) -> None:
    root = written(tmp_path, BESIDE)
    found = importing(root, Language.TYPESCRIPT, "lodash/fp", "./own", "node:fs", "missing", "../../etc")
    assert names(found) == ["types/@types/lodash/index.d.ts", "vendor_src/lodash/fp.js"]


def test_a_module_of_a_virtual_environment_is_taken_without_its_secrets(tmp_path: Path) -> None:
    root = written(tmp_path, BESIDE)
    found = importing(root, Language.PYTHON, "yaml.nodes", ".own", "os")
    assert names(found) == ["types/yaml/__init__.pyi", "vendor_src/yaml/__init__.py"]
    source = [*found.found()][1].content()
    assert KEY.encode() not in source
    assert source.startswith(b"TOKEN = ")


def test_no_link_leads_out(tmp_path: Path) -> None:
    outside = written(tmp_path / "outside", {"index.js": b"out\n", "one.js": b"out\n"})
    root = written(tmp_path / "root", {"node_modules/in/index.js": b"in\n"})
    (root / "node_modules/out").symlink_to(outside)
    (root / "node_modules/in/link.js").symlink_to(outside / "one.js")
    (root / "node_modules/loop").symlink_to("loop")
    (root / "node_modules/linked").symlink_to("in")
    assert names(importing(root, Language.JAVASCRIPT, "out", "in", "loop", "linked")) == [
        "vendor_src/in/index.js",
        "vendor_src/linked/index.js",
    ]


def test_no_more_is_taken_than_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = written(tmp_path, {f"node_modules/{name}/{file}.js": b"0123456789" for name in "ab" for file in "xyz"})
    both = importing(root, Language.JAVASCRIPT, "a", "b")
    monkeypatch.setattr(dependencies, "MOST_FILES_OF_ONE", 2)
    assert names(both) == [f"vendor_src/{place}.js" for place in ("a/x", "a/y", "b/x", "b/y")]
    monkeypatch.setattr(dependencies, "MOST_BYTES", 35)
    assert len(names(both)) == 3
    monkeypatch.setattr(dependencies, "MOST_FILES", 1)
    assert len(names(both)) == 1
    monkeypatch.setattr(dependencies, "MOST_BYTES_OF_ONE_FILE", 9)
    assert names(both) == []
