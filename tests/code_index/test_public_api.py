"""The public API of the package: complete, and loaded on first use."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import scrubjay
from scrubjay import code_index

FOLDER = Path(scrubjay.__file__).parent


def declared() -> dict[str, str]:
    """Return the names that the type checker sees, with their origin as in `EXPORTS`."""
    tree = ast.parse(inspect.getsource(code_index))
    return {
        name.asname or name.name: f"{(node.module or '').removeprefix('scrubjay.code_index.')}:{name.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scrubjay.code_index.")
        for name in node.names
    }


def test_types_and_lazy_exports_agree() -> None:
    assert declared() == code_index.EXPORTS


@pytest.mark.parametrize("name", sorted(code_index.EXPORTS))
def test_every_export_can_be_loaded(name: str) -> None:
    assert getattr(code_index, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'scrubjay.code_index' has no attribute 'nothing'"):
        getattr(code_index, "nothing")  # noqa: B009 - a plain attribute would be a type error


def test_importing_the_package_loads_neither_numpy_nor_a_parser() -> None:
    program = (
        "import sys; from scrubjay.code_index import CodeService, IndexOptions, Language; "
        "sys.exit(any(name.startswith(('numpy', 'tree_sitter')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_other_packages_import_only_the_public_api() -> None:
    inner: list[str] = []
    for file in FOLDER.rglob("*.py"):
        if "code_index" in file.relative_to(FOLDER).parts[:1]:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (module := node.module or "").startswith("scrubjay.code_index."):
                inner.append(f"{file.relative_to(FOLDER)}: {module}")
    assert inner == []
