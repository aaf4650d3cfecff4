"""Modules that are loaded on first use."""

import sys

import pytest

from scrubjay.core.lazy import lazy_module


def test_a_lazy_module_is_imported_by_the_first_access_to_an_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    module = lazy_module("colorsys")
    assert "colorsys" not in sys.modules
    assert module.rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0)
    assert "colorsys" in sys.modules


def test_a_lazy_module_shows_replaced_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    import colorsys

    module = lazy_module("colorsys")
    assert module.ONE_THIRD == colorsys.ONE_THIRD
    monkeypatch.setattr(colorsys, "ONE_THIRD", 7)
    assert module.ONE_THIRD == 7


def test_a_used_lazy_module_finds_attributes_without_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    import colorsys

    module = lazy_module("colorsys")
    assert module.ONE_THIRD
    monkeypatch.delattr("scrubjay.core.lazy._LazyModule.__getattr__")
    assert module.ONE_SIXTH == colorsys.ONE_SIXTH


def test_a_lazy_module_asks_the_getattr_of_its_module() -> None:
    """Facades such as that of `code_index` export their names by a module's `__getattr__`."""
    module = lazy_module("scrubjay.code_index")
    assert module.IndexOptions is module.IndexOptions
    with pytest.raises(AttributeError):
        module.no_such_name  # noqa: B018


def test_a_missing_module_fails_on_first_use() -> None:
    module = lazy_module("scrubjay.no_such_module")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        module.anything  # noqa: B018
