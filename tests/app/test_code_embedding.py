"""A server has the code of all indexes embedded by itself, at once or by batches, and tells how far that is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import SecretStr

from scrubjay.app import maintenance as upkeep
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
    monkeypatch.setattr(upkeep, "EMBED_SECONDS", 0.01)


async def call(app: Application, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return (await app.dispatcher.call(tool, arguments, CallContext(surface="python"))).model_dump(mode="json")


async def index(folder: Path) -> str:
    """Have a repository indexed in the home of this folder; the index's id."""
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
    """What is told as soon as this is so."""
    with anyio.fail_after(5):
        while True:
            told = await call(app, "index", action="status")
            if condition(told):
                return told
            await anyio.sleep(0.01)


async def test_109_a_server_has_what_is_pending_embedded_by_itself(tmp_path: Path) -> None:
    await index(tmp_path)
    with running_batch_service() as service:
        async with running(settings_of(tmp_path, service, embeddings="memories")) as app:
            told = await status_when(app, lambda told: told["indexes"][0]["embeddings"]["embedded"] == 2)
        assert told["indexes"][0]["embeddings"] == {"model": MODEL, "embedded": 2, "pending": 0, "unread": 0}
        assert (len(service.texts), told["message"].split("; ")[-1]) == (2, f"0 parts wait for {MODEL}")
        assert "in_batch" not in told
        assert "embedding_problem" not in told


async def test_109_a_server_begins_a_batch_where_that_is_set_and_tells_what_is_in_it(tmp_path: Path) -> None:
    await index(tmp_path)
    with running_batch_service() as service:
        service.ends = "in_progress"
        async with running(settings_of(tmp_path, service, embeddings="memories", batch_api=True)) as app:
            told = await status_when(app, lambda told: "in_batch" in told)
        assert (told["in_batch"], told["indexes"][0]["embeddings"]["pending"]) == (2, 2)
        assert (service.texts, [len(texts) for texts in service.batched]) == ([], [2])


async def test_109_why_nothing_is_embedded_is_told(tmp_path: Path) -> None:
    await index(tmp_path)
    with running_batch_service() as service:
        service.down = True
        async with running(settings_of(tmp_path, service, embeddings="memories")) as app:
            told = await status_when(app, lambda told: "embedding_problem" in told)
        assert (told["embedding_problem"], told["indexes"][0]["embeddings"]["pending"]) == (
            f"vllm at {service.url[7:-3]} fails (HTTP 503)",
            2,
        )


async def test_109_a_choice_that_cannot_work_is_told_by_every_search_and_stops_none(tmp_path: Path) -> None:
    index_id = await index(tmp_path)
    async with running(settings_of(tmp_path, embeddings="mistral/no-such-model")) as app:
        found = await call(app, "search_repo", index_id=index_id, query="who keeps figs?")
        told = await status_when(app, lambda told: "embedding_problem" in told)
    assert (found["results"][0]["path"], "how many dimensions" in found["degraded"]) == ("figs.py", True)
    assert "how many dimensions" in told["embedding_problem"]


async def test_109_without_another_model_nothing_is_told_of_any(tmp_path: Path) -> None:
    await index(tmp_path)
    async with running(settings_of(tmp_path)) as app:
        told = await call(app, "index", action="status")
    assert (told["indexes"][0]["files"], "embeddings" in told["indexes"][0]) == (2, False)
    assert "wait for" not in told["message"]
