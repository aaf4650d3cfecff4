"""A store with the services of episodes over it, one clock, and the real model."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.policies import SecretsPolicy
from scrubjay.core.scopes import Visibility
from scrubjay.core.write_rules import WritingRules
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.embeddings.models import MadeMeanings, QuestionMeaning
from scrubjay.features.embeddings.text_embedder import Meanings
from scrubjay.features.episodes.models import Episode, Learner, Outcome, ResultType, StepResult, Success, TaskType
from scrubjay.features.episodes.search import EpisodeQueries
from scrubjay.features.episodes.service import EpisodeService, NewEpisode, NewStep
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.secret_policy import guard, guard_data
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.static_model import StaticEmbedder
from tests.contracts.samples import ManualClock

EVERYBODY = Visibility()


class ModelGone:
    """No meaning can be had."""

    async def question(self, text: str) -> QuestionMeaning:
        problem = "searched by words only: the model is gone"
        return QuestionMeaning(
            vector=b"", model="static-v1", dimensions=256, provider="local", contextual=False, problem=problem
        )

    async def texts(self, texts: Sequence[str]) -> MadeMeanings:
        return MadeMeanings("", [b""] * len(texts))


class House:
    """What one process has of a store."""

    def __init__(
        self,
        store: SqliteStore,
        clock: ManualClock,
        *,
        learner: Learner | None = None,
        secrets: SecretsPolicy = SecretsPolicy.MASK,
        meanings: ModelGone | None = None,
        quota: Quota | None = None,
    ) -> None:
        models = ModelsInUse(store.embeddings, EmbeddingChoice(), lambda choice: StaticEmbedder())
        quota = quota or Quota()
        rules = WritingRules(
            guard=partial(guard, policy=secrets),
            guard_data=partial(guard_data, policy=secrets),
            admit=quota.admit,
            allowance=quota.allowance,
        )
        self.store, self.clock = store, clock
        self.meanings = meanings or Meanings(models)
        self.service = EpisodeService(store.episodes, rules, self.meanings, learner=learner, clock=clock)
        self.queries = EpisodeQueries(store.episodes, self.meanings, learner=learner, clock=clock)

    async def begin(self, task: str = "Fix the login", project_id: str | None = None, **fields: Any) -> str:
        plain: dict[str, Any] = {"task_description": task, "domain": "web-api", "task_type": TaskType.DEBUGGING}
        return (await self.service.create(NewEpisode(**(plain | fields)), project_id, "ada")).episode.episode_id

    async def tell(self, episode_id: str, number: int, outcome: str = "+", **fields: Any) -> bool:
        kind = ResultType.SUCCESS if outcome == "+" else ResultType.ERROR
        plain: dict[str, Any] = {"step_number": number, "tool": "grep", "action": f"action {number}"}
        plain["result"] = StepResult(type=kind)
        new = NewStep(**(plain | fields))
        return (await self.service.add_step(EVERYBODY, episode_id, new, "ada")).is_new

    async def end(self, episode_id: str, outcome: Outcome | None = None, to: Visibility = EVERYBODY) -> Episode:
        done = await self.service.complete(to, episode_id, outcome or Success(verdict="It works"), "ada")
        return done.episode

    async def done(
        self,
        task: str,
        verdict: str = "It works",
        *,
        seconds: float = 60,
        outcome: Outcome | None = None,
        **fields: Any,
    ) -> str:
        """One that was begun, told and completed."""
        episode_id = await self.begin(task, **fields)
        self.clock.now += timedelta(seconds=seconds)
        await self.end(episode_id, outcome or Success(verdict=verdict), Visibility(fields.get("project_id")))
        return episode_id

    async def get(self, episode_id: str) -> Episode:
        return await self.service.get(EVERYBODY, episode_id)


MakeHouse = Callable[..., House]
