"""Services of a process, found by type and made on first use."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, TypeVar, cast

import anyio

T = TypeVar("T")

Factory = Callable[["Services"], Awaitable[Any]]
Finder = Callable[[type], Factory | None]
"""Returns the factory of a type that was not provided explicitly; None when it knows none."""


class Services:
    """The services of one process. Each is made once, when it is first asked for.

    A service is provided explicitly (`provide`, `provide_ready`) or by a finder, such as a wiring catalog, which is
    asked in the order given. A server can so answer its first message before a feature is imported.
    """

    def __init__(self, *finders: Finder) -> None:
        self._finders = finders
        self._factories: dict[type, Factory] = {}
        self._made: dict[type, Any] = {}
        self._locks: dict[type, anyio.Lock] = {}
        self._closing = AsyncExitStack()

    def provide(self, kind: type[T], factory: Callable[[], Awaitable[T]]) -> None:
        """Make the service of this type with `factory`, in place of any other factory."""

        async def make(_: Services) -> T:
            return await factory()

        self._factories[kind] = make

    def provide_ready(self, kind: type[T], service: T) -> None:
        """Provide a service that exists already."""
        self._made[kind] = service

    def on_close(self, callback: Callable[[], Awaitable[None]]) -> None:
        """Call `callback` when the process ends; the last one registered is called first."""
        self._closing.push_async_callback(callback)

    async def close(self) -> None:
        """Run every callback of `on_close`, also when one of them fails."""
        await self._closing.aclose()

    def __contains__(self, kind: type) -> bool:
        return kind in self._made or self._factory(kind) is not None

    def ready(self, kind: type[T]) -> T:
        """Return a service that exists already, such as settings; `KeyError` when it was not made yet."""
        return cast(T, self._made[kind])

    async def get(self, kind: type[T]) -> T:
        """Return the service of this type; make it if it does not exist. `KeyError` if nothing provides it."""
        if kind not in self._made:
            async with self._locks.setdefault(kind, anyio.Lock()):
                if kind not in self._made:
                    if (factory := self._factory(kind)) is None:
                        raise KeyError(f"{kind.__module__}.{kind.__qualname__}")
                    self._made[kind] = await factory(self)
        return cast(T, self._made[kind])

    def _factory(self, kind: type) -> Factory | None:
        if kind not in self._factories:
            for find in self._finders:
                if (factory := find(kind)) is not None:
                    self._factories[kind] = factory
                    break
        return self._factories.get(kind)
