"""Remembering, recalling and forgetting, below the tools."""

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
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.memory.models import MemoryFilter, Stored, Updated
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.rebuild import Rebuilder
from scrubjay.features.memory.recall import Wish
from scrubjay.features.memory.service import Draft, MemoryService
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.embedding import Embedder
from scrubjay.models.static_model import StaticEmbedder

EVERYBODY = Visibility()
ANYTHING = MemoryFilter()


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def always(store: SqliteStore, embedder: Embedder) -> ModelsInUse:
    """The models of a store in which no call has chosen one."""
    return ModelsInUse(store.embeddings, EmbeddingChoice(), lambda choice: embedder)


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncGenerator[MemoryService]:
    store = await SqliteStore.open(tmp_path)
    yield MemoryService(store.memories, always(store, StaticEmbedder()), clock=Clock())
    await store.close()


async def contents(memory: MemoryService, query: str, threshold: float = 0.1) -> list[str]:
    found = await memory.recall(query, EVERYBODY, ANYTHING, Wish(limit=10, threshold=threshold))
    return [hit.memory.content for hit in found.hits]


async def test_without_a_project_a_memory_is_global(memory: MemoryService) -> None:
    (outcome,) = await memory.remember([Draft(content="Water boils at 100 degrees.")], None)
    assert isinstance(outcome, Stored)
    assert (outcome.memory.scope, outcome.memory.project_id) == (Scope.GLOBAL, None)


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        (Draft(content="x", scope=Scope.PROJECT), "no project is active"),
        (Draft(content="x", scope=Scope.SESSION), "needs a session_id"),
    ],
)
async def test_a_scope_that_has_no_place_is_refused(memory: MemoryService, draft: Draft, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        await memory.remember([draft], None)


async def test_a_changed_memory_is_found_by_its_new_words_and_not_by_the_old(memory: MemoryService) -> None:
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


async def test_one_key_twice_in_one_batch_keeps_the_later(memory: MemoryService) -> None:
    outcomes = await memory.remember([Draft(content="Plan A.", key="plan"), Draft(content="Plan B.", key="plan")], None)
    assert [type(outcome) for outcome in outcomes] == [Stored, Updated]
    assert await contents(memory, "plan") == ["Plan B."]


async def test_the_labels_of_a_memory_find_it(memory: MemoryService) -> None:
    await memory.remember([Draft(content="It was raining.", speaker="Ada", category="weather", tags=("london",))], None)
    for word in ("ada", "weather", "london"):
        assert await contents(memory, word) == ["It was raining."]


async def test_an_answer_counts_what_it_considered_and_left_out(memory: MemoryService) -> None:
    await memory.remember([Draft(content=f"Note {number} about gardening.") for number in range(5)], None)
    found = await memory.recall("gardening", EVERYBODY, ANYTHING, Wish(limit=2, threshold=0.0))
    assert (len(found.hits), found.considered, found.below_threshold) == (2, 5, 0)
    strict = await memory.recall("gardening in winter", EVERYBODY, ANYTHING, Wish(limit=2, threshold=1.0))
    assert (strict.hits, strict.considered, strict.below_threshold) == ([], 5, 5)


async def test_a_key_used_in_two_scopes_is_not_forgotten_by_guess(memory: MemoryService) -> None:
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


async def test_what_cannot_be_seen_cannot_be_forgotten(memory: MemoryService) -> None:
    (kept,) = await memory.remember([Draft(content="x", scope=Scope.SESSION, session_id="s")], None)
    with pytest.raises(NotFound):
        await memory.forget(kept.memory.id, EVERYBODY)
    assert (await memory.forget(kept.memory.id, Visibility(session_id="s"))).id == kept.memory.id


class ListeningEmbedder(StaticEmbedder):
    """Knows what it was asked, under any name."""

    def __init__(self, model: str) -> None:
        super().__init__()
        self.model = model
        self.heard: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        self.heard += texts
        return await super().embed(texts)


@pytest.mark.parametrize(
    ("model", "asked"), [("static-v1", "Where did Ann grow up?"), ("reads-context", "Where did you grow up?")]
)
async def test_060_a_model_that_reads_context_is_asked_as_the_speaker_would_be(
    tmp_path: Path, model: str, asked: str
) -> None:
    store = await SqliteStore.open(tmp_path)
    embedder = ListeningEmbedder(model)
    memory = MemoryService(store.memories, always(store, embedder), clock=Clock())
    await memory.remember([Draft(content="I grew up in Bath.", speaker="Ann")], None)
    assert await contents(memory, "Where did Ann grow up?") == ["I grew up in Bath."]
    assert embedder.heard == ["I grew up in Bath.", asked]
    await store.close()


class FailingEmbedder(StaticEmbedder):
    """The bundled model behind a service that can fail."""

    failure: Exception | None = None

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        if self.failure is not None:
            raise self.failure
        return await super().embed(texts)


@pytest.fixture
async def failing(tmp_path: Path) -> AsyncGenerator[tuple[MemoryService, FailingEmbedder, SqliteStore]]:
    store = await SqliteStore.open(tmp_path)
    embedder = FailingEmbedder()
    yield MemoryService(store.memories, always(store, embedder), clock=Clock()), embedder, store
    await store.close()


@pytest.mark.parametrize("failure", [Unavailable("the service is down"), InvalidRequest("too long for the service")])
async def test_059_without_an_embedder_words_are_searched_and_the_answer_says_so(
    failing: tuple[MemoryService, FailingEmbedder, SqliteStore], failure: Exception
) -> None:
    memory, embedder, _ = failing
    await memory.remember([Draft(content="The parser is written by hand.")], None)
    assert (await memory.recall("parser", EVERYBODY, ANYTHING, Wish(limit=1, threshold=0))).degraded is None
    embedder.failure = failure
    found = await memory.recall("hand-written parser", EVERYBODY, ANYTHING, Wish(limit=1, threshold=0))
    assert [hit.memory.content for hit in found.hits] == ["The parser is written by hand."]
    assert found.degraded == f"searched by words only: {failure}"


async def test_059_an_embedder_that_hangs_is_not_waited_for(
    failing: tuple[MemoryService, FailingEmbedder, SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, embedder, _ = failing
    await memory.remember([Draft(content="The parser is written by hand.")], None)

    async def hang(texts: Sequence[str]) -> Sequence[bytes]:
        await anyio.sleep_forever()
        return []

    monkeypatch.setattr(embedder, "embed", hang)
    monkeypatch.setattr(question_vector, "LOCAL_PATIENCE_SECONDS", 0.05)
    found = await memory.recall("parser", EVERYBODY, ANYTHING, Wish(limit=1, threshold=0))
    assert [hit.memory.content for hit in found.hits] == ["The parser is written by hand."]
    assert found.degraded == "searched by words only: static-v1 did not answer within 0.05 s"


async def test_what_is_remembered_without_an_embedder_is_kept_and_gets_its_meaning_by_a_rebuild(
    failing: tuple[MemoryService, FailingEmbedder, SqliteStore],
) -> None:
    memory, embedder, store = failing
    await memory.remember([Draft(content="The customer was furious.")], None)
    embedder.failure = Unavailable("the service is down")
    await memory.remember([Draft(content="Bread is baked on Sundays.")], None)
    assert await contents(memory, "bread", threshold=0) == ["Bread is baked on Sundays."]
    rebuilder = Rebuilder(store.memories, memory)
    with pytest.raises(Unavailable, match="the service is down"):  # or good vectors would be lost
        await rebuilder.rebuild(Silent(), resume=False)
    embedder.failure = None
    assert (await store.memories.counts()).vectors == {"static-v1": 1}
    await rebuilder.rebuild(Silent(), resume=False)
    assert (await store.memories.counts()).vectors == {"static-v1": 2}


class Silent:
    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        pass


SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


async def test_051_secrets_are_not_kept_and_the_memory_says_what_was_left_out(memory: MemoryService) -> None:
    draft = Draft(
        content=f"The token is {SECRET}, ask Ada.", metadata={"note": SECRET}, details={"api_key": "hunter2!x9"}
    )
    (outcome,) = await memory.remember([draft], None)
    kept = outcome.memory
    assert SECRET not in repr(kept)
    assert "hunter2" not in repr(kept)
    assert kept.content == "The token is [secret: github token], ask Ada."
    assert kept.provenance == {"masked": ["github token"]}
    assert await contents(memory, "what is the token?") == [kept.content]
    (again,) = await memory.remember([Draft(content="The token is gone.", key="k")], None)
    assert again.memory.provenance == {}


async def test_where_secrets_are_refused_nothing_of_the_call_is_kept(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path)
    memory = MemoryService(store.memories, always(store, StaticEmbedder()), secrets=SecretsPolicy.REFUSE)
    with pytest.raises(InvalidRequest, match="looks like a secret") as refused:
        await memory.remember([Draft(content="fine"), Draft(content=f"token {SECRET}")], None)
    assert SECRET not in repr(refused.value.record)
    with pytest.raises(InvalidRequest, match="looks like a secret"):
        await memory.remember([Draft(content="fine", metadata={"password": "hunter2!x9"})], None)
    assert (await store.memories.counts()).memories == 0
    await store.close()


async def test_where_secrets_may_be_kept_they_are(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path)
    memory = MemoryService(store.memories, always(store, StaticEmbedder()), secrets=SecretsPolicy.KEEP)
    (outcome,) = await memory.remember([Draft(content=f"token {SECRET}")], None)
    assert outcome.memory.content == f"token {SECRET}"
    await store.close()


async def test_what_was_true_then_is_recalled_as_of_then(memory: MemoryService) -> None:
    first, second = datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)
    await memory.remember([Draft(content="Ada lives in Rome.", subject="Ada's  Home", valid_from=first)], None)
    (outcome,) = await memory.remember(
        [Draft(content="Ada lives in Oslo.", subject="ada's home", valid_from=second)], None
    )
    assert len(outcome.superseded) == 1

    async def home(as_of: datetime | None) -> list[str]:
        wanted = MemoryFilter(as_of=as_of)
        found = await memory.recall("where does Ada live?", EVERYBODY, wanted, Wish(limit=10, threshold=0.1))
        return [hit.memory.content for hit in found.hits]

    assert await home(None) == ["Ada lives in Oslo."]
    assert await home(datetime(2022, 1, 1, tzinfo=UTC)) == ["Ada lives in Rome."]
    assert await home(datetime(2019, 1, 1, tzinfo=UTC)) == []


async def test_a_call_is_told_from_another_by_all_that_it_says(memory: MemoryService) -> None:
    draft = Draft(content="once")
    first = await memory.remember_once([draft], None, "client", "key")
    assert (await memory.remember_once([Draft(content="once")], None, "client", "key")).receipts == first.receipts
    for other in ([Draft(content="twice")], [draft, draft], [Draft(content="once", given=frozenset({"tags"}))]):
        with pytest.raises(Conflict):
            await memory.remember_once(other, None, "client", "key")
    with pytest.raises(Conflict):
        await memory.remember_once([draft], "prj_other", "client", "key")


async def test_014_a_client_keeps_no_more_than_it_may_and_others_are_not_counted(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path)
    quota = Quota(memories_per_client=2, writes_per_minute=4)
    memory = MemoryService(store.memories, always(store, StaticEmbedder()), quota=quota)

    async def keep(client: str, *contents: str, key: str | None = None) -> None:
        drafts = [Draft(content=content, key=key, provenance={"client": client}) for content in contents]
        await memory.remember(drafts, None)

    await keep("ada", "one", key="k")
    with pytest.raises(QuotaExceeded):
        await keep("ada", "two", "three")
    await keep("ada", "one, changed", key="k")
    await keep("bob", "two", "three")
    assert (await store.memories.counts()).memories == 4  # a version of the first one too
    await keep("ada", "four")
    with pytest.raises(RateLimited):
        await keep("ada", "five")
    await store.close()


async def test_060_a_question_that_names_an_event_means_the_time_before_or_after_it(memory: MemoryService) -> None:
    day = datetime(2025, 5, 1, tzinfo=UTC)
    happened = ["We chose the blue logo.", "The big release went out.", "We chose the green logo.", "Lunch was soup."]
    drafts = [Draft(content=text, occurred_at=day + timedelta(days=30 * place)) for place, text in enumerate(happened)]
    await memory.remember(drafts, None)

    async def logos(query: str) -> list[str]:
        return [found for found in await contents(memory, query) if "logo" in found]

    assert await logos("Which logo did we choose before the big release?") == [happened[0], happened[2]]
    assert await logos("Which logo did we choose after the big release?") == [happened[2], happened[0]]
    unknown = await logos("Which logo did we choose after the great flood?")
    assert unknown == await logos("Which logo did we choose before the great flood?")
