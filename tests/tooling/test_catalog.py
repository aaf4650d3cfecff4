"""Tools that are loaded on first use."""

import sys
from pathlib import Path

import pytest

from scrubjay.tooling.catalog import ToolCatalog
from scrubjay.tooling.registry import Registry, Toolset

DECLARATION = '''
from scrubjay.tooling.declaration import Request, Result, tool

class Nothing(Request):
    pass

class Done(Result):
    pass

@tool("{family}")
async def {name}(request: Nothing) -> Done:
    """Do something."""
    return Done()
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package whose module `first` declares `one` of the family `a`, and `second` declares `two` of `b`."""
    name = f"toys_{tmp_path.name}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "first.py").write_text(DECLARATION.format(family="a", name="one"))
    (folder / "second.py").write_text(DECLARATION.format(family="b", name="two"))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return name


def loaded(package: str) -> set[str]:
    return {name.removeprefix(f"{package}.") for name in sys.modules if name.startswith(f"{package}.")}


def test_only_the_module_of_the_requested_tool_is_loaded(package: str) -> None:
    registry = Registry(ToolCatalog(package, "a first one", "b second two"))
    assert (registry.names, registry.families, registry.names_by_family["b"]) == (["one", "two"], ["a", "b"], ["two"])
    assert ("two" in registry, "three" in registry, len(registry)) == (True, False, 2)
    assert set(Toolset("core,b").checked(registry)) == {"core", "b"}
    assert (loaded(package), registry.loaded) == (set[str](), [])
    assert registry.get("one").title == "One"
    assert (loaded(package), registry.loaded) == ({"first"}, [registry.get("one")])
    assert [tool.name for tool in registry] == ["one", "two"]
    assert loaded(package) == {"first", "second"}


def test_a_catalog_is_a_collection_of_its_tools(package: str) -> None:
    catalog = ToolCatalog(package, "a first one", "b second two")
    assert (len(catalog), [tool.name for tool in catalog]) == (2, ["one", "two"])
    assert next(iter(catalog)) in catalog
    assert "one" not in catalog


def test_a_catalog_with_a_wrong_family_is_refused(package: str) -> None:
    registry = Registry(ToolCatalog(package, "b first one"))
    with pytest.raises(ValueError, match="one belongs to the family a, not to b"):
        registry.get("one")
