"""Declarations made in one place are complete everywhere."""

import importlib
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import scrubjay
from scrubjay.app.reference_pages import reference_pages
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.core.errors import ErrorCode, ErrorRecord, ScrubjayError, error_from_record
from scrubjay.servers.cli.errors import EXIT_CODES
from scrubjay.servers.http.errors import STATUS
from scrubjay.servers.mcp.errors import JSONRPC_CODES

PACKAGE = Path(scrubjay.__file__).parent
PROJECT = PACKAGE.parents[1]


def modules() -> Iterator[str]:
    for module in pkgutil.walk_packages([str(PACKAGE)], "scrubjay."):
        if not module.name.endswith("__main__"):
            yield module.name


@pytest.mark.parametrize("table", [STATUS, EXIT_CODES, JSONRPC_CODES], ids=["http", "exit codes", "mcp"])
def test_012_every_error_code_is_in_every_table(table: dict[ErrorCode, object]) -> None:
    assert set(table) == set(ErrorCode)


def test_012_every_code_has_one_class_that_is_restored_from_its_record() -> None:
    classes = ScrubjayError.__subclasses__()
    assert {error_class.code for error_class in classes} == set(ErrorCode)
    for code in ErrorCode:
        error = error_from_record(ErrorRecord(code, "what", "do", {"a": 1}))
        assert error.record == ErrorRecord(code, "what", "do", {"a": 1})


def test_every_module_has_a_docstring_with_a_first_sentence() -> None:
    for name in modules():
        first = (importlib.import_module(name).__doc__ or "").split("\n")[0]
        assert re.fullmatch(r"\S.*[.`?]", first), f"{name}: {first!r}"


def test_every_field_of_every_request_is_described() -> None:
    for declared in TOOL_CATALOG:
        for name, field in declared.request.model_fields.items():
            assert field.description or field.metadata, f"{declared.name}.{name}"
        for schema in declared.input_schema["properties"].values():
            assert schema.get("description"), f"{declared.name}: {schema}"


def test_every_package_is_in_a_layer_and_in_the_architecture_page() -> None:
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = {name.strip() for layer in contracts[0]["layers"] for name in layer.split("|")}
    packages = {folder.name for folder in PACKAGE.iterdir() if folder.is_dir() and not folder.name.startswith("__")}
    assert packages == layers
    architecture = (PROJECT / "ARCHITECTURE.md").read_text("utf-8")
    assert all(f"`{name}`" in architecture for name in packages)


def test_the_reference_is_up_to_date() -> None:
    from scrubjay.app.commands import scrubjay as root

    pages = reference_pages(root)
    assert {"settings.md", "errors.md", "cli.md"} <= set(pages)
    for name, text in pages.items():
        assert (PROJECT / "docs" / "reference" / name).read_text("utf-8") == text, f"run `make reference`: {name}"


def test_no_file_names_a_registry_or_a_path_of_one_machine() -> None:
    locks = [f"requirements/{name}.txt" for name in ("uv", "run", "dev", "bench")]
    for name in (*locks, "tests/conformance/package-lock.json"):
        text = (PROJECT / name).read_text("utf-8")
        assert not re.search(r"https?://|--index-url|--find-links|file:", text), name
