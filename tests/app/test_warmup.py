"""A server is ready before it is asked, and nobody notices but by the time."""

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


async def test_125_what_the_first_question_needs_is_loaded_and_no_memory_counts_as_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(Settings(home=tmp_path)) as app:
        await app.dispatcher.call("remember", {"content": "ready?"}, CONTEXT)
        memories, used = await app.services.get(MemoryService), list[str]()
        monkeypatch.setattr(memories.uses, "note", used.extend)
        await warm(app.services)
        assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []
        assert "scrubjay.features.hooks.service" in sys.modules
        assert used == []
        await app.dispatcher.call("recall", {"query": "ready?"}, CONTEXT)
        assert len(used) == 1


async def test_125_later_searches_for_garbage_leave_alone_what_was_loaded(tmp_path: Path) -> None:
    gc.unfreeze()
    try:
        async with running(Settings(home=tmp_path)) as app:
            await warm(app.services)
            assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()


async def test_125_no_service_elsewhere_is_asked_before_anybody_asks(tmp_path: Path) -> None:
    with running_service() as service:
        elsewhere = EmbeddingSettings(provider="openai", base_url=service.url, api_key=SecretStr("x"), model="m")
        async with running(Settings(home=tmp_path, embedding=elsewhere)) as app:
            await warm(app.services)
        assert service.requests == []
