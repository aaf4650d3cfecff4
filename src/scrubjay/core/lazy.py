"""Load modules on first use: the one way in which the code base imports something late.

Servers and hooks must answer before features, numpy or an HTTP framework are imported. Three things load late, and
nothing else: tools by the tool catalog (`tooling/catalog.py`), services by the wiring catalog (`tooling/wiring.py`),
and single modules by `lazy_module`. All imports stand at the top of their file:

    if TYPE_CHECKING:
        from scrubjay.features.monitoring import metrics
    else:
        metrics = lazy_module("scrubjay.features.monitoring.metrics")

    def counters() -> "metrics.Metrics":
        return metrics.Metrics()  # imported by the first access to an attribute

The type checker and import-linter read the first branch, so types and import rules hold as for any other import.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


class _LazyModule:
    """Imports a module at the first access to one of its attributes.

    From then on it shares the namespace of the module, so an access costs as little as one to the module itself.
    """

    __slots__ = ("__dict__", "_name")

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        __import__(self._name)  # `-X importtime` does not list what `import_module` imports
        module = sys.modules[self._name]
        self.__dict__ = vars(module)
        return getattr(module, attribute)

    def __repr__(self) -> str:
        return f"<lazy module {self._name}>"


def lazy_module(name: str) -> Any:
    """Return a stand-in for the module with this full name, which is imported on first use."""
    return _LazyModule(name)


def lazy_exports(package: str, exports: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module `__getattr__` (PEP 562) that imports each exported name on first use.

    `exports` maps a public name to `module:attribute`, with the module relative to `package`:

        __getattr__ = lazy_exports(__name__, {"search": "search.ranker:search"})
    """

    def load(name: str) -> Any:
        if name not in exports:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, attribute = exports[name].partition(":")
        found = getattr(import_module(f"{package}.{module}"), attribute)
        setattr(sys.modules[package], name, found)  # the next access is an ordinary one
        return found

    return load
