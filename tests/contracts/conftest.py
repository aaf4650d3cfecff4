"""The backends that the store contract runs on. Add a new one here."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Protocol

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.app.store import Store
from scrubjay.core.clock import Clock, system_clock
from tests.contracts.samples import ManualClock


class Backend(Protocol):
    """Opens the same store any number of times, as different processes would."""

    async def open(self, *, clock: Clock = system_clock, lease_seconds: float = 30.0) -> Store: ...


class SqliteBackend:
    """A store in a folder."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._opened: list[SqliteStore] = []

    async def open(self, *, clock: Clock = system_clock, lease_seconds: float = 30.0) -> Store:
        store = await SqliteStore.open(self._home, clock=clock, lease_seconds=lease_seconds)
        self._opened.append(store)
        return store

    async def close(self) -> None:
        for store in self._opened:
            await store.close()


@pytest.fixture(params=["sqlite"])
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Backend]:
    match request.param:
        case "sqlite":
            backend = SqliteBackend(tmp_path / "home")
        case unknown:
            raise LookupError(unknown)
    yield backend
    await backend.close()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def store(backend: Backend, clock: ManualClock) -> Store:
    """An open store that uses the test's clock."""
    return await backend.open(clock=clock, lease_seconds=30.0)


@pytest.fixture
async def other(backend: Backend, clock: ManualClock, store: Store) -> Store:
    """The same store as opened by another process."""
    return await backend.open(clock=clock, lease_seconds=30.0)
