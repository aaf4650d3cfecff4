"""A server compacts its search index automatically."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app import maintenance
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.memory import index as memory_index
from scrubjay.tooling.context import CallContext


async def test_068_a_fragmented_index_is_compacted_by_an_automatic_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "COMPACTION_CHECK_SECONDS", 0.02)
    monkeypatch.setattr(memory_index, "MIN_CHANGES_TO_WRITE", 5)
    monkeypatch.setattr(memory_index, "MAX_SEGMENTS", 2)
    async with running(Settings(home=tmp_path)) as app:

        async def call(name: str, **arguments: Any) -> Any:
            return await app.dispatcher.call(name, arguments, CallContext(surface="python"))

        async def compacted() -> list[Any]:
            return (await call("list_jobs", tool="compact_index", states=["completed"])).jobs

        with anyio.fail_after(30):
            number = 0
            while not await compacted():
                await call("remember_many", memories=[{"content": f"note {number + n} on tea"} for n in range(10)])
                number += 10
                assert len((await call("recall", query="tea note", limit=5)).memories) == 5
        [job, *_] = await compacted()
        assert len(job.result["files"]) == 1
        found = await call("recall", query=f"note {number - 1}", limit=3)
        assert found.memories[0].content == f"note {number - 1} on tea"
        health = await call("health_check")
        assert health.status == "healthy"
