"""The import rules of pyproject.toml report forbidden imports in every package and in every feature.

One copy of the tree gets a module `probe` in each package and feature. The probes hold all forbidden imports, the
linter runs once, and each import must be in its report.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import grimp
import pytest

import scrubjay

PACKAGE = Path(scrubjay.__file__).parent
PROJECT = PACKAGE.parents[1]

Forbidden = tuple[str, str]
"""The importing and the imported module."""

# The only packages that may import a library. Every other package and feature gets a probe.
IMPORTERS: Mapping[str, frozenset[str]] = {
    "apsw": frozenset({"db"}),
    "mcp": frozenset({"app", "compat", "servers", "features.upstream_mcp"}),
    "mcp_types": frozenset({"app", "compat", "servers", "features.upstream_mcp"}),
    "click": frozenset({"app", "compat", "servers"}),
    "fastapi": frozenset({"app", "compat", "servers"}),
    "rich": frozenset({"app", "compat", "servers"}),
    "starlette": frozenset({"app", "compat", "servers"}),
    "uvicorn": frozenset({"app", "compat", "servers"}),
    "wasmtime": frozenset({"features.sandbox"}),
    "tokenizers": frozenset({"models"}),
    "onnxruntime": frozenset({"models"}),
    "Stemmer": frozenset({"search_index"}),
    "opentelemetry": frozenset({"features.monitoring"}),
    "prometheus_client": frozenset({"features.monitoring"}),
    "httpcore2": frozenset({"features.workspace"}),
}


def folders_of(parent: Path) -> list[str]:
    return sorted(folder.name for folder in parent.iterdir() if (folder / "__init__.py").exists())


def contract(name: str) -> dict[str, Any]:
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return next(contract for contract in contracts if contract["name"] == name)


def layers_of(name: str) -> list[set[str]]:
    return [{part.strip() for part in layer.split("|")} for layer in contract(name)["layers"]]


def forbidden_among(layers: list[set[str]], inside: str) -> Iterator[Forbidden]:
    """Yield an import of every member of a higher layer, and of every other one of the same layer."""
    for height, layer in enumerate(layers):
        for importer in layer:
            for imported in set[str]().union(*layers[: height + 1]) - {importer}:
                yield f"{inside}.{importer}", f"{inside}.{imported}"


def forbidden_libraries() -> Iterator[Forbidden]:
    folders = [name for name in folders_of(PACKAGE) if name != "features"]
    folders += [f"features.{name}" for name in folders_of(PACKAGE / "features")]
    for library, importers in IMPORTERS.items():
        for folder in folders:
            # Maintenance of the SQLite file in app is named module by module; the rest of app is forbidden.
            if folder not in importers:
                yield f"scrubjay.{folder}", library


def forbidden_imports() -> list[Forbidden]:
    return [
        *forbidden_among(layers_of("Packages import lower layers only"), "scrubjay"),
        *forbidden_among(layers_of("Features import lower features only"), "scrubjay.features"),
        *forbidden_among(layers_of("Protocols do not know each other"), "scrubjay.servers"),
        *forbidden_among([set(folders_of(PACKAGE / "compat"))], "scrubjay.compat"),
        *forbidden_libraries(),
    ]


def probe_of(module: str) -> str:
    return f"{module}.probe" if module.startswith("scrubjay.") else module


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the linter's report on a copy of the tree in which every probe imports everything forbidden."""
    copy = tmp_path_factory.mktemp("copy")
    sources = shutil.ignore_patterns("__pycache__", "*.c", "*.h", "*.npy", "*.bin", "*.js", "*.sql")
    shutil.copytree(PACKAGE, copy / "src" / "scrubjay", ignore=sources)
    shutil.copy(PROJECT / "pyproject.toml", copy)
    probes: dict[str, list[str]] = {}
    for importer, imported in forbidden_imports():
        probes.setdefault(importer, []).append(f"import {probe_of(imported)}\n")
        if imported.startswith("scrubjay."):
            probes.setdefault(imported, [])
    for module, lines in probes.items():
        folder = copy.joinpath("src", *module.split("."))
        assert folder.is_dir(), f"{module} is in a contract and not in the tree"
        (folder / "probe.py").write_text("".join(lines), "utf-8")
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--config", "pyproject.toml"],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy / "src"), "COLUMNS": "500"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_every_forbidden_import_is_reported_in_every_package_and_feature(report: str) -> None:
    reported = set(re.findall(r"([\w.]+) -> ([\w.]+)", report))
    missing = {
        (probe_of(importer), probe_of(imported))
        for importer, imported in forbidden_imports()
        if (probe_of(importer), probe_of(imported)) not in reported
    }
    assert not missing


def test_every_package_and_feature_is_in_the_order() -> None:
    """Probes are made from the contracts, so a folder in no contract would have no probe."""
    packages, features = (
        layers_of("Packages import lower layers only"),
        layers_of("Features import lower features only"),
    )
    assert set[str]().union(*packages) == set(folders_of(PACKAGE))
    assert set[str]().union(*features) == set(folders_of(PACKAGE / "features"))


def test_stores_in_sqlite_are_imported_by_app_and_their_own_feature_only() -> None:
    """Includes modules named `*_sqlite`, which the linter's wildcards cannot express."""
    graph = grimp.build_graph("scrubjay", cache_dir=None)
    for module in graph.modules:
        if module.startswith("scrubjay.features.") and re.search(r"(\.|_)sqlite$", module):
            feature = ".".join(module.split(".")[:3])
            for importer in graph.find_modules_that_directly_import(module):
                assert importer.startswith((f"{feature}.", "scrubjay.app.")), f"{importer} imports {module}"
