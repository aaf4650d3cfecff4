"""A house of its own for each test."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from tests.contracts.samples import ManualClock
from tests.features.episodes.house import House


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await SqliteStore.open(tmp_path / "home")
    yield store
    await store.close()


@pytest.fixture
def house(store: SqliteStore) -> House:
    return House(store, ManualClock())
