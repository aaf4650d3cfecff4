"""Warm-up loads what the first requests need and has no other effect."""

import gc
import logging
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from scrubjay.app.lifespan import running
from scrubjay.app.settings import EmbeddingSettings, Settings
from scrubjay.app.warmup import warm
from scrubjay.features.memory.service import MemoryService
from scrubjay.tooling.context import CallContext
from tests.models.service import running_service

CONTEXT = CallContext(surface="python")


async def test_125_warm_up_loads_what_recall_needs_and_counts_no_use(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(Settings(home=tmp_path)) as app:
        await app.dispatcher.call("remember", {"content": "ready?"}, CONTEXT)
        memories, used = await app.services.get(MemoryService), list[str]()
        monkeypatch.setattr(memories.uses, "count", used.extend)
        await warm(app.services)
        assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []
        assert "scrubjay.features.hooks.service" in sys.modules
        assert used == []
        await app.dispatcher.call("recall", {"query": "ready?"}, CONTEXT)
        assert len(used) == 1


async def test_125_garbage_collection_skips_what_warm_up_loaded(tmp_path: Path) -> None:
    gc.unfreeze()
    try:
        async with running(Settings(home=tmp_path)) as app:
            await warm(app.services)
            assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()


async def test_125_warm_up_makes_no_request_to_an_external_service(tmp_path: Path) -> None:
    with running_service() as service:
        elsewhere = EmbeddingSettings(provider="openai", base_url=service.url, api_key=SecretStr("x"), model="m")
        async with running(Settings(home=tmp_path, embedding=elsewhere)) as app:
            await warm(app.services)
        assert service.requests == []
