"""What is declared in one place is complete everywhere."""

import importlib
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import scrubjay
from scrubjay.app.reference_pages import reference_pages
from scrubjay.app.tool_catalog import ALL
from scrubjay.core.errors import ErrorCode, ErrorRecord, ScrubjayError, error_from_record
from scrubjay.servers.cli.errors import EXIT_CODES
from scrubjay.servers.http.errors import STATUS
from scrubjay.servers.mcp.errors import ANSWERS

PACKAGE = Path(scrubjay.__file__).parent
PROJECT = PACKAGE.parents[1]


def modules() -> Iterator[str]:
    for found in pkgutil.walk_packages([str(PACKAGE)], "scrubjay."):
        if not found.name.endswith("__main__"):
            yield found.name


@pytest.mark.parametrize("table", [STATUS, EXIT_CODES, ANSWERS], ids=["http", "exit codes", "mcp"])
def test_012_every_error_code_has_its_place_in_every_table(table: dict[ErrorCode, object]) -> None:
    assert set(table) == set(ErrorCode)


def test_012_every_code_is_one_class_and_comes_back_from_its_record() -> None:
    classes = ScrubjayError.__subclasses__()
    assert {found.code for found in classes} == set(ErrorCode)
    for code in ErrorCode:
        error = error_from_record(ErrorRecord(code, "what", "do", {"a": 1}))
        assert error.record == ErrorRecord(code, "what", "do", {"a": 1})


def test_every_module_says_in_one_sentence_what_it_is_for() -> None:
    for name in modules():
        first = (importlib.import_module(name).__doc__ or "").split("\n")[0]
        assert re.fullmatch(r"\S.*[.`?]", first), f"{name}: {first!r}"


def test_every_field_of_every_request_is_described() -> None:
    for declared in ALL:
        for name, field in declared.request.model_fields.items():
            assert field.description or field.metadata, f"{declared.name}.{name}"
        for note in declared.input_schema["properties"].values():
            assert note.get("description"), f"{declared.name}: {note}"


def test_every_package_has_its_place_in_the_drawing() -> None:
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    drawn = {name.strip() for layer in contracts[0]["layers"] for name in layer.split("|")}
    packages = {found.name for found in PACKAGE.iterdir() if found.is_dir() and not found.name.startswith("__")}
    assert packages == drawn
    architecture = (PROJECT / "ARCHITECTURE.md").read_text("utf-8")
    assert all(f"`{name}`" in architecture for name in packages)


def test_the_reference_is_up_to_date() -> None:
    from scrubjay.app.commands import scrubjay as root

    pages = reference_pages(root)
    assert {"settings.md", "errors.md", "cli.md"} <= set(pages)
    for name, text in pages.items():
        assert (PROJECT / "docs" / "reference" / name).read_text("utf-8") == text, f"run `make reference`: {name}"


def test_no_file_names_a_registry_or_a_place_of_one_machine() -> None:
    locks = [f"requirements/{name}.txt" for name in ("pip", "run", "dev", "bench")]
    for name in (*locks, "tests/conformance/package-lock.json"):
        text = (PROJECT / name).read_text("utf-8")
        assert not re.search(r"https?://|--index-url|--find-links|file:", text), name
