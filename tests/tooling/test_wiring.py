"""Wiring modules provide services on first request."""

import sys
from pathlib import Path

import pytest

from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring, WiringCatalog

TOY = {
    "toys_of_wiring/__init__.py": "",
    "toys_of_wiring/kite/__init__.py": "",
    "toys_of_wiring/kite/service.py": "class Kite: ...\nclass Line: ...\nclass Wind: ...\n",
    "toys_of_wiring/kite/wiring.py": """
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring
from toys_of_wiring.kite.service import Kite, Line

WIRING = Wiring()

@WIRING.provides
async def kite(services: Services) -> Kite:
    result = Kite()
    result.line = await services.get(Line)
    return result

@WIRING.provides
async def line(services: Services) -> Line:
    return Line()
""",
}


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WiringCatalog:
    for name, text in TOY.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return WiringCatalog("toys_of_wiring", "kite.wiring kite")


async def test_a_wiring_module_is_imported_when_one_of_its_services_is_first_requested(toys: WiringCatalog) -> None:
    from toys_of_wiring.kite.service import Kite, Line, Wind  # pyright: ignore

    services = Services(toys)
    assert "toys_of_wiring.kite.wiring" not in sys.modules
    kite = await services.get(Kite)  # pyright: ignore
    assert "toys_of_wiring.kite.wiring" in sys.modules
    assert kite.line is await services.get(Line)  # pyright: ignore
    assert Wind not in services
    assert str not in services
    with pytest.raises(KeyError, match="Wind"):
        await services.get(Wind)  # pyright: ignore


async def test_a_service_that_is_provided_explicitly_replaces_that_of_the_wiring(toys: WiringCatalog) -> None:
    from toys_of_wiring.kite.service import Line  # pyright: ignore

    services, own = Services(toys), Line()  # pyright: ignore
    services.provide_ready(Line, own)  # pyright: ignore
    assert await services.get(Line) is own  # pyright: ignore
    assert services.ready(Line) is own  # pyright: ignore


async def test_close_callbacks_run_in_reverse_order_even_if_one_fails() -> None:
    services, closed = Services(), list[str]()

    def add_close_callback(name: str) -> None:
        async def close() -> None:
            closed.append(name)
            if name == "second":
                raise OSError(name)

        services.on_close(close)

    for name in ("first", "second", "third"):
        add_close_callback(name)
    with pytest.raises(OSError, match="second"):
        await services.close()
    assert closed == ["third", "second", "first"]


def test_a_factory_must_name_the_class_that_it_provides() -> None:
    async def nameless(services: Services):  # pyright: ignore
        return 1

    with pytest.raises(TypeError, match="must be annotated"):
        Wiring().provides(nameless)  # pyright: ignore
