"""How memories fade, what keeps them from it, and letting go of those that have."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from scrubjay.core.scopes import Visibility
from scrubjay.features.forgetting.service import Forgetter, Reason, band_counts
from scrubjay.features.memory.ranking.decay import Band
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.jobs.service import JobRun

Strength = Annotated[
    float,
    Field(description="importance x e^(-0.1 x days) x (1 + 0.1 x ln(1 + uses)), at most 1; the rate is a setting."),
]


class ForgetFadedRequest(Request):
    model_config = examples({"dry_run": True})

    dry_run: bool = Field(
        default=True, description="Only tell what would go. Say false to erase it: it cannot be brought back."
    )


class DepartedMemory(Result):
    """A memory that goes."""

    id: str
    reason: Reason = Field(
        description="faded: weaker than the threshold; old: older than its importance allows; crowded: there are too "
        "many, and it matters least."
    )
    strength: Strength


class ForgetFadedResult(Result):
    dry_run: bool = Field(description="Whether nothing was erased.")
    considered: int = Field(description="How many memories were looked at: all of every project and session.")
    forgotten: int = Field(description="How many are gone, or in a dry run would be.")
    reasons: dict[str, int] = Field(description="Why, and how many each.")
    spared: int = Field(description="How many would go, if they were not protected or did not matter so much.")
    bands: dict[str, int] = Field(description="How many there were of each band, before anything went.")
    memories: list[DepartedMemory] = Field(description="The first hundred of those that go.")
    looked_at: datetime = Field(description="The moment at which strengths were told.")


class MemoryReference(Request):
    id: Label = Field(description="The memory's id.")
    session_id: Label | None = Field(default=None, description="The session, for one of its private memories.")
    project: ProjectReference = None


class ProtectMemoryRequest(MemoryReference):
    model_config = examples({"id": "mem_01jd8x0000000000000000000"})


class ProtectionResult(Result):
    id: str
    protected: bool = Field(description="Whether no rule lets it go; forget still erases it.")


class MemoryHealthRequest(Request):
    model_config = examples({}, {"id": "mem_01jd8x0000000000000000000"})

    id: Label | None = Field(default=None, description="Also tell how this one memory is.")
    session_id: Label | None = Field(default=None, description="With id: the session, for one of its private memories.")
    project: ProjectReference = None


class VitalityView(Result):
    """How a memory is."""

    id: str
    strength: Strength
    band: Band = Field(description="forget below 0.1, at_risk below 0.3, healthy up to 0.7, else strong.")
    importance: float
    uses: int = Field(description="How often it was an answer.")
    age_days: float = Field(description="Since it last was one, or since it was kept.")
    protected: bool
    predicted_days: float | None = Field(
        description="How many days after its last use it fades away; null for never: it is protected, or matters most."
    )
    days_left: float | None = Field(description="How many of these are left, if it is not used again; null for never.")


class MemoryHealthResult(Result):
    memories: int = Field(description="How many memories there are, of every project and session.")
    bands: dict[str, int] = Field(description="How many of each band: forget, at_risk, healthy, strong.")
    would_go: int = Field(description="How many forget_faded would erase now.")
    enabled: bool = Field(description="Whether what has faded is erased without being asked.")
    threshold: float = Field(description="What is weaker has faded.")
    interval_ms: int | None = Field(description="How often that is done; null when it is not.")
    last_run: datetime | None = Field(description="When it was last done, by anybody.")
    last_batch_count: int = Field(description="How many went then.")
    total_forgotten: int = Field(description="How many have gone in all.")
    memory: VitalityView | None = Field(description="The one asked about.")


@tool("memory", destructive=True, runs_as_job=True, core=False)
async def forget_faded(request: ForgetFadedRequest, forgetter: Forgetter, run: JobRun) -> ForgetFadedResult:
    """Erase memories that have faded, in every project and session; by default only tell which would go.

    A memory fades with the days since it last was an answer, faster when it matters less. Protected memories and those
    with an importance of 0.95 or more never go. What is said by a dry run is what is done without it at that moment.
    """
    report = await forgetter.forget(run, dry_run=request.dry_run)
    return ForgetFadedResult(
        dry_run=report.dry_run,
        considered=report.considered,
        forgotten=report.forgotten,
        reasons={reason: report.reasons[reason] for reason in Reason},
        spared=report.spared,
        bands=band_counts(report.bands),
        memories=[DepartedMemory(id=one.memory_id, reason=one.reason, strength=one.strength) for one in report.named],
        looked_at=report.looked_at,
    )


@tool("memory", idempotent=True, core=False)
async def protect_memory(
    request: ProtectMemoryRequest, forgetter: Forgetter, projects: ProjectService, context: CallContext
) -> ProtectionResult:
    """Keep a memory from fading: no rule lets it go any more. Only forget erases it."""
    return await _protect(request, forgetter, projects, context, protected=True)


@tool("memory", idempotent=True, core=False)
async def unprotect_memory(
    request: ProtectMemoryRequest, forgetter: Forgetter, projects: ProjectService, context: CallContext
) -> ProtectionResult:
    """Let a memory fade again that was protected."""
    return await _protect(request, forgetter, projects, context, protected=False)


@tool("memory", read_only=True, core=False)
async def memory_health(
    request: MemoryHealthRequest, forgetter: Forgetter, projects: ProjectService, context: CallContext
) -> MemoryHealthResult:
    """Tell how strong memories still are, how many would fade away now, and what was forgotten so far.

    With an id also how that memory is, and how many days it has left.
    """
    memory = None
    if request.id is not None:
        visibility = Visibility(await project_id_of(request.project, projects, context), request.session_id)
        found = await forgetter.vitality(request.id, visibility)
        memory = VitalityView(
            id=found.memory_id,
            strength=found.strength,
            band=found.band,
            importance=found.importance,
            uses=found.uses,
            age_days=found.age_days,
            protected=found.protected,
            predicted_days=found.predicted_days,
            days_left=found.days_left,
        )
    census = await forgetter.census()
    record = await forgetter.record()
    every = forgetter.rules.every
    return MemoryHealthResult(
        memories=census.memories,
        bands=band_counts(census.bands),
        would_go=census.would_go,
        enabled=every is not None,
        threshold=forgetter.rules.threshold,
        interval_ms=None if every is None else round(every.total_seconds() * 1000),
        last_run=record.last_run,
        last_batch_count=record.last_forgotten,
        total_forgotten=record.total_forgotten,
        memory=memory,
    )


async def _protect(
    request: MemoryReference,
    forgetter: Forgetter,
    projects: ProjectService,
    context: CallContext,
    *,
    protected: bool,
) -> ProtectionResult:
    visibility = Visibility(await project_id_of(request.project, projects, context), request.session_id)
    memory = await forgetter.protect(request.id, visibility, protected=protected)
    return ProtectionResult(id=memory.id, protected=memory.protected)
