"""Remember, recall, forget."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from recollect.domain.errors import InvalidRequest
from recollect.domain.memories import Memory, MemoryFilter, Stored, Updated, WriteOutcome
from recollect.domain.scopes import Scope, Visibility
from recollect.memory.answering import Hit, Order, Wish
from recollect.memory.projects import ProjectService
from recollect.memory.service import Draft, MemoryService, Recollection
from recollect.retrieval.presets import WEIGHTS, Preset
from recollect.retrieval.wording import required_wordings
from recollect.toolkit.context import CallContext
from recollect.toolkit.declaration import Request, Result, examples, tool

MAX_CONTENT = 100_000
MAX_MANY = 10_000
# So many of those that are not relevant enough are told of.
NEAR_MISSES = 3


def _aware(moment: datetime) -> datetime:
    """A time without a zone is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


Label = Annotated[str, Field(min_length=1, max_length=500)]
Share = Annotated[float, Field(ge=0, le=1)]
Moment = Annotated[datetime, AfterValidator(_aware)]
ProjectReference = Annotated[
    Label | None,
    Field(description="The project's path, name or id; by default the active one. See set_project."),
]
# What a draft takes over from a request.
_DRAFTED = frozenset(Draft.__dataclass_fields__)


class NewMemory(Request):
    """One thing to remember."""

    content: str = Field(
        min_length=1, max_length=MAX_CONTENT, description="What to remember, in words that will make sense later."
    )
    category: Label | None = Field(
        default=None, description="A group of your choosing, such as decision or preference."
    )
    importance: Share = Field(default=0.5, description="How much it matters.")
    confidence: Share = Field(default=1.0, description="How sure it is.")
    key: Label | None = Field(
        default=None,
        description="A name of its own: remembering again under the same key in the same scope updates it.",
    )
    scope: Scope | None = Field(
        default=None,
        description="Who can recall it: everybody (global), one project, or only the session session_id. "
        "By default the active project if there is one, else global.",
    )
    session_id: Label | None = Field(default=None, description="The session or conversation that it comes from.")
    occurred_at: Moment | None = Field(
        default=None, description="When it happened (ISO 8601; UTC unless it says otherwise)."
    )
    speaker: Label | None = Field(default=None, description="Who said it.")
    tags: list[Label] = Field(default_factory=list[str], max_length=100, description="Labels to filter by.")
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any], description="Anything else, given back as it is.")

    def draft(self) -> Draft:
        return Draft(
            content=self.content,
            scope=self.scope,
            session_id=self.session_id,
            key=self.key,
            category=self.category,
            importance=self.importance,
            confidence=self.confidence,
            speaker=self.speaker,
            tags=tuple(dict.fromkeys(self.tags)),
            metadata=self.metadata,
            occurred_at=self.occurred_at,
            given=_DRAFTED & self.model_fields_set,
        )


class RememberRequest(NewMemory):
    model_config = examples(
        {"content": "We chose PostgreSQL because the team knows it.", "category": "decision", "key": "database"}
    )

    project: ProjectReference = None


class RememberResult(Result):
    id: str = Field(description="The memory's id, for forget.")
    outcome: Literal["stored", "updated"] = Field(description="updated: the key was known and its memory was changed.")
    scope: Scope = Field(description="Who can recall it.")
    project: str | None = Field(description="The id of the project that it belongs to.")


class RememberManyRequest(Request):
    model_config = examples(
        {"memories": [{"content": "Ada prefers tabs.", "speaker": "Ada"}, {"content": "We deploy on Thursdays."}]}
    )

    memories: list[NewMemory] = Field(
        min_length=1, max_length=MAX_MANY, description="What to remember, in order. All are kept, or none."
    )
    project: ProjectReference = None


class RememberManyResult(Result):
    memories: list[RememberResult] = Field(description="What became of each, in the order given.")
    stored: int = Field(description="How many are new.")
    updated: int = Field(description="How many changed a memory with the same key.")


class RecallRequest(Request):
    model_config = examples(
        {"query": "Which database did we choose, and why?"},
        {"query": "deploy", "category": "decision", "preset": "recent", "token_budget": 500},
    )

    query: str = Field(min_length=1, max_length=10_000, description="What to look for, in plain words.")
    limit: Annotated[int, Field(ge=1, le=100)] | None = Field(
        default=None,
        description="How many memories to return at most; by default 10, or 30 for a question about order, a timeline "
        "or a summary, which wants all about its topic.",
    )
    threshold: Share = Field(
        default=0.05,
        description="Leave out what fits the question less: 0 returns anything that matches at all; above 0.5 almost "
        "only what surely fits.",
    )
    preset: Preset = Field(
        default=Preset.RELEVANT,
        description="What puts fitting memories in order: the question alone (relevant), or also how recent, used, "
        "important and sure they are (balanced, semantic), most of all recency (recent), importance (important) or "
        "use (popular). What does not fit the question is never lifted.",
    )
    order: Order = Field(
        default=Order.AUTO,
        description="score: best first; time: of the best ones the earliest first; auto: by time when the question is "
        "about order, a timeline or how something developed and no limit is given, else by score.",
    )
    diversity: Share = Field(
        default=0, description="Prefer memories that differ from each other: 0 not at all, 1 more than anything else."
    )
    token_budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None,
        description="How many tokens the memories' texts may take together (a token is 4 characters). One that does "
        "not fit is skipped; shorter ones behind it may still come.",
    )
    containing: Annotated[str, Field(min_length=1, max_length=1_000)] | None = Field(
        default=None,
        description='Only what has all of these words, "phrases" and beginnings*, in whichever grammatical form.',
    )
    category: Label | None = Field(default=None, description="Only this category.")
    tags: list[Label] = Field(default_factory=list[str], max_length=100, description="Only with all of these tags.")
    speaker: Label | None = Field(default=None, description="Only what this speaker said.")
    scope: Scope | None = Field(default=None, description="Only memories of this scope.")
    session_id: Label | None = Field(
        default=None, description="The session that asks: its private memories are searched too."
    )
    from_session: Label | None = Field(default=None, description="Only what was remembered in this session.")
    occurred_after: Moment | None = Field(default=None, description="Only what happened then or later (ISO 8601).")
    occurred_before: Moment | None = Field(default=None, description="Only what happened earlier than that (ISO 8601).")
    project: ProjectReference = None
    explain: bool = Field(default=False, description="Say for each memory where its score comes from.")


class SignalView(Result):
    """One reason for a score."""

    signal: str = Field(description="The signal's name, such as words or meaning.")
    raw: float = Field(description="The measure itself: BM25, a cosine, a count.")
    value: float = Field(description="As it counts: compared with the best, with other memories, or with 1.")
    weight: float = Field(description="How much it counts; less than 0 when it speaks against.")
    contribution: float = Field(
        description="What it adds to the score; all of them together are the score, which is never above 1."
    )
    about: str = Field(description="What it says, in words.")


class Explanation(Result):
    """Why a memory has its score."""

    why: str = Field(description="The strongest reasons in words.")
    relevance: float = Field(
        description="How well it fits the question alone, 0 to 1: what the threshold is compared with."
    )
    signals: list[SignalView] = Field(description="Every signal.")


class MemoryView(Result):
    """A memory."""

    id: str
    content: str
    scope: Scope
    project: str | None = Field(description="The id of its project.")
    session_id: str | None
    key: str | None
    category: str | None
    importance: float
    confidence: float
    speaker: str | None
    tags: list[str]
    metadata: dict[str, Any]
    occurred_at: datetime | None
    recorded_at: datetime
    updated_at: datetime


class RecalledMemory(MemoryView):
    score: float = Field(description="How well it fits the question, and the preset if one is asked for; 0 to 1.")
    confirmed: bool = Field(
        description="Whether it says what was asked about. If not it is related, but may be about something else, or "
        "somebody else than the one named said it."
    )
    duplicates: list[str] = Field(description="The ids of memories that say the same and were left out for it.")
    explanation: Explanation | None = Field(description="Where the score comes from, when asked for.")


class SearchExplanation(Result):
    """How an answer was found."""

    threshold: float = Field(description="The least relevance that was wanted.")
    weights: dict[str, float] = Field(
        description="What makes a score: relevance (the sum of all signals of the question), and what the preset adds."
    )
    words: list[str] = Field(description="What was looked for in the text, as the index has it.")
    searched: int = Field(description="How many memories could be seen.")
    near_misses: list[RecalledMemory] = Field(description="The best of those that are not relevant enough.")
    milliseconds: dict[str, float] = Field(description="How long each stage took.")


class RecallResult(Result):
    memories: list[RecalledMemory] = Field(description="What fits, in the order told; empty when nothing does.")
    order: Literal["score", "time"] = Field(description="Whether the best or the earliest memory comes first.")
    considered: int = Field(description="How many candidates were scored.")
    below_threshold: int = Field(description="How many of them were left out because they do not fit well enough.")
    tokens: int = Field(description="How many tokens the texts take together, at 4 characters a token.")
    over_budget: int = Field(description="How many memories were skipped because they did not fit the token_budget.")
    degraded: str | None = Field(description="Why the search was less than it should have been; null when it was not.")
    explanation: SearchExplanation | None = Field(description="How the answer was found, when asked for.")


class ForgetRequest(Request):
    model_config = examples({"key": "database"})

    id: Label | None = Field(default=None, description="The memory's id.")
    key: Label | None = Field(default=None, description="Or the key that it was remembered under.")
    scope: Scope | None = Field(default=None, description="With key: the scope it was used in, if in several.")
    session_id: Label | None = Field(default=None, description="The session, to forget one of its private memories.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _names_one(self) -> "ForgetRequest":
        if (self.id is None) == (self.key is None):
            raise ValueError("give either id or key")
        return self


class ForgetResult(Result):
    forgotten: MemoryView = Field(description="What was erased, for the last time.")


@tool("memory")
async def remember(
    request: RememberRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> RememberResult:
    """Remember a fact, decision, preference or event, durably.

    Use it whenever something should be known later or in another session. Give a key to keep one current value that
    later calls update.
    """
    project_id = await _project_id(request.project, projects, context, make=True)
    (outcome,) = await memory.remember([request.draft()], project_id)
    return _remembered(outcome)


@tool("memory")
async def remember_many(
    request: RememberManyRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> RememberManyResult:
    """Remember many things at once, in one transaction: all are kept, or none."""
    project_id = await _project_id(request.project, projects, context, make=True)
    outcomes = await memory.remember([new.draft() for new in request.memories], project_id)
    updated = sum(isinstance(outcome, Updated) for outcome in outcomes)
    return RememberManyResult(
        memories=[_remembered(outcome) for outcome in outcomes], stored=len(outcomes) - updated, updated=updated
    )


@tool("memory", read_only=True)
async def recall(
    request: RecallRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> RecallResult:
    """Find the memories most relevant to a question, best first.

    Searches by words and by meaning what is global, of the active project, and of the asking session. Ask before you
    assume: an empty answer means that nothing fitting is remembered.
    """
    project_id = await _project_id(request.project, projects, context)
    found = await memory.recall(
        request.query,
        Visibility(project_id, request.session_id or request.from_session),
        MemoryFilter(
            scope=request.scope,
            category=request.category,
            tags=tuple(request.tags),
            speaker=request.speaker,
            from_session=request.from_session,
            occurred_after=request.occurred_after,
            occurred_before=request.occurred_before,
            containing=required_wordings(request.containing) if request.containing is not None else (),
        ),
        Wish(
            limit=request.limit,
            threshold=request.threshold,
            preset=request.preset,
            order=request.order,
            diversity=request.diversity,
            token_budget=request.token_budget,
            near_misses=NEAR_MISSES if request.explain else 0,
        ),
    )
    return RecallResult(
        memories=[_recalled(hit, request.explain) for hit in found.hits],
        order="time" if found.order is Order.TIME else "score",
        considered=found.considered,
        below_threshold=found.below_threshold,
        tokens=found.tokens,
        over_budget=found.over_budget,
        degraded=found.degraded,
        explanation=_search_explanation(found, request) if request.explain else None,
    )


@tool("memory", destructive=True)
async def forget(
    request: ForgetRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> ForgetResult:
    """Erase one memory for good, by its id or its key."""
    visibility = Visibility(await _project_id(request.project, projects, context), request.session_id)
    if request.id is not None:
        forgotten = await memory.forget(request.id, visibility)
    elif request.key is not None:
        forgotten = await memory.forget_key(request.key, visibility, request.scope)
    else:
        raise InvalidRequest("give either id or key")
    return ForgetResult(forgotten=MemoryView(**_fields(forgotten)))


async def _project_id(
    reference: str | None, projects: ProjectService, context: CallContext, *, make: bool = False
) -> str | None:
    if reference is not None:
        return (await projects.find(reference, context.working_directory, make=make)).id
    project = await projects.active(context.client)
    return project.id if project else None


def _remembered(outcome: WriteOutcome) -> RememberResult:
    match outcome:
        case Stored(memory):
            word = "stored"
        case Updated(memory):
            word = "updated"
    return RememberResult(id=memory.id, outcome=word, scope=memory.scope, project=memory.project_id)


def _recalled(hit: Hit, explain: bool) -> RecalledMemory:
    values = _fields(hit.memory)
    values["score"] = hit.score
    values["confirmed"] = hit.confirmed
    values["duplicates"] = [*hit.duplicates]
    values["explanation"] = _explanation(hit) if explain else None
    return RecalledMemory.of(values)


def _explanation(hit: Hit) -> Explanation:
    reasons = hit.explain()
    return Explanation(
        why=reasons.why,
        relevance=hit.relevance,
        signals=[
            SignalView(
                signal=signal.name,
                raw=signal.raw,
                value=signal.value,
                weight=signal.weight,
                contribution=signal.contribution,
                about=signal.about,
            )
            for signal in reasons.signals
        ],
    )


def _search_explanation(found: Recollection, request: RecallRequest) -> SearchExplanation:
    return SearchExplanation(
        threshold=request.threshold,
        weights=dict(WEIGHTS[request.preset]),
        words=list(found.terms),
        searched=found.texts,
        near_misses=[_recalled(hit, explain=True) for hit in found.near_misses],
        milliseconds={stage: round(1000 * seconds, 3) for stage, seconds in found.seconds.items()},
    )


def _fields(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "content": memory.content,
        "scope": memory.scope,
        "project": memory.project_id,
        "session_id": memory.session_id,
        "key": memory.key,
        "category": memory.category,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "speaker": memory.speaker,
        "tags": list(memory.tags),
        "metadata": dict(memory.metadata),
        "occurred_at": memory.occurred_at,
        "recorded_at": memory.recorded_at,
        "updated_at": memory.updated_at,
    }
