"""Tools to inspect the strength of memories, to protect them, and to erase faded ones."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from scrubjay.core.scopes import Visibility
from scrubjay.features.forgetting.service import EvictionReason, Forgetter, band_counts
from scrubjay.features.memory.ranking.decay import StrengthBand
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.tooling.arguments import Label
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.jobs.service import JobRun

Strength = Annotated[
    float,
    Field(
        description="Strength: importance x e^(-0.1 x days) x (1 + 0.1 x ln(1 + uses)), at most 1. The decay "
        "rate of 0.1 is configurable."
    ),
]


class ForgetFadedRequest(Request):
    model_config = examples({"dry_run": True})

    dry_run: bool = Field(default=True, description="Only report what would be erased. False erases permanently.")


class EvictedMemory(Result):
    """A memory that was erased, or would be in a dry run."""

    id: str
    reason: EvictionReason = Field(
        description="faded: strength below the threshold. old: beyond the age limit for its importance. over_capacity: "
        "there are too many memories, and it is among the least important."
    )
    strength: Strength


class ForgetFadedResult(Result):
    dry_run: bool = Field(description="True if nothing was erased.")
    considered: int = Field(description="Number of memories evaluated, of all projects and sessions.")
    forgotten: int = Field(description="Number of memories erased, or to be erased in a dry run.")
    reasons: dict[str, int] = Field(description="Number of memories by reason.")
    spared: int = Field(description="Number of memories saved only by their protection or importance.")
    bands: dict[str, int] = Field(description="Number of memories by strength band, before the erasure.")
    memories: list[EvictedMemory] = Field(description="The first 100 of the forgotten memories.")
    evaluated_at: datetime = Field(description="Time for which strengths were computed.")


class MemoryIdRequest(Request):
    id: Label = Field(description="Id of the memory.")
    session_id: Label | None = Field(default=None, description="Session, for one of its private memories.")
    project: ProjectReference = None


class ProtectMemoryRequest(MemoryIdRequest):
    model_config = examples({"id": "mem_01jd8x0000000000000000000"})


class ProtectionResult(Result):
    id: str
    protected: bool = Field(description="True if it is never forgotten automatically; forget still erases it.")


class MemoryHealthRequest(Request):
    model_config = examples({}, {"id": "mem_01jd8x0000000000000000000"})

    id: Label | None = Field(default=None, description="Memory to report on as well.")
    session_id: Label | None = Field(default=None, description="With id: session, for one of its private memories.")
    project: ProjectReference = None


class HealthView(Result):
    """Strength and expected lifetime of a memory."""

    id: str
    strength: Strength
    band: StrengthBand = Field(
        description="forget: below the threshold (0.1). at_risk: below 0.3. healthy: up to 0.7. strong: above."
    )
    importance: float
    uses: int = Field(description="Number of times it was recalled.")
    age_days: float = Field(description="Days since it was last recalled, or since it was stored.")
    protected: bool
    predicted_days: float | None = Field(
        description="Days from its last use until it has faded; null for never: it is protected or too important."
    )
    days_left: float | None = Field(
        description="Remaining days until it has faded, unless it is recalled again; null for never."
    )


class MemoryHealthResult(Result):
    memories: int = Field(description="Number of memories, of all projects and sessions.")
    bands: dict[str, int] = Field(description="Number of memories by strength band: forget, at_risk, healthy, strong.")
    would_forget: int = Field(description="Number of memories that forget_faded would erase now.")
    enabled: bool = Field(description="True if faded memories are erased automatically.")
    threshold: float = Field(description="Strength below which a memory has faded.")
    interval_ms: int | None = Field(description="Milliseconds between automatic runs; null if disabled.")
    last_run: datetime | None = Field(description="Time of the last run of any process.")
    last_batch_count: int = Field(description="Number of memories erased by the last run.")
    total_forgotten: int = Field(description="Number of memories erased by all runs.")
    memory: HealthView | None = Field(description="The requested memory; null without id.")


@tool("memory", destructive=True, runs_as_job=True, core=False)
async def forget_faded(request: ForgetFadedRequest, forgetter: Forgetter, run: JobRun) -> ForgetFadedResult:
    """Erase faded memories of all projects and sessions. By default only reports which would be erased.

    The strength of a memory decays with the days since it was last recalled, and starts from its importance. Protected
    memories and those of importance 0.95 or more are never erased.
    """
    report = await forgetter.forget(run, dry_run=request.dry_run)
    return ForgetFadedResult(
        dry_run=report.dry_run,
        considered=report.considered,
        forgotten=report.forgotten,
        reasons={reason: report.reasons[reason] for reason in EvictionReason},
        spared=report.spared,
        bands=band_counts(report.bands),
        memories=[EvictedMemory(id=one.memory_id, reason=one.reason, strength=one.strength) for one in report.listed],
        evaluated_at=report.evaluated_at,
    )


@tool("memory", idempotent=True, core=False)
async def protect_memory(
    request: ProtectMemoryRequest, forgetter: Forgetter, projects: ProjectService, context: CallContext
) -> ProtectionResult:
    """Protect a memory from automatic forgetting. Only forget erases it."""
    return await _protect(request, forgetter, projects, context, protected=True)


@tool("memory", idempotent=True, core=False)
async def unprotect_memory(
    request: ProtectMemoryRequest, forgetter: Forgetter, projects: ProjectService, context: CallContext
) -> ProtectionResult:
    """End the protection of a memory from automatic forgetting."""
    return await _protect(request, forgetter, projects, context, protected=False)


@tool("memory", read_only=True, core=False)
async def memory_health(
    request: MemoryHealthRequest, forgetter: Forgetter, projects: ProjectService, context: CallContext
) -> MemoryHealthResult:
    """Report the strength of all memories, how many would be forgotten now, and how many were forgotten so far.

    With an id, also reports the strength of that memory and the days until it fades.
    """
    memory = None
    if request.id is not None:
        visibility = Visibility(await project_id_of(request.project, projects, context), request.session_id)
        found = await forgetter.health(request.id, visibility)
        memory = HealthView(
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
    record = await forgetter.record()  # before the counts, which then include every run that the record names
    health = await forgetter.store_health()
    every = forgetter.rules.every
    return MemoryHealthResult(
        memories=health.memories,
        bands=band_counts(health.bands),
        would_forget=health.would_forget,
        enabled=every is not None,
        threshold=forgetter.rules.threshold,
        interval_ms=None if every is None else round(every.total_seconds() * 1000),
        last_run=record.last_run,
        last_batch_count=record.last_forgotten,
        total_forgotten=record.total_forgotten,
        memory=memory,
    )


async def _protect(
    request: MemoryIdRequest,
    forgetter: Forgetter,
    projects: ProjectService,
    context: CallContext,
    *,
    protected: bool,
) -> ProtectionResult:
    visibility = Visibility(await project_id_of(request.project, projects, context), request.session_id)
    memory = await forgetter.protect(request.id, visibility, protected=protected)
    return ProtectionResult(id=memory.id, protected=memory.protected)
