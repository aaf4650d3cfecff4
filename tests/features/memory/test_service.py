"""Storing, recalling and forgetting memories, tested at the service."""

from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Conflict, InvalidRequest, NotFound, QuotaExceeded, RateLimited, Unavailable
from scrubjay.core.policies import SecretsPolicy
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.embeddings import question_vector
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.models import MemoryFilter
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.rebuild import Rebuilder
from scrubjay.features.memory.recall import RecallOptions
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.memory.writes import Stored, Updated
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.embedding import Embedder
from scrubjay.models.static_model import StaticEmbedder

GLOBAL = Visibility()
ANYTHING = MemoryFilter()


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def model_registry(store: SqliteStore, embedder: Embedder) -> ModelRegistry:
    """Return the model registry of a store, with this embedder as its default."""
    return ModelRegistry(store.embeddings, EmbeddingChoice(), lambda choice: embedder)


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncGenerator[MemoryService]:
    store = await SqliteStore.open(tmp_path)
    yield MemoryService(store.memories, model_registry(store, StaticEmbedder()), clock=Clock())
    await store.close()


async def contents(memory: MemoryService, query: str, threshold: float = 0.1) -> list[str]:
    found = await memory.recall(query, GLOBAL, ANYTHING, RecallOptions(limit=10, threshold=threshold))
    return [hit.memory.content for hit in found.hits]


async def test_without_a_project_a_memory_is_global(memory: MemoryService) -> None:
    (outcome,) = await memory.remember([Draft(content="Water boils at 100 degrees.")], None)
    assert isinstance(outcome, Stored)
    assert (outcome.memory.scope, outcome.memory.project_id) == (Scope.GLOBAL, None)


@pytest.mark.parametrize(
    ("draft", "message"),
    [
        (Draft(content="x", scope=Scope.PROJECT), "no project is active"),
        (Draft(content="x", scope=Scope.SESSION), "needs a session_id"),
    ],
)
async def test_a_scope_without_its_project_or_session_is_refused(
    memory: MemoryService, draft: Draft, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        await memory.remember([draft], None)


async def test_an_updated_memory_is_found_by_its_new_words_only(memory: MemoryService) -> None:
    draft = Draft(
        content="The office plant is a ficus.", key="plant", tags=("green",), given=frozenset({"key", "tags"})
    )
    (first,) = await memory.remember([draft], None)
    (second,) = await memory.remember(
        [Draft(content="We have a cactus now.", key="plant", given=frozenset({"key"}))], None
    )
    assert isinstance(second, Updated)
    assert second.memory.id == first.memory.id
    assert second.memory.recorded_at == first.memory.recorded_at
    assert second.memory.updated_at > first.memory.updated_at
    assert await contents(memory, "cactus") == ["We have a cactus now."]
    assert await contents(memory, "ficus", threshold=0.3) == []
    assert await contents(memory, "green") == ["We have a cactus now."]


async def test_the_later_of_two_writes_with_one_key_in_a_batch_wins(memory: MemoryService) -> None:
    outcomes = await memory.remember([Draft(content="Plan A.", key="plan"), Draft(content="Plan B.", key="plan")], None)
    assert [type(outcome) for outcome in outcomes] == [Stored, Updated]
    assert await contents(memory, "plan") == ["Plan B."]


async def test_a_memory_is_found_by_its_labels(memory: MemoryService) -> None:
    await memory.remember([Draft(content="It was raining.", speaker="Ada", category="weather", tags=("london",))], None)
    for word in ("ada", "weather", "london"):
        assert await contents(memory, word) == ["It was raining."]


async def test_recall_reports_considered_and_omitted_candidates(memory: MemoryService) -> None:
    await memory.remember([Draft(content=f"Note {number} about gardening.") for number in range(5)], None)
    found = await memory.recall("gardening", GLOBAL, ANYTHING, RecallOptions(limit=2, threshold=0.0))
    assert (len(found.hits), found.considered, found.below_threshold) == (2, 5, 0)
    strict = await memory.recall("gardening in winter", GLOBAL, ANYTHING, RecallOptions(limit=2, threshold=1.0))
    assert (strict.hits, strict.considered, strict.below_threshold) == ([], 5, 5)


async def test_forgetting_a_key_used_in_two_scopes_is_refused(memory: MemoryService) -> None:
    drafts = [
        Draft(content="a", key="k", scope=Scope.GLOBAL),
        Draft(content="b", key="k", scope=Scope.SESSION, session_id="s"),
    ]
    await memory.remember(drafts, None)
    visibility = Visibility(session_id="s")
    with pytest.raises(InvalidRequest, match="several scopes"):
        await memory.forget_key("k", visibility, None)
    assert (await memory.forget_key("k", visibility, Scope.SESSION)).content == "b"
    assert (await memory.forget_key("k", visibility, None)).content == "a"


async def test_an_invisible_memory_cannot_be_forgotten(memory: MemoryService) -> None:
    (outcome,) = await memory.remember([Draft(content="x", scope=Scope.SESSION, session_id="s")], None)
    with pytest.raises(NotFound):
        await memory.forget(outcome.memory.id, GLOBAL)
    assert (await memory.forget(outcome.memory.id, Visibility(session_id="s"))).id == outcome.memory.id


class RecordingEmbedder(StaticEmbedder):
    """The bundled model under any name; records the texts it embeds."""

    def __init__(self, model: str) -> None:
        super().__init__()
        self.model = model
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        self.texts += texts
        return await super().embed(texts)


@pytest.mark.parametrize(
    ("model", "embedded"), [("static-v1", "Where did Ann grow up?"), ("reads-context", "Where did you grow up?")]
)
async def test_060_a_contextual_model_gets_the_question_in_the_second_person(
    tmp_path: Path, model: str, embedded: str
) -> None:
    store = await SqliteStore.open(tmp_path)
    embedder = RecordingEmbedder(model)
    memory = MemoryService(store.memories, model_registry(store, embedder), clock=Clock())
    await memory.remember([Draft(content="I grew up in Bath.", speaker="Ann")], None)
    assert await contents(memory, "Where did Ann grow up?") == ["I grew up in Bath."]
    assert embedder.texts == ["I grew up in Bath.", embedded]
    await store.close()


class FailingEmbedder(StaticEmbedder):
    """The bundled model, which fails while `failure` is set."""

    failure: Exception | None = None

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        if self.failure is not None:
            raise self.failure
        return await super().embed(texts)


@pytest.fixture
async def failing(tmp_path: Path) -> AsyncGenerator[tuple[MemoryService, FailingEmbedder, SqliteStore]]:
    store = await SqliteStore.open(tmp_path)
    embedder = FailingEmbedder()
    yield MemoryService(store.memories, model_registry(store, embedder), clock=Clock()), embedder, store
    await store.close()


@pytest.mark.parametrize("failure", [Unavailable("the service is down"), InvalidRequest("too long for the service")])
async def test_059_without_an_embedder_recall_searches_words_and_reports_it(
    failing: tuple[MemoryService, FailingEmbedder, SqliteStore], failure: Exception
) -> None:
    memory, embedder, _ = failing
    await memory.remember([Draft(content="The parser is written by hand.")], None)
    assert (await memory.recall("parser", GLOBAL, ANYTHING, RecallOptions(limit=1, threshold=0))).degraded is None
    embedder.failure = failure
    found = await memory.recall("hand-written parser", GLOBAL, ANYTHING, RecallOptions(limit=1, threshold=0))
    assert [hit.memory.content for hit in found.hits] == ["The parser is written by hand."]
    assert found.degraded == f"searched by words only: {failure}"


async def test_059_recall_does_not_wait_for_a_hanging_embedder(
    failing: tuple[MemoryService, FailingEmbedder, SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, embedder, _ = failing
    await memory.remember([Draft(content="The parser is written by hand.")], None)

    async def hang(texts: Sequence[str]) -> Sequence[bytes]:
        await anyio.sleep_forever()
        return []

    monkeypatch.setattr(embedder, "embed", hang)
    monkeypatch.setattr(question_vector, "LOCAL_TIMEOUT_SECONDS", 0.05)
    found = await memory.recall("parser", GLOBAL, ANYTHING, RecallOptions(limit=1, threshold=0))
    assert [hit.memory.content for hit in found.hits] == ["The parser is written by hand."]
    assert found.degraded == "searched by words only: static-v1 did not answer within 0.05 s"


async def test_a_memory_stored_without_an_embedder_gets_its_vector_by_a_rebuild(
    failing: tuple[MemoryService, FailingEmbedder, SqliteStore],
) -> None:
    memory, embedder, store = failing
    await memory.remember([Draft(content="The customer was furious.")], None)
    embedder.failure = Unavailable("the service is down")
    await memory.remember([Draft(content="Bread is baked on Sundays.")], None)
    assert await contents(memory, "bread", threshold=0) == ["Bread is baked on Sundays."]
    rebuilder = Rebuilder(store.memories, memory)
    with pytest.raises(Unavailable, match="the service is down"):  # continuing would discard valid vectors
        await rebuilder.rebuild(IgnoredProgress(), resume=False)
    embedder.failure = None
    assert (await store.memories.counts()).vectors == {"static-v1": 1}
    await rebuilder.rebuild(IgnoredProgress(), resume=False)
    assert (await store.memories.counts()).vectors == {"static-v1": 2}


class IgnoredProgress:
    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        pass


SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


async def test_051_secrets_are_masked_and_the_memory_lists_their_kinds(memory: MemoryService) -> None:
    draft = Draft(
        content=f"The token is {SECRET}, ask Ada.", metadata={"note": SECRET}, details={"api_key": "hunter2!x9"}
    )
    (outcome,) = await memory.remember([draft], None)
    stored = outcome.memory
    assert SECRET not in repr(stored)
    assert "hunter2" not in repr(stored)
    assert stored.content == "The token is [secret: github token], ask Ada."
    assert stored.provenance == {"masked": ["github token"]}
    assert await contents(memory, "what is the token?") == [stored.content]
    (again,) = await memory.remember([Draft(content="The token is gone.", key="k")], None)
    assert again.memory.provenance == {}


async def test_the_refuse_policy_stores_nothing_of_the_call(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path)
    memory = MemoryService(store.memories, model_registry(store, StaticEmbedder()), secrets=SecretsPolicy.REFUSE)
    with pytest.raises(InvalidRequest, match="looks like a secret") as refused:
        await memory.remember([Draft(content="fine"), Draft(content=f"token {SECRET}")], None)
    assert SECRET not in repr(refused.value.record)
    with pytest.raises(InvalidRequest, match="looks like a secret"):
        await memory.remember([Draft(content="fine", metadata={"password": "hunter2!x9"})], None)
    assert (await store.memories.counts()).memories == 0
    await store.close()


async def test_the_keep_policy_stores_secrets(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path)
    memory = MemoryService(store.memories, model_registry(store, StaticEmbedder()), secrets=SecretsPolicy.KEEP)
    (outcome,) = await memory.remember([Draft(content=f"token {SECRET}")], None)
    assert outcome.memory.content == f"token {SECRET}"
    await store.close()


async def test_as_of_recalls_memories_valid_at_that_time(memory: MemoryService) -> None:
    first, second = datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)
    await memory.remember([Draft(content="Ada lives in Rome.", subject="Ada's  Home", valid_from=first)], None)
    (outcome,) = await memory.remember(
        [Draft(content="Ada lives in Oslo.", subject="ada's home", valid_from=second)], None
    )
    assert len(outcome.superseded) == 1

    async def home(as_of: datetime | None) -> list[str]:
        only = MemoryFilter(as_of=as_of)
        found = await memory.recall("where does Ada live?", GLOBAL, only, RecallOptions(limit=10, threshold=0.1))
        return [hit.memory.content for hit in found.hits]

    assert await home(None) == ["Ada lives in Oslo."]
    assert await home(datetime(2022, 1, 1, tzinfo=UTC)) == ["Ada lives in Rome."]
    assert await home(datetime(2019, 1, 1, tzinfo=UTC)) == []


async def test_the_digest_of_a_call_depends_on_all_arguments(memory: MemoryService) -> None:
    draft = Draft(content="once")
    first = await memory.remember_once([draft], None, "client", "key")
    assert (await memory.remember_once([Draft(content="once")], None, "client", "key")).receipts == first.receipts
    for other in ([Draft(content="twice")], [draft, draft], [Draft(content="once", given=frozenset({"tags"}))]):
        with pytest.raises(Conflict):
            await memory.remember_once(other, None, "client", "key")
    with pytest.raises(Conflict):
        await memory.remember_once([draft], "prj_other", "client", "key")


async def test_014_the_memory_quota_of_a_client_ignores_other_clients(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path)
    quota = Quota(memories_per_client=2, writes_per_minute=4)
    memory = MemoryService(store.memories, model_registry(store, StaticEmbedder()), quota=quota)

    async def remember(client: str, *contents: str, key: str | None = None) -> None:
        drafts = [Draft(content=content, key=key, provenance={"client": client}) for content in contents]
        await memory.remember(drafts, None)

    await remember("ada", "one", key="k")
    with pytest.raises(QuotaExceeded):
        await remember("ada", "two", "three")
    await remember("ada", "one, changed", key="k")
    await remember("bob", "two", "three")
    assert (await store.memories.counts()).memories == 4  # including the earlier version of the first memory
    await remember("ada", "four")
    with pytest.raises(RateLimited):
        await remember("ada", "five")
    await store.close()


async def test_060_a_question_with_an_event_searches_the_time_before_or_after_it(memory: MemoryService) -> None:
    day = datetime(2025, 5, 1, tzinfo=UTC)
    events = ["We chose the blue logo.", "The big release went out.", "We chose the green logo.", "Lunch was soup."]
    drafts = [Draft(content=text, occurred_at=day + timedelta(days=30 * place)) for place, text in enumerate(events)]
    await memory.remember(drafts, None)

    async def logos(query: str) -> list[str]:
        return [found for found in await contents(memory, query) if "logo" in found]

    assert await logos("Which logo did we choose before the big release?") == [events[0], events[2]]
    assert await logos("Which logo did we choose after the big release?") == [events[2], events[0]]
    unknown = await logos("Which logo did we choose after the great flood?")
    assert unknown == await logos("Which logo did we choose before the great flood?")
