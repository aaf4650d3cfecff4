"""What tools need, found by type and made on first use."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

import anyio

T = TypeVar("T")


class Services:
    """Each service is made once, by the factory given for its type, when it is first asked for.

    A server can so answer its first message before anything heavy is loaded.
    """

    def __init__(self) -> None:
        self._factories: dict[str, Callable[[], Awaitable[Any]]] = {}
        self._made: dict[type, Any] = {}
        self._making: dict[str, anyio.Lock] = {}

    def provide(self, kind: type[T], factory: Callable[[], Awaitable[T]]) -> None:
        self.provide_named(_name_of(kind), factory)

    def provide_named(self, name: str, factory: Callable[[], Awaitable[Any]]) -> None:
        """Provide a type by its full name, without loading the module that has it."""
        self._factories[name] = factory
        self._making[name] = anyio.Lock()

    def provide_ready(self, kind: type[T], service: T) -> None:
        async def ready() -> T:
            return service

        self.provide(kind, ready)

    def __contains__(self, kind: type) -> bool:
        return _name_of(kind) in self._factories

    async def get(self, kind: type[T]) -> T:
        if kind not in self._made:
            name = _name_of(kind)
            async with self._making[name]:
                if kind not in self._made:
                    self._made[kind] = await self._factories[name]()
        return cast(T, self._made[kind])


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
