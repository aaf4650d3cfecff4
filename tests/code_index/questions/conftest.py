"""The index of the shop, built once per test module."""

from collections.abc import AsyncGenerator

import pytest

from scrubjay.code_index.index.indexer import Indexer
from scrubjay.code_index.index.options import IndexOptions
from scrubjay.code_index.service import CodeService, LoadedIndex
from scrubjay.core.progress import SilentReporter
from scrubjay.features.code.sqlite import SqliteCode
from tests.code_index.questions.shop import write_shop


@pytest.fixture(scope="module")
async def shop(
    tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncGenerator[tuple[CodeService, LoadedIndex]]:
    root, home = tmp_path_factory.mktemp("shop"), tmp_path_factory.mktemp("home")
    write_shop(root)
    store = await SqliteCode.open(home)
    indexer = Indexer(store, home / "code")
    built = await indexer.build(str(root), "HEAD", IndexOptions(), SilentReporter())
    code = CodeService(store, indexer)
    yield code, await code.load(built.record.id)
    await store.close()
