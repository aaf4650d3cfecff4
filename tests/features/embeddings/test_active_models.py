"""The active model: read from the store, and used only if this process allows it."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Misconfigured, Unavailable
from scrubjay.core.scopes import Scope
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.embeddings.models import ChosenModel
from scrubjay.features.memory.models import Memory
from scrubjay.models.choices import CallerRights, EmbeddingChoice, Pace
from scrubjay.models.embedding import Embedder
from scrubjay.models.embedding_cache import VectorCache
from scrubjay.models.providers import embedder_for
from scrubjay.models.static_model import StaticEmbedder
from scrubjay.tooling.context import CallContext
from tests.contracts.samples import write

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class NamedEmbedder(StaticEmbedder):
    """The bundled model under the name of the choice."""

    def __init__(self, choice: EmbeddingChoice) -> None:
        super().__init__()
        self.choice = choice
        self.model = f"{choice.provider}/{choice.model}"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await SqliteStore.open(tmp_path)
    yield store
    await store.close()


def chosen_model(choice: dict[str, Any] | None, model: str = "vllm/m", change_id: str = "change_1") -> ChosenModel:
    return ChosenModel(choice=choice, model=model, dimensions=256, change_id=change_id)


async def choose(store: SqliteStore, choice: dict[str, Any] | None, change_id: str = "change_1") -> None:
    await store.embeddings.begin(chosen_model(choice, change_id=change_id))
    assert await store.embeddings.complete(change_id)


VLLM = {"provider": "vllm", "model": "m", "base_url": "http://127.0.0.1:1", "batch_size": 7}


async def test_the_settings_apply_without_a_choice_and_again_after_it_is_removed(store: SqliteStore) -> None:
    settings = EmbeddingChoice(provider="ollama", model="s", pace=Pace(retries=1))
    models = ModelRegistry(store.embeddings, settings, NamedEmbedder)
    first = await models.current()
    assert (first.active.choice, first.active.embedder.model, first.next) == (settings, "ollama/s", None)
    assert await models.current() is first
    await choose(store, VLLM)
    second = await models.current()
    assert second.active.choice == EmbeddingChoice(
        provider="vllm", model="m", base_url="http://127.0.0.1:1", pace=Pace(retries=1, batch_size=7)
    )
    await choose(store, None, "change_2")
    assert (await models.current()).active is first.active


async def test_a_model_is_next_only_while_its_job_runs(store: SqliteStore) -> None:
    models = ModelRegistry(store.embeddings, EmbeddingChoice(), NamedEmbedder)
    await store.embeddings.begin(chosen_model(VLLM))
    assert (await models.current()).next is None
    job = await store.jobs.add("embed_memories", {}, owner="me")
    await store.embeddings.claim("change_1", job.id)
    next_model = (await models.current()).next
    assert next_model is not None
    assert next_model.embedder.model == "vllm/m"
    await store.jobs.release(job.id, "me")
    assert (await models.current()).next is next_model  # another process will resume the job
    await store.jobs.request_cancel(job.id)
    assert (await models.current()).next is None


async def test_the_settings_of_another_process_are_not_used(store: SqliteStore) -> None:
    models = ModelRegistry(store.embeddings, EmbeddingChoice(provider="ollama", model="ours"), NamedEmbedder)
    job = await store.jobs.add("embed_memories", {}, owner="me")
    await store.embeddings.begin(chosen_model(None, model="ollama/theirs"))
    await store.embeddings.claim("change_1", job.id)
    assert (await models.current()).next is None


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (VLLM, "callers may not send texts to 127.0.0.1"),
        ({"provider": "openai", "api_key_env": "HOME", "batch_size": 1}, "callers may not send the content of HOME"),
        ({"provider": "from the future", "batch_size": 1}, "this version does not know the embedding provider"),
    ],
)
async def test_a_model_that_this_process_is_not_allowed_to_use_is_unavailable(
    store: SqliteStore, choice: dict[str, Any], message: str
) -> None:
    await choose(store, choice)
    models = ModelRegistry(
        store.embeddings,
        EmbeddingChoice(),
        lambda choice: pytest.fail("an embedder was created"),
        rights=CallerRights(addresses=()),
    )
    with pytest.raises(Unavailable, match=message):
        await (await models.current()).active.embedder.embed(["text"])


async def test_settings_that_cannot_work_are_unavailable_too(store: SqliteStore) -> None:
    def make(choice: EmbeddingChoice) -> Embedder:
        raise Misconfigured("a key is needed")

    models = ModelRegistry(store.embeddings, EmbeddingChoice(provider="openai"), make)
    embedder = (await models.current()).active.embedder
    assert (embedder.model, embedder.dimensions) == ("openai/text-embedding-3-small", 1536)
    with pytest.raises(Unavailable, match="a key is needed"):
        await embedder.embed(["text"])


async def test_a_memory_stored_during_a_switch_gets_its_vector(store: SqliteStore) -> None:
    models = ModelRegistry(store.embeddings, EmbeddingChoice(provider="ollama", model="s"), NamedEmbedder)
    before = await models.current()
    await choose(store, VLLM)
    (outcome,) = await store.memories.put([write("a text", model="ollama/s")])
    await models.add_missing_vectors([outcome.memory], before)
    assert await store.embeddings.count_missing("vllm/m", 256) == 0
    await models.add_missing_vectors([memory("not stored")], await models.current())  # nothing to add
    assert await store.embeddings.count_missing("vllm/m", 256) == 0


async def test_a_vector_that_cannot_be_computed_now_stays_missing(store: SqliteStore) -> None:
    models = ModelRegistry(
        store.embeddings,
        EmbeddingChoice(provider="ollama", model="s"),
        NamedEmbedder,
        rights=CallerRights(addresses=()),
    )
    before = await models.current()
    await choose(store, VLLM)
    (outcome,) = await store.memories.put([write("a text", model="ollama/s")])
    await models.add_missing_vectors([outcome.memory], before)
    assert await store.embeddings.count_missing("vllm/m", 256) == 1


def memory(content: str) -> Memory:
    return Memory(
        id="mem_x",
        scope=Scope.GLOBAL,
        project_id=None,
        session_id=None,
        content=content,
        recorded_at=NOW,
        updated_at=NOW,
    )


async def test_a_stored_choice_of_the_removed_minilm_is_unavailable_with_a_hint(store: SqliteStore) -> None:
    await choose(store, {"provider": "local", "model": "all-MiniLM-L6-v2", "batch_size": 32})
    make = partial(embedder_for, environment={}, cache=VectorCache(0))
    embedder = (await ModelRegistry(store.embeddings, EmbeddingChoice(), make).current()).active.embedder
    with pytest.raises(Unavailable) as caught:
        await embedder.embed(["text"])
    assert caught.value.message == "all-MiniLM-L6-v2 is no longer part of scrubjay"
    assert "set provider to onnx" in (caught.value.hint or "")
    assert caught.value.details == {"reason": "misconfigured"}


async def test_the_removed_minilm_in_the_settings_is_a_health_problem_and_keyword_search_works(
    tmp_path: Path,
) -> None:
    settings = Settings.model_validate({"home": tmp_path, "embedding": {"model": "all-MiniLM-L6-v2"}})
    async with running(settings) as application:
        call, context = application.dispatcher.call, CallContext(surface="python")
        await call("remember", {"content": "The parser is written in Rust."}, context)
        recalled: Any = await call("recall", {"query": "parser Rust"}, context)
        health: Any = await call("health_check", {}, context)
    assert [memory.content for memory in recalled.memories] == ["The parser is written in Rust."]
    assert "all-MiniLM-L6-v2 is no longer part of scrubjay" in health.components["embedding"].problem
