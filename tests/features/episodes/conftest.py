"""An episode environment for each test."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from tests.contracts.samples import ManualClock
from tests.features.episodes.environment import EpisodeEnvironment


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await SqliteStore.open(tmp_path / "home")
    yield store
    await store.close()


@pytest.fixture
def env(store: SqliteStore) -> EpisodeEnvironment:
    return EpisodeEnvironment(store, ManualClock())
