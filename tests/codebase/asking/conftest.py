"""The shop's index, built once for each file of tests."""

from collections.abc import AsyncGenerator

import pytest

from recollect.codebase.indexing import Indexer, IndexOptions
from recollect.codebase.service import CodeService, Loaded
from recollect.domain.progress import SilentReporter
from recollect.storage.sqlite.code import SqliteCode
from tests.codebase.asking.shop import write_shop


@pytest.fixture(scope="module")
async def shop(
    tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncGenerator[tuple[CodeService, Loaded]]:
    root, home = tmp_path_factory.mktemp("shop"), tmp_path_factory.mktemp("home")
    write_shop(root)
    store = await SqliteCode.open(home)
    indexer = Indexer(store, home / "code")
    built = await indexer.build(str(root), "HEAD", IndexOptions(), SilentReporter())
    code = CodeService(store, indexer)
    yield code, await code.load(built.record.id)
    await store.close()
