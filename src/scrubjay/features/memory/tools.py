"""Remember, recall, forget."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.corrections import Corrections
from scrubjay.features.memory.erasure import Eraser
from scrubjay.features.memory.link_review import LinkReviewer, Reviewed
from scrubjay.features.memory.link_views import CodeView, StaleView, code_view, linked_views, stale_view
from scrubjay.features.memory.links import CodeLink
from scrubjay.features.memory.models import Kind, MemoryFilter, Receipt, receipt_of
from scrubjay.features.memory.ranking.exact_match import required_wordings
from scrubjay.features.memory.ranking.presets import WEIGHTS, Preset
from scrubjay.features.memory.recall import Hit, Order, Wish
from scrubjay.features.memory.service import Draft, MemoryService, RecallOutcome
from scrubjay.features.memory.views import MemoryView, memory_fields
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import IdempotencyKey, Label, Moment, Share, provenance_of
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_nothing

MAX_CONTENT = 100_000
MAX_MANY = 10_000
# So many of those that are not relevant enough are told of.
NEAR_MISSES = 3


FactType = Literal[Kind.GENERAL, Kind.PREFERENCE, Kind.DECISION, Kind.CONTEXT]
# What a draft takes over from a request.
_DRAFTED = frozenset(Draft.__dataclass_fields__)
_KIND, _NOTHING = frozenset({"kind"}), frozenset[str]()


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
    fact_type: FactType = Field(
        default=Kind.GENERAL, description="What sort of fact: a preference, a decision, context, or general."
    )
    subject: Label | None = Field(
        default=None,
        description="What it is about, in a few words. A newer memory about the same subject takes the place of an "
        "older one that says something else; both are kept, and memory_history shows them.",
    )
    valid_from: Moment | None = Field(
        default=None, description="Since when it is true (ISO 8601); by default since it happened or was remembered."
    )
    valid_until: Moment | None = Field(default=None, description="When it ceases to be true, if that is known.")
    source: Label | None = Field(default=None, description="Where it comes from, such as a URL, a file or a person.")
    about: list[Label] = Field(
        default_factory=list[str],
        max_length=20,
        description="The code that it is about: a path, path::symbol, or a symbol's qualified name. recall says when "
        "that code has changed or gone. What the content names of the project's code is linked by itself.",
    )
    repository: Annotated[str, Field(min_length=1, max_length=4_096)] | None = Field(
        default=None,
        description="The folder, or the id of the index, that about names; by default the project's or where you work.",
    )

    @model_validator(mode="after")
    def _is_true_for_a_time(self) -> "NewMemory":
        begins = self.valid_from or self.occurred_at
        if begins is not None and self.valid_until is not None and self.valid_until <= begins:
            raise ValueError("valid_until must be later than valid_from")
        return self

    def draft(self, provenance: dict[str, Any], repository: str | None) -> Draft:
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
            kind=self.fact_type,
            provenance=provenance if self.source is None else {"source": self.source, **provenance},
            subject=self.subject,
            valid_from=self.valid_from,
            valid_until=self.valid_until,
            about=tuple(self.about),
            repository=repository,
            given=_DRAFTED & self.model_fields_set | (_KIND if "fact_type" in self.model_fields_set else _NOTHING),
        )


class RememberRequest(NewMemory):
    model_config = examples(
        {"content": "We chose PostgreSQL because the team knows it.", "category": "decision", "key": "database"}
    )

    project: ProjectReference = None
    idempotency_key: IdempotencyKey = None


class RememberResult(Result):
    id: str = Field(description="The memory's id, for forget.")
    outcome: Literal["stored", "updated"] = Field(description="updated: the key was known and its memory was changed.")
    scope: Scope = Field(description="Who can recall it.")
    project: str | None = Field(description="The id of the project that it belongs to.")
    superseded: list[str] = Field(
        description="The ids of memories that are not true any more because of it: an earlier version under its key, "
        "or what was said about its subject before."
    )
    conflicts: list[str] = Field(
        description="The ids of memories about its subject that say something else, where nobody can tell what is true."
    )
    masked: list[str] = Field(
        description="The kinds of secrets, such as a password, that were not kept: a mark stands in their place."
    )
    repeated: bool = Field(description="Whether it had been done before under this idempotency_key, and not again now.")
    about: list[CodeView] = Field(
        default_factory=list[CodeView],
        exclude_if=is_nothing,
        description="The code that it is about, where it is about any; told when it is written, not when repeated.",
    )


class RememberManyRequest(Request):
    model_config = examples(
        {"memories": [{"content": "Ada prefers tabs.", "speaker": "Ada"}, {"content": "We deploy on Thursdays."}]}
    )

    memories: list[NewMemory] = Field(
        min_length=1, max_length=MAX_MANY, description="What to remember, in order. All are kept, or none."
    )
    project: ProjectReference = None
    idempotency_key: IdempotencyKey = None


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
    kinds: list[Kind] = Field(
        default_factory=list[Kind], description="Only these kinds of memories, such as preference, turn or summary."
    )
    fact_type: FactType | None = Field(default=None, description="Only this sort of fact.")
    as_of: Moment | None = Field(
        default=None, description="What was true at this moment (ISO 8601), instead of what is true now."
    )
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


class RecalledMemory(MemoryView):
    score: float = Field(description="How well it fits the question, and the preset if one is asked for; 0 to 1.")
    confirmed: bool = Field(
        description="Whether it says what was asked about. If not it is related, but may be about something else, or "
        "somebody else than the one named said it."
    )
    duplicates: list[str] = Field(description="The ids of memories that say the same and were left out for it.")
    explanation: Explanation | None = Field(description="Where the score comes from, when asked for.")
    about: list[CodeView] = Field(
        default_factory=list[CodeView],
        exclude_if=is_nothing,
        description="The code that it is about, and what became of it, where it is about any.",
    )
    stale: StaleView | None = Field(
        default=None,
        exclude_if=is_nothing,
        description="Told when that code has changed or gone since: check it before you rely on it. See review_stale.",
    )


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
    also: list[str] = Field(
        description="The ids of what was made of it and is erased with it: facts that only it stated, and summaries "
        "that may quote it, which summarize_sessions makes anew without it."
    )


class HistoryRequest(Request):
    model_config = examples({"key": "database"})

    id: Label | None = Field(default=None, description="The memory's id, or that of an earlier version.")
    key: Label | None = Field(default=None, description="Or the key that it was remembered under.")
    session_id: Label | None = Field(default=None, description="The session, for one of its private memories.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _names_one(self) -> "HistoryRequest":
        if (self.id is None) == (self.key is None):
            raise ValueError("give either id or key")
        return self


class HistoryResult(Result):
    versions: list[MemoryView] = Field(description="What was true first comes first; the last one is true now.")
    current: str | None = Field(description="The id of what is true now; null when nothing of it is.")


class CorrectRequest(Request):
    model_config = examples({"what_was_wrong": "We deploy on Fridays", "what_is_right": "We deploy on Thursdays"})

    what_was_wrong: str = Field(
        min_length=1, max_length=MAX_CONTENT, description="The words that are wrong, as they were remembered."
    )
    what_is_right: str = Field(min_length=1, max_length=MAX_CONTENT, description="What is to be remembered instead.")
    id: Label | None = Field(
        default=None, description="The memory that is wrong; by default every one that has these words."
    )
    correction_type: Label = Field(default="pattern", description="A group of your choosing.")
    scope: Scope | None = Field(default=None, description="Who learns of it; as for remember.")
    confidence: Share = Field(default=1.0, description="How sure it is.")
    session_id: Label | None = Field(default=None, description="The session that it comes from.")
    project: ProjectReference = None


class CorrectResult(Result):
    id: str = Field(description="The id of the correction itself, which recall finds too.")
    corrected: list[MemoryView] = Field(
        description="The memories that say what is right now; memory_history shows what they said before."
    )


@tool("memory")
async def remember(
    request: RememberRequest,
    memory: MemoryService,
    grounding: LinkReviewer,
    projects: ProjectService,
    context: CallContext,
) -> RememberResult:
    """Remember a fact, decision, preference or event, durably.

    Use it whenever something should be known later or in another session. Give a key to keep one current value that
    later calls update.
    """
    project_id = await project_id_of(request.project, projects, context, make=True)
    (remembered,) = await _keep(memory, grounding, [request], project_id, request.idempotency_key, context, "remember")
    return remembered


@tool("memory")
async def remember_many(
    request: RememberManyRequest,
    memory: MemoryService,
    grounding: LinkReviewer,
    projects: ProjectService,
    context: CallContext,
) -> RememberManyResult:
    """Remember many things at once, in one transaction: all are kept, or none."""
    project_id = await project_id_of(request.project, projects, context, make=True)
    remembered = await _keep(
        memory, grounding, request.memories, project_id, request.idempotency_key, context, "remember_many"
    )
    updated = sum(one.outcome == "updated" for one in remembered)
    return RememberManyResult(memories=remembered, stored=len(remembered) - updated, updated=updated)


@tool("memory", read_only=True)
async def recall(
    request: RecallRequest,
    memory: MemoryService,
    grounding: LinkReviewer,
    projects: ProjectService,
    context: CallContext,
) -> RecallResult:
    """Find the memories most relevant to a question, best first.

    Searches by words and by meaning what is global, of the active project, and of the asking session. Ask before you
    assume: an empty answer means that nothing fitting is remembered.
    """
    project_id = await project_id_of(request.project, projects, context)
    visibility = Visibility(project_id, request.session_id or request.from_session)
    found = await memory.recall(
        request.query,
        visibility,
        MemoryFilter(
            scope=request.scope,
            category=request.category,
            tags=tuple(request.tags),
            speaker=request.speaker,
            from_session=request.from_session,
            occurred_after=request.occurred_after,
            occurred_before=request.occurred_before,
            containing=required_wordings(request.containing) if request.containing is not None else (),
            kinds=tuple(dict.fromkeys([*request.kinds, *([request.fact_type] if request.fact_type else [])])),
            as_of=request.as_of,
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
    linked = [hit.memory for hit in found.hits if hit.memory.links]
    reviewed = {one.memory.id: one for one in await grounding.review(linked, visibility)} if linked else {}
    return RecallResult(
        memories=[_recalled(hit, request.explain, reviewed.get(hit.memory.id)) for hit in found.hits],
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
    request: ForgetRequest, eraser: Eraser, projects: ProjectService, context: CallContext
) -> ForgetResult:
    """Erase one memory for good, by its id or its key, with what was made of it."""
    visibility = Visibility(await project_id_of(request.project, projects, context), request.session_id)
    if request.id is not None:
        done = await eraser.forget(request.id, visibility)
    elif request.key is not None:
        done = await eraser.forget_key(request.key, visibility, request.scope)
    else:
        raise InvalidRequest("give either id or key")
    return ForgetResult(forgotten=MemoryView(**memory_fields(done.memory)), also=list(done.also))


@tool("memory", read_only=True)
async def memory_history(
    request: HistoryRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> HistoryResult:
    """Show what a memory said before, what it says now, and when each was true."""
    visibility = Visibility(await project_id_of(request.project, projects, context), request.session_id)
    versions = await memory.history(visibility, memory_id=request.id, key=request.key)
    living = [version.id for version in versions if version.superseded_by is None]
    return HistoryResult(
        versions=[MemoryView.of(memory_fields(version)) for version in versions], current=living[-1] if living else None
    )


@tool("memory")
async def correct(
    request: CorrectRequest,
    corrections: Corrections,
    grounding: LinkReviewer,
    projects: ProjectService,
    context: CallContext,
) -> CorrectResult:
    """Put right what was remembered wrongly: every memory with the wrong words says what is right from now on.

    What they said before stays in memory_history.
    """
    project_id = await project_id_of(request.project, projects, context, make=True)
    made = await corrections.correct(
        wrong=request.what_was_wrong,
        right=request.what_is_right,
        memory_id=request.id,
        draft=Draft(
            content=request.what_is_right,
            scope=request.scope,
            session_id=request.session_id,
            confidence=request.confidence,
            category=request.correction_type,
            provenance=provenance_of(context, "correct"),
        ),
        project_id=project_id,
    )
    await grounding.renew([one.id for one in made.corrected], Visibility(project_id, request.session_id))
    return CorrectResult(id=made.id, corrected=[MemoryView.of(memory_fields(one)) for one in made.corrected])


async def _keep(
    memory: MemoryService,
    grounding: LinkReviewer,
    given: Sequence[NewMemory],
    project_id: str | None,
    idempotency_key: str | None,
    context: CallContext,
    tool: str,
) -> list[RememberResult]:
    provenance = provenance_of(context, tool)
    # Without a project, code is named where somebody works.
    here = "." if project_id is None and context.working_directory is not None else None
    drafts: list[Draft] = []
    for new in given:
        named = new.repository or (here if new.about else None)
        root = None if named is None else await grounding.repository_root(named, context.working_directory)
        drafts.append(new.draft(provenance, root))
    if idempotency_key is None:
        outcomes = await memory.remember(drafts, project_id)
        remembered = [_remembered(receipt_of(one), one.memory.links, repeated=False) for one in outcomes]
    else:
        written = await memory.remember_once(drafts, project_id, context.client or "", idempotency_key)
        links = [one.memory.links for one in written.outcomes] if written.outcomes else [()] * len(drafts)
        remembered = [
            _remembered(receipt, own, repeated=written.outcomes is None)
            for receipt, own in zip(written.receipts, links, strict=True)
        ]
    for session_id in {new.session_id for new in given}:
        # What was said to be about code before, and says something else now, is about the code as it is now.
        changed = [
            one.id
            for one, new in zip(remembered, given, strict=True)
            if one.outcome == "updated" and one.about and new.session_id == session_id
        ]
        if changed:
            await grounding.renew(changed, Visibility(project_id, session_id))
    return remembered


def _remembered(receipt: Receipt, links: Sequence[CodeLink], *, repeated: bool) -> RememberResult:
    return RememberResult.of(
        {
            "id": receipt.id,
            "outcome": receipt.outcome,
            "scope": receipt.scope,
            "project": receipt.project_id,
            "superseded": [*receipt.superseded],
            "conflicts": [*receipt.conflicts],
            "masked": [*receipt.masked],
            "repeated": repeated,
            "about": linked_views(links) if links else [],
        }
    )


def _recalled(hit: Hit, explain: bool, reviewed: Reviewed | None = None) -> RecalledMemory:
    values = memory_fields(hit.memory)
    values["score"] = hit.score
    values["confirmed"] = hit.confirmed
    values["duplicates"] = [*hit.duplicates]
    values["explanation"] = _explanation(hit) if explain else None
    values["about"] = [code_view(one) for one in reviewed.comparisons] if reviewed else []
    values["stale"] = stale_view(reviewed) if reviewed else None
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


def _search_explanation(found: RecallOutcome, request: RecallRequest) -> SearchExplanation:
    return SearchExplanation(
        threshold=request.threshold,
        weights=dict(WEIGHTS[request.preset]),
        words=list(found.terms),
        searched=found.texts,
        near_misses=[_recalled(hit, explain=True) for hit in found.near_misses],
        milliseconds={stage: round(1000 * seconds, 3) for stage, seconds in found.seconds.items()},
    )
