"""A server embeds the code of all indexes in the background, directly or in batches, and reports its progress."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import SecretStr

from scrubjay.app import maintenance
from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import CodeSettings, EmbeddingSettings, Settings
from scrubjay.tooling.context import CallContext
from tests.code_index.discovery.repository import new_repository
from tests.models.batch_service import KEY, BatchService, running_batch_service
from tests.models.service import DIMENSIONS

FILES = {f"{name}.py": f"def keep_{name}(basket):\n    return sorted(basket)\n" for name in ("apples", "figs")}
MODEL = "vllm/a-model"


@pytest.fixture(autouse=True)
def begins_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "EMBED_SECONDS", 0.01)


async def call(app: Application, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return (await app.dispatcher.call(tool, arguments, CallContext(surface="python"))).model_dump(mode="json")


async def index(folder: Path) -> str:
    """Index a repository with the home in this folder; return the id of the index."""
    root = new_repository(folder / "repository", FILES)
    async with running(Settings(home=folder / "home")) as app:
        return (await call(app, "index", action="project", path=str(root)))["indexes"][0]["index_id"]


def settings_of(folder: Path, service: BatchService | None = None, **code: Any) -> Settings:
    embedding = EmbeddingSettings(
        provider="vllm",
        model="a-model",
        dimensions=DIMENSIONS,
        base_url=service.url if service else None,
        api_key=SecretStr(KEY),
        retries=0,
    )
    return Settings(home=folder / "home", embedding=embedding, code=CodeSettings(**code))


async def status_when(app: Application, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return the status of the index as soon as the condition holds."""
    with anyio.fail_after(5):
        while True:
            status = await call(app, "index", action="status")
            if condition(status):
                return status
            await anyio.sleep(0.01)


async def test_109_a_server_embeds_pending_code_without_a_call(tmp_path: Path) -> None:
    await index(tmp_path)
    with running_batch_service() as service:
        async with running(settings_of(tmp_path, service, embeddings="memories")) as app:
            status = await status_when(app, lambda status: status["indexes"][0]["embeddings"]["embedded"] == 2)
        assert status["indexes"][0]["embeddings"] == {"model": MODEL, "embedded": 2, "pending": 0, "unread": 0}
        assert (len(service.texts), status["message"].split("; ")[-1]) == (2, f"0 chunks wait for {MODEL}")
        assert "in_batch" not in status
        assert "embedding_problem" not in status


async def test_109_a_server_starts_a_batch_if_enabled_and_reports_its_contents(tmp_path: Path) -> None:
    await index(tmp_path)
    with running_batch_service() as service:
        service.final_status = "in_progress"
        async with running(settings_of(tmp_path, service, embeddings="memories", batch_api=True)) as app:
            status = await status_when(app, lambda status: "in_batch" in status)
        assert (status["in_batch"], status["indexes"][0]["embeddings"]["pending"]) == (2, 2)
        assert (service.texts, [len(texts) for texts in service.batched]) == ([], [2])


async def test_109_the_reason_for_missing_embeddings_is_reported(tmp_path: Path) -> None:
    await index(tmp_path)
    with running_batch_service() as service:
        service.down = True
        async with running(settings_of(tmp_path, service, embeddings="memories")) as app:
            status = await status_when(app, lambda status: "embedding_problem" in status)
        assert (status["embedding_problem"], status["indexes"][0]["embeddings"]["pending"]) == (
            f"vllm at {service.url[7:-3]} fails (HTTP 503)",
            2,
        )


async def test_109_an_unusable_model_is_reported_by_every_search_and_fails_none(tmp_path: Path) -> None:
    index_id = await index(tmp_path)
    async with running(settings_of(tmp_path, embeddings="mistral/no-such-model")) as app:
        found = await call(app, "search_repo", index_id=index_id, query="who keeps figs?")
        status = await status_when(app, lambda status: "embedding_problem" in status)
    assert (found["results"][0]["path"], "dimensions of" in found["degraded"]) == ("figs.py", True)
    assert "dimensions of" in status["embedding_problem"]


async def test_109_without_another_model_searches_report_none(tmp_path: Path) -> None:
    await index(tmp_path)
    async with running(settings_of(tmp_path)) as app:
        status = await call(app, "index", action="status")
    assert (status["indexes"][0]["files"], "embeddings" in status["indexes"][0]) == (2, False)
    assert "wait for" not in status["message"]
