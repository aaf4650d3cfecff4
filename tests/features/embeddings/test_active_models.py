"""Which embedder answers is read from the store, and used only as far as this process may."""

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
from scrubjay.features.embeddings.active_models import ModelsInUse
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


class Named(StaticEmbedder):
    """The bundled model under the name of what was chosen."""

    def __init__(self, choice: EmbeddingChoice) -> None:
        super().__init__()
        self.choice = choice
        self.model = f"{choice.provider}/{choice.model}"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = await SqliteStore.open(tmp_path)
    yield store
    await store.close()


def chosen(choice: dict[str, Any] | None, model: str = "vllm/m", change_id: str = "change_1") -> ChosenModel:
    return ChosenModel(choice=choice, model=model, dimensions=256, change_id=change_id)


async def choose(store: SqliteStore, choice: dict[str, Any] | None, change_id: str = "change_1") -> None:
    await store.embeddings.begin(chosen(choice, change_id=change_id))
    assert await store.embeddings.complete(change_id)


VLLM = {"provider": "vllm", "model": "m", "base_url": "http://127.0.0.1:1", "batch_size": 7}


async def test_the_settings_hold_until_a_call_chooses_and_after_it_goes_back(store: SqliteStore) -> None:
    settings = EmbeddingChoice(provider="ollama", model="s", pace=Pace(retries=1))
    models = ModelsInUse(store.embeddings, settings, Named)
    first = await models.now()
    assert (first.answering.choice, first.answering.embedder.model, first.coming) == (settings, "ollama/s", None)
    assert await models.now() is first
    await choose(store, VLLM)
    second = await models.now()
    assert second.answering.choice == EmbeddingChoice(
        provider="vllm", model="m", base_url="http://127.0.0.1:1", pace=Pace(retries=1, batch_size=7)
    )
    await choose(store, None, "change_2")
    assert (await models.now()).answering is first.answering


async def test_a_model_is_coming_only_while_its_job_is_at_work(store: SqliteStore) -> None:
    models = ModelsInUse(store.embeddings, EmbeddingChoice(), Named)
    await store.embeddings.begin(chosen(VLLM))
    assert (await models.now()).coming is None
    job = await store.jobs.add("embed_memories", {}, owner="me")
    await store.embeddings.claim("change_1", job.id)
    coming = (await models.now()).coming
    assert coming is not None
    assert coming.embedder.model == "vllm/m"
    await store.jobs.release(job.id, "me")
    assert (await models.now()).coming is coming  # another process will go on with it
    await store.jobs.request_cancel(job.id)
    assert (await models.now()).coming is None


async def test_the_settings_of_another_process_are_not_taken_for_ours(store: SqliteStore) -> None:
    models = ModelsInUse(store.embeddings, EmbeddingChoice(provider="ollama", model="ours"), Named)
    job = await store.jobs.add("embed_memories", {}, owner="me")
    await store.embeddings.begin(chosen(None, model="ollama/theirs"))
    await store.embeddings.claim("change_1", job.id)
    assert (await models.now()).coming is None


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (VLLM, "callers may not have texts sent to 127.0.0.1"),
        ({"provider": "openai", "api_key_env": "HOME", "batch_size": 1}, "callers may not have the content of HOME"),
        ({"provider": "from the future", "batch_size": 1}, "this version does not know the embedding provider"),
    ],
)
async def test_what_this_process_may_not_use_is_unavailable_in_it(
    store: SqliteStore, choice: dict[str, Any], said: str
) -> None:
    await choose(store, choice)
    models = ModelsInUse(
        store.embeddings, EmbeddingChoice(), lambda choice: pytest.fail("made"), rights=CallerRights(addresses=())
    )
    with pytest.raises(Unavailable, match=said):
        await (await models.now()).answering.embedder.embed(["text"])


async def test_settings_that_cannot_work_are_unavailable_too(store: SqliteStore) -> None:
    def make(choice: EmbeddingChoice) -> Embedder:
        raise Misconfigured("a key is needed")

    models = ModelsInUse(store.embeddings, EmbeddingChoice(provider="openai"), make)
    embedder = (await models.now()).answering.embedder
    assert (embedder.model, embedder.dimensions) == ("openai/text-embedding-3-small", 1536)
    with pytest.raises(Unavailable, match="a key is needed"):
        await embedder.embed(["text"])


async def test_what_was_kept_while_the_model_changed_gets_its_vector(store: SqliteStore) -> None:
    models = ModelsInUse(store.embeddings, EmbeddingChoice(provider="ollama", model="s"), Named)
    had = await models.now()
    await choose(store, VLLM)
    (outcome,) = await store.memories.put([write("a text", model="ollama/s")])
    await models.make_up([outcome.memory], had)
    assert await store.embeddings.count_lacking("vllm/m", 256) == 0
    await models.make_up([memory("never kept")], await models.now())  # it has what it needs
    assert await store.embeddings.count_lacking("vllm/m", 256) == 0


async def test_what_cannot_be_made_up_for_at_once_is_left_for_later(store: SqliteStore) -> None:
    models = ModelsInUse(
        store.embeddings, EmbeddingChoice(provider="ollama", model="s"), Named, rights=CallerRights(addresses=())
    )
    had = await models.now()
    await choose(store, VLLM)
    (outcome,) = await store.memories.put([write("a text", model="ollama/s")])
    await models.make_up([outcome.memory], had)
    assert await store.embeddings.count_lacking("vllm/m", 256) == 1


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


async def test_a_stored_choice_of_the_removed_minilm_is_unavailable_and_says_what_to_use(store: SqliteStore) -> None:
    await choose(store, {"provider": "local", "model": "all-MiniLM-L6-v2", "batch_size": 32})
    make = partial(embedder_for, environment={}, cache=VectorCache(0))
    embedder = (await ModelsInUse(store.embeddings, EmbeddingChoice(), make).now()).answering.embedder
    with pytest.raises(Unavailable) as caught:
        await embedder.embed(["text"])
    assert caught.value.message == "all-MiniLM-L6-v2 is no longer part of scrubjay"
    assert "set provider to onnx" in (caught.value.hint or "")
    assert caught.value.details == {"reason": "misconfigured"}


async def test_the_removed_minilm_in_the_settings_is_a_health_problem_and_recall_goes_on_by_words(
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
