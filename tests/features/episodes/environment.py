"""The episode services over a store, with a manual clock and the built-in embedding model."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.policies import SecretsPolicy
from scrubjay.core.scopes import Visibility
from scrubjay.core.write_rules import WritingRules
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.embeddings.models import QueryEmbedding, TextEmbeddings
from scrubjay.features.embeddings.text_embedder import TextEmbedder
from scrubjay.features.episodes.models import (
    Episode,
    Learner,
    Outcome,
    ResultType,
    StepDetails,
    StepResult,
    SuccessOutcome,
    TaskType,
)
from scrubjay.features.episodes.search import EpisodeQueries
from scrubjay.features.episodes.service import EpisodeService, NewEpisode
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.secret_policy import guard, guard_data
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.static_model import StaticEmbedder
from tests.contracts.samples import ManualClock

GLOBAL = Visibility()


class UnavailableModel:
    """An embedding source whose model is unavailable."""

    async def embed_query(self, text: str) -> QueryEmbedding:
        problem = "searched by words only: the model is gone"
        return QueryEmbedding(
            vector=b"", model="static-v1", dimensions=256, provider="local", contextual=False, problem=problem
        )

    async def embed_texts(self, texts: Sequence[str]) -> TextEmbeddings:
        return TextEmbeddings("", [b""] * len(texts))


class EpisodeEnvironment:
    """The episode services of one process over a store."""

    def __init__(
        self,
        store: SqliteStore,
        clock: ManualClock,
        *,
        learner: Learner | None = None,
        secrets: SecretsPolicy = SecretsPolicy.MASK,
        meanings: UnavailableModel | None = None,
        quota: Quota | None = None,
    ) -> None:
        models = ModelRegistry(store.embeddings, EmbeddingChoice(), lambda choice: StaticEmbedder())
        quota = quota or Quota()
        rules = WritingRules(
            guard=partial(guard, policy=secrets),
            guard_data=partial(guard_data, policy=secrets),
            admit=quota.admit,
            allowance=quota.allowance,
        )
        self.store, self.clock = store, clock
        self.meanings = meanings or TextEmbedder(models)
        self.service = EpisodeService(store.episodes, rules, self.meanings, learner=learner, clock=clock)
        self.queries = EpisodeQueries(store.episodes, self.meanings, learner=learner, clock=clock)

    async def begin(self, task: str = "Fix the login", project_id: str | None = None, **fields: Any) -> str:
        defaults: dict[str, Any] = {"task_description": task, "domain": "web-api", "task_type": TaskType.DEBUGGING}
        return (await self.service.create(NewEpisode(**(defaults | fields)), project_id, "ada")).episode.episode_id

    async def add_step(self, episode_id: str, number: int, outcome: str = "+", **fields: Any) -> bool:
        kind = ResultType.SUCCESS if outcome == "+" else ResultType.ERROR
        defaults: dict[str, Any] = {"step_number": number, "tool": "grep", "action": f"action {number}"}
        defaults["result"] = StepResult(type=kind)
        new = StepDetails(**(defaults | fields))
        return (await self.service.add_step(GLOBAL, episode_id, new, "ada")).is_new

    async def end(self, episode_id: str, outcome: Outcome | None = None, to: Visibility = GLOBAL) -> Episode:
        done = await self.service.complete(to, episode_id, outcome or SuccessOutcome(verdict="It works"), "ada")
        return done.episode

    async def add_completed(
        self,
        task: str,
        verdict: str = "It works",
        *,
        seconds: float = 60,
        outcome: Outcome | None = None,
        **fields: Any,
    ) -> str:
        """Create and complete an episode; return its id."""
        episode_id = await self.begin(task, **fields)
        self.clock.now += timedelta(seconds=seconds)
        await self.end(episode_id, outcome or SuccessOutcome(verdict=verdict), Visibility(fields.get("project_id")))
        return episode_id

    async def get(self, episode_id: str) -> Episode:
        return await self.service.get(GLOBAL, episode_id)


MakeEnvironment = Callable[..., EpisodeEnvironment]
