"""Tools to write, recall, correct and erase memories."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from scrubjay.core.callers import Caller
from scrubjay.core.errors import InvalidRequest
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.memory.corrections import MemoryCorrector
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.erasure import Eraser
from scrubjay.features.memory.link_views import CodeView, StaleView, code_view, linked_views, stale_view
from scrubjay.features.memory.links import CodeLink
from scrubjay.features.memory.models import MemoryFilter, MemoryKind
from scrubjay.features.memory.passages import MAX_WHOLE_CHARACTERS
from scrubjay.features.memory.ranking.exact_match import required_wordings
from scrubjay.features.memory.ranking.presets import WEIGHTS, Preset
from scrubjay.features.memory.recall import Hit, Order, RecallOptions
from scrubjay.features.memory.service import MemoryService, RecallOutcome
from scrubjay.features.memory.views import MemoryView, memory_fields, shown_fields
from scrubjay.features.memory.writes import Receipt, make_receipt
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import IdempotencyKey, Label, Moment, Share, provenance_of
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_empty

MAX_CONTENT = 2_000_000
# Words to correct.
MAX_WORDING = 100_000
# Erased texts up to this length are returned whole: they cannot be read any more.
MAX_ERASED_CHARACTERS = 100_000
MAX_BATCH = 10_000
# Near misses in an explanation.
NEAR_MISSES = 3


FactType = Literal[MemoryKind.GENERAL, MemoryKind.PREFERENCE, MemoryKind.DECISION, MemoryKind.CONTEXT]
# Fields that a draft copies from a request.
_DRAFT_FIELDS = frozenset(Draft.__dataclass_fields__)
_KIND, _NOTHING = frozenset({"kind"}), frozenset[str]()


class NewMemory(Request):
    """One thing to remember."""

    content: str = Field(
        min_length=1,
        max_length=MAX_CONTENT,
        description="Text to remember. Write it so that it makes sense without the conversation. Of a text over "
        f"{MAX_WHOLE_CHARACTERS:,} characters, recall returns the matching passage with its place.",
    )
    category: Label | None = Field(default=None, description="Free label to group by, such as decision or preference.")
    importance: Share = Field(default=0.5, description="Importance.")
    confidence: Share = Field(default=1.0, description="Confidence that it is true.")
    key: Label | None = Field(
        default=None,
        description="Unique name: writing again with the same key in the same scope updates the memory.",
    )
    scope: Scope | None = Field(
        default=None,
        description="Where it is visible: everywhere (global), in one project, or only in the given session. "
        "Default: the active project if there is one, else global.",
    )
    session_id: Label | None = Field(default=None, description="Session or conversation that it comes from.")
    occurred_at: Moment | None = Field(
        default=None, description="When it happened (ISO 8601; UTC unless it has an offset)."
    )
    speaker: Label | None = Field(default=None, description="Who said it.")
    tags: list[Label] = Field(default_factory=list[str], max_length=100, description="Labels to filter by.")
    metadata: dict[str, Any] = Field(
        default_factory=dict[str, Any], description="Additional values, returned unchanged."
    )
    fact_type: FactType = Field(
        default=MemoryKind.GENERAL, description="Kind of fact: a preference, a decision, context, or general."
    )
    subject: Label | None = Field(
        default=None,
        description="Subject in a few words. A newer memory about the same subject supersedes an older one with "
        "different content; both are kept, and memory_history shows them.",
    )
    valid_from: Moment | None = Field(
        default=None, description="Start of validity (ISO 8601). Default: when it happened, else when it was stored."
    )
    valid_until: Moment | None = Field(default=None, description="End of validity (ISO 8601), if known.")
    source: Label | None = Field(default=None, description="Where it comes from, such as a URL, a file or a person.")
    about: list[Label] = Field(
        default_factory=list[str],
        max_length=20,
        description="Code that it is about: a path, path::symbol, or a symbol's qualified name. recall marks the "
        "memory as stale when that code has changed or is gone. Code of the project named in the content is linked "
        "automatically.",
    )
    repository: Annotated[str, Field(min_length=1, max_length=4_096)] | None = Field(
        default=None,
        description="Folder or index id that about refers to. Default: the folder of the project, else the working "
        "folder.",
    )

    @model_validator(mode="after")
    def _is_true_for_a_time(self) -> "NewMemory":
        begins = self.valid_from or self.occurred_at
        if begins is not None and self.valid_until is not None and self.valid_until <= begins:
            raise ValueError("valid_until must be later than valid_from")
        return self

    def draft(self, provenance: dict[str, Any], repository: str | None, author: Caller) -> Draft:
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
            code_reader=author,
            given=_DRAFT_FIELDS & self.model_fields_set | (_KIND if "fact_type" in self.model_fields_set else _NOTHING),
        )


class RememberRequest(NewMemory):
    model_config = examples(
        {"content": "We chose PostgreSQL because the team knows it.", "category": "decision", "key": "database"}
    )

    project: ProjectReference = None
    idempotency_key: IdempotencyKey = None


class RememberResult(Result):
    id: str = Field(description="Id of the memory.")
    outcome: Literal["stored", "updated"] = Field(
        description="updated: a memory with this key existed and was changed."
    )
    scope: Scope = Field(description="Where it is visible.")
    project: str | None = Field(description="Id of the project that it belongs to.")
    superseded: list[str] = Field(
        description="Ids of memories that it supersedes: an earlier version with its key, or earlier memories about "
        "its subject."
    )
    conflicts: list[str] = Field(
        description="Ids of memories about its subject with different content, when it is unclear which one is true."
    )
    masked: list[str] = Field(description="Kinds of secrets, such as password, that were replaced by a placeholder.")
    repeated: bool = Field(
        description="True if an earlier call with this idempotency_key stored it; this call changed nothing."
    )
    about: list[CodeView] = Field(
        default_factory=list[CodeView],
        exclude_if=is_empty,
        description="Code that it is about, if any. Absent when repeated is true.",
    )


class RememberManyRequest(Request):
    model_config = examples(
        {"memories": [{"content": "Ada prefers tabs.", "speaker": "Ada"}, {"content": "We deploy on Thursdays."}]}
    )

    memories: list[NewMemory] = Field(
        min_length=1, max_length=MAX_BATCH, description="Memories to store, in order. All are stored, or none."
    )
    project: ProjectReference = None
    idempotency_key: IdempotencyKey = None


class RememberManyResult(Result):
    memories: list[RememberResult] = Field(description="Result for each memory, in the order given.")
    stored: int = Field(description="Number of new memories.")
    updated: int = Field(description="Number of memories that updated one with the same key.")


class RecallRequest(Request):
    model_config = examples(
        {"query": "Which database did we choose, and why?"},
        {"query": "deploy", "category": "decision", "preset": "recent", "token_budget": 500},
    )

    query: str = Field(min_length=1, max_length=10_000, description="Question or search text in natural language.")
    limit: Annotated[int, Field(ge=1, le=100)] | None = Field(
        default=None,
        description="Maximum number of memories. Default: 10, or 30 for a question about order, a timeline or a "
        "summary, which needs everything on its topic.",
    )
    threshold: Share = Field(
        default=0.05,
        description="Minimum relevance: 0 returns everything that matches at all; above 0.5 returns almost only "
        "certain matches.",
    )
    preset: Preset = Field(
        default=Preset.RELEVANT,
        description="How relevant memories are ordered: by the question alone (relevant); also by recency, use, "
        "importance and confidence (balanced, semantic); or mostly by recency (recent), importance (important) or use "
        "(popular). A preset never promotes memories that do not match the question.",
    )
    order: Order = Field(
        default=Order.AUTO,
        description="score: best first. time: the best ones, earliest first. auto: time when the question asks about "
        "order, a timeline or a development and no limit is given, else score.",
    )
    diversity: Share = Field(
        default=0, description="Preference for memories that differ from each other: 0 ignores it, 1 weighs it most."
    )
    token_budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None,
        description="Maximum tokens of all returned texts together (estimated as 4 characters per token). A memory "
        "that exceeds it is skipped; shorter ones after it may still be returned.",
    )
    containing: Annotated[str, Field(min_length=1, max_length=1_000)] | None = Field(
        default=None,
        description='Only memories with all of these words, "phrases" and prefixes*, in any grammatical form.',
    )
    category: Label | None = Field(default=None, description="Only this category.")
    tags: list[Label] = Field(default_factory=list[str], max_length=100, description="Only with all of these tags.")
    speaker: Label | None = Field(default=None, description="Only memories of this speaker.")
    scope: Scope | None = Field(default=None, description="Only memories of this scope.")
    session_id: Label | None = Field(
        default=None, description="Current session: its private memories are searched too."
    )
    from_session: Label | None = Field(default=None, description="Only memories stored in this session.")
    occurred_after: Moment | None = Field(
        default=None, description="Only what happened at this time or later (ISO 8601)."
    )
    occurred_before: Moment | None = Field(default=None, description="Only what happened before this time (ISO 8601).")
    kinds: list[MemoryKind] = Field(
        default_factory=list[MemoryKind],
        description="Only these kinds of memories, such as preference, turn or summary.",
    )
    fact_type: FactType | None = Field(default=None, description="Only this kind of fact.")
    as_of: Moment | None = Field(
        default=None, description="Recall what was valid at this time (ISO 8601) instead of now."
    )
    project: ProjectReference = None
    explain: bool = Field(default=False, description="Explain the score of each memory.")


class SignalView(Result):
    """One component of a score."""

    signal: str = Field(description="Name of the signal, such as words or meaning.")
    raw: float = Field(description="Raw measure: BM25, a cosine, a count.")
    value: float = Field(description="Normalized measure: relative to the best candidate, to other memories, or to 1.")
    weight: float = Field(description="Weight; negative if the signal lowers the score.")
    contribution: float = Field(
        description="Amount added to the score. The score is the sum of all contributions, at most 1."
    )
    about: str = Field(description="Explanation in words.")


class Explanation(Result):
    """Explanation of a score."""

    why: str = Field(description="Strongest reasons in words.")
    relevance: float = Field(description="Relevance to the question alone, 0 to 1; compared with the threshold.")
    signals: list[SignalView] = Field(description="All signals.")


class RecallHitView(MemoryView):
    score: float = Field(description="Score by the question and the preset, 0 to 1.")
    confirmed: bool = Field(
        description="True if it contains what the question asks about. False if it is only related: it may be about "
        "something else, or said by another person than the one named."
    )
    duplicates: list[str] = Field(description="Ids of memories with the same content that were left out.")
    explanation: Explanation | None = Field(description="Explanation of the score; null unless explain is true.")
    about: list[CodeView] = Field(
        default_factory=list[CodeView],
        exclude_if=is_empty,
        description="Code that it is about and its current state, if any.",
    )
    stale: StaleView | None = Field(
        default=None,
        exclude_if=is_empty,
        description="Present if that code has changed or is gone: verify the memory before you rely on it. See "
        "review_stale.",
    )


class SearchExplanation(Result):
    """Explanation of a search."""

    threshold: float = Field(description="Minimum relevance that was applied.")
    weights: dict[str, float] = Field(
        description="Weights of the score: relevance (the sum of all signals of the question) and those of the preset."
    )
    words: list[str] = Field(description="Search terms as normalized by the index.")
    searched: int = Field(description="Number of memories visible to the search.")
    near_misses: list[RecallHitView] = Field(description="Best memories below the threshold.")
    milliseconds: dict[str, float] = Field(description="Duration of each stage.")


class RecallResult(Result):
    memories: list[RecallHitView] = Field(
        description="Matching memories in the order given by order; empty if none match."
    )
    order: Literal["score", "time"] = Field(description="score: best first. time: earliest first.")
    considered: int = Field(description="Number of candidates that were scored.")
    below_threshold: int = Field(description="Number of candidates below the threshold.")
    tokens: int = Field(description="Estimated tokens of all texts, at 4 characters per token.")
    over_budget: int = Field(description="Number of memories skipped because they exceed the token_budget.")
    degraded: str | None = Field(description="Why the result may be incomplete; null if nothing failed.")
    explanation: SearchExplanation | None = Field(description="Explanation of the search; null unless explain is true.")


class ForgetRequest(Request):
    model_config = examples({"key": "database"})

    id: Label | None = Field(default=None, description="Id of the memory.")
    key: Label | None = Field(default=None, description="Key of the memory, instead of its id.")
    scope: Scope | None = Field(default=None, description="With key: its scope, if the key is used in several.")
    session_id: Label | None = Field(default=None, description="Session, to erase one of its private memories.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _names_one(self) -> "ForgetRequest":
        if (self.id is None) == (self.key is None):
            raise ValueError("give either id or key")
        return self


class ForgetResult(Result):
    forgotten: MemoryView = Field(description="The erased memory.")
    also: list[str] = Field(
        description="Ids of derived memories that were erased with it: facts that only it stated, and summaries that "
        "may quote it. summarize_sessions creates such summaries again without it."
    )


class HistoryRequest(Request):
    model_config = examples({"key": "database"})

    id: Label | None = Field(default=None, description="Id of the memory or of an earlier version.")
    key: Label | None = Field(default=None, description="Key of the memory, instead of its id.")
    session_id: Label | None = Field(default=None, description="Session, for one of its private memories.")
    project: ProjectReference = None

    @model_validator(mode="after")
    def _names_one(self) -> "HistoryRequest":
        if (self.id is None) == (self.key is None):
            raise ValueError("give either id or key")
        return self


class HistoryResult(Result):
    versions: list[MemoryView] = Field(description="All versions, earliest first.")
    current: str | None = Field(description="Id of the current version; null if none is valid now.")


class CorrectRequest(Request):
    model_config = examples({"what_was_wrong": "We deploy on Fridays", "what_is_right": "We deploy on Thursdays"})

    what_was_wrong: str = Field(min_length=1, max_length=MAX_WORDING, description="The wrong words, exactly as stored.")
    what_is_right: str = Field(min_length=1, max_length=MAX_WORDING, description="Replacement for the wrong words.")
    id: Label | None = Field(
        default=None, description="Id of the wrong memory. Default: every memory that contains these words."
    )
    correction_type: Label = Field(default="pattern", description="Free label to group corrections by.")
    scope: Scope | None = Field(default=None, description="Where the correction is visible; as for remember.")
    confidence: Share = Field(default=1.0, description="Confidence that it is true.")
    session_id: Label | None = Field(default=None, description="Session that it comes from.")
    project: ProjectReference = None


class CorrectResult(Result):
    id: str = Field(description="Id of the correction, which is a memory of its own.")
    corrected: list[MemoryView] = Field(
        description="The corrected memories; memory_history shows their earlier content."
    )


@tool("memory", withholds=("code",))
async def remember(
    request: RememberRequest,
    memory: MemoryService,
    projects: ProjectService,
    context: CallContext,
) -> RememberResult:
    """Store a fact, decision, preference or event durably.

    Use it for everything that should be known later or in another session. Give a key to keep one current value that
    later calls update.
    """
    project_id = await project_id_of(request.project, projects, context, make=True)
    (remembered,) = await _store(memory, projects, [request], project_id, request.idempotency_key, context, "remember")
    return remembered


@tool("memory", withholds=("code",))
async def remember_many(
    request: RememberManyRequest,
    memory: MemoryService,
    projects: ProjectService,
    context: CallContext,
) -> RememberManyResult:
    """Store many memories in one transaction: all or none."""
    project_id = await project_id_of(request.project, projects, context, make=True)
    remembered = await _store(
        memory, projects, request.memories, project_id, request.idempotency_key, context, "remember_many"
    )
    updated = sum(one.outcome == "updated" for one in remembered)
    return RememberManyResult(memories=remembered, stored=len(remembered) - updated, updated=updated)


@tool("memory", read_only=True, withholds=("code",))
async def recall(
    request: RecallRequest,
    memory: MemoryService,
    projects: ProjectService,
    context: CallContext,
) -> RecallResult:
    """Find the memories most relevant to a question, best first.

    Searches global memories and those of the active project and the given session, by words and by meaning. Call it
    before you assume something: an empty result means that no stored memory matches.
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
        RecallOptions(
            limit=request.limit,
            threshold=request.threshold,
            preset=request.preset,
            order=request.order,
            diversity=request.diversity,
            token_budget=request.token_budget,
            near_misses=NEAR_MISSES if request.explain else 0,
            code_reader=context.caller,
        ),
    )
    return RecallResult(
        memories=[_recalled(hit, context.caller, explain=request.explain) for hit in found.hits],
        order="time" if found.order is Order.TIME else "score",
        considered=found.considered,
        below_threshold=found.below_threshold,
        tokens=found.tokens,
        over_budget=found.over_budget,
        degraded=found.degraded,
        explanation=_search_explanation(found, request, context.caller) if request.explain else None,
    )


@tool("memory", destructive=True)
async def forget(
    request: ForgetRequest, eraser: Eraser, projects: ProjectService, context: CallContext
) -> ForgetResult:
    """Erase one memory permanently, by its id or its key, with the memories derived from it."""
    visibility = Visibility(await project_id_of(request.project, projects, context), request.session_id)
    if request.id is not None:
        done = await eraser.forget(request.id, visibility)
    elif request.key is not None:
        done = await eraser.forget_key(request.key, visibility, request.scope)
    else:
        raise InvalidRequest("give either id or key")
    return ForgetResult(
        forgotten=MemoryView(**shown_fields(done.memory, max_whole=MAX_ERASED_CHARACTERS)), also=list(done.derived)
    )


@tool("memory", read_only=True)
async def memory_history(
    request: HistoryRequest, memory: MemoryService, projects: ProjectService, context: CallContext
) -> HistoryResult:
    """Show all versions of a memory and when each was valid."""
    visibility = Visibility(await project_id_of(request.project, projects, context), request.session_id)
    versions = await memory.history(visibility, memory_id=request.id, key=request.key)
    current = [version.id for version in versions if version.superseded_by is None]
    return HistoryResult(
        versions=[MemoryView.of(memory_fields(version)) for version in versions],
        current=current[-1] if current else None,
    )


@tool("memory")
async def correct(
    request: CorrectRequest,
    corrections: MemoryCorrector,
    projects: ProjectService,
    context: CallContext,
) -> CorrectResult:
    """Correct wrong memories: replace the wrong words in every memory that contains them.

    memory_history keeps the earlier content.
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
            code_reader=context.caller,
        ),
        project_id=project_id,
    )
    return CorrectResult(id=made.id, corrected=[MemoryView.of(shown_fields(one)) for one in made.corrected])


async def _store(
    memory: MemoryService,
    projects: ProjectService,
    given: Sequence[NewMemory],
    project_id: str | None,
    idempotency_key: str | None,
    context: CallContext,
    tool: str,
) -> list[RememberResult]:
    provenance = provenance_of(context, tool)
    # Without a project, `about` refers to the working folder.
    here = "." if project_id is None and context.working_directory is not None else None
    if project_id is not None and context.caller.holds_key and any(new.about for new in given):
        here = (await projects.find(project_id)).path  # named, so that it is checked
    drafts: list[Draft] = []
    for new in given:
        named = new.repository or (here if new.about else None)
        root = (
            await memory.repository_root(named, context.working_directory, restricted=context.caller.holds_key)
            if named is not None
            else None
        )
        drafts.append(new.draft(provenance, root, context.caller))
    if idempotency_key is None:
        outcomes = await memory.remember(drafts, project_id)
        remembered = [_remembered(make_receipt(one), one.memory.links, repeated=False) for one in outcomes]
    else:
        written = await memory.remember_once(drafts, project_id, context.client or "", idempotency_key)
        links = [one.memory.links for one in written.outcomes] if written.outcomes else [()] * len(drafts)
        remembered = [
            _remembered(receipt, own, repeated=written.outcomes is None)
            for receipt, own in zip(written.receipts, links, strict=True)
        ]
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


def _recalled(hit: Hit, caller: Caller, *, explain: bool) -> RecallHitView:
    values = shown_fields(hit.memory, hit.passage)
    values["score"] = hit.score
    values["confirmed"] = hit.confirmed
    values["duplicates"] = [*hit.duplicates]
    values["explanation"] = _explanation(hit) if explain else None
    values["about"] = [code_view(one) for one in hit.review.comparisons] if hit.review else []
    values["stale"] = stale_view(hit.review, caller) if hit.review else None
    return RecallHitView.of(values)


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


def _search_explanation(found: RecallOutcome, request: RecallRequest, caller: Caller) -> SearchExplanation:
    return SearchExplanation(
        threshold=request.threshold,
        weights=dict(WEIGHTS[request.preset]),
        words=list(found.terms),
        searched=found.searched,
        near_misses=[_recalled(hit, caller, explain=True) for hit in found.near_misses],
        milliseconds={stage: round(1000 * seconds, 3) for stage, seconds in found.seconds.items()},
    )
