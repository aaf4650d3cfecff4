"""Assembly of features: each has a `wiring` module, imported when one of its services is first requested."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TypeVar

from scrubjay.tooling.services import Factory, Services

T = TypeVar("T")


class Wiring:
    """The factories of one module, by the type that each is annotated to return.

        WIRING = Wiring()

        @WIRING.provides
        async def task_service(services: Services) -> TaskService:
            return TaskService(await services.get(TaskStore))

    The module imports what it needs at its top: it is imported late itself (see `core/lazy.py`).
    """

    def __init__(self) -> None:
        self.factories: dict[type, Factory] = {}

    def provides(self, factory: Callable[[Services], Awaitable[T]]) -> Callable[[Services], Awaitable[T]]:
        """Provide the type that this function returns; `TypeError` when the annotation is missing or a string."""
        kind: object = factory.__annotations__.get("return")
        if not isinstance(kind, type):
            raise TypeError(f"{factory} must be annotated with the class that it provides")
        self.factories[kind] = factory
        return factory


class WiringCatalog:
    """The wiring modules of the product, and the packages whose types each of them provides."""

    def __init__(self, package: str, *lines: str) -> None:
        """Each line is a wiring module, followed by the packages, modules or single types that it provides."""
        self._modules = {
            f"{package}.{provided}": f"{package}.{module}"
            for module, *others in map(str.split, lines)
            for provided in others
        }

    def __call__(self, kind: type) -> Factory | None:
        """Return the factory of a type, from the wiring of the nearest package that holds it; None without one."""
        place = f"{kind.__module__}.{kind.__qualname__}"
        while place and place not in self._modules:
            place = place.rpartition(".")[0]
        if not place:
            return None
        wiring: Wiring = import_module(self._modules[place]).WIRING
        return wiring.factories.get(kind)
