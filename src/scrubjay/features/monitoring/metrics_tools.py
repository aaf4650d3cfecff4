"""Numbers of this process: its calls, its memory and time, and the episodes that can be seen."""

import sys
import threading
from datetime import datetime
from typing import Literal

from pydantic import Field

from scrubjay import __version__
from scrubjay.core.clock import system_clock
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import OutcomeType
from scrubjay.features.episodes.quality_stats import EpisodeFigures
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.isolation.memory_usage import peak_bytes, resident_bytes
from scrubjay.tooling.call_stats import CallTally, ToolTally
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.health import Health
from scrubjay.tooling.optional_fields import is_absent as _absent

_MEGABYTE = 1024 * 1024


class GetMetricsRequest(Request):
    model_config = examples({}, {"metric_type": "performance"})

    metric_type: Literal["all", "performance", "episodes", "system"] = Field(
        default="all", description="Which numbers."
    )
    project: ProjectReference = None


class ToolMetrics(Result):
    """Calls of one tool that have ended, in the process that answers, since it began."""

    total_calls: int
    successful_calls: int
    failed_calls: int = Field(description="Errors, refusals, and calls that somebody gave up.")
    avg_duration_ms: float | None
    min_duration_ms: float | None
    max_duration_ms: float | None
    success_rate: float | None = Field(description="In percent.")


class EpisodeMetrics(Result):
    """Episodes that the asker can see."""

    total_episodes: int
    open_episodes: int
    completed_episodes: int
    successful_episodes: int
    partially_successful_episodes: int
    failed_episodes: int
    episode_success_rate: float | None = Field(
        description="The share of complete episodes that were a success, in percent; null without any."
    )
    total_steps: int
    avg_steps_per_episode: float | None
    avg_reward: float | None
    avg_quality: float | None
    avg_duration_seconds: float | None
    patterns: dict[str, int] = Field(description="How many patterns were learned, by type.")


class SystemPerformance(Result):
    """This process, as the system tells."""

    memory_usage_mb: float | None = Field(description="In memory now; null where the system does not tell.")
    peak_memory_mb: float | None = Field(description="The most there was; null likewise.")
    cpu_usage_percent: float | None = Field(description="Of one core, over the time that it has been up.")
    cpu_seconds: float
    threads: int


class PerformanceMetrics(Result):
    tool_metrics: dict[str, ToolMetrics] = Field(description="By tool; `unknown` for names that no tool has.")
    system_performance: SystemPerformance


class MonitoringStats(Result):
    uptime_seconds: float
    total_requests: int = Field(description="Calls of tools that have ended.")
    successful_requests: int
    failed_requests: int
    avg_response_time_ms: float | None
    memory_usage_mb: float | None
    cpu_usage_percent: float | None
    episode_metrics: EpisodeMetrics
    last_health_check: datetime | None = Field(description="Null until somebody calls health_check.")
    health_status: Literal["healthy", "unhealthy"] | None = Field(description="What it said; null likewise.")


class SystemMetrics(Result):
    version: str
    python: str
    platform: str
    uptime_seconds: float
    started_at: datetime
    memory_usage_mb: float | None
    cpu_usage_percent: float | None


class GetMetricsResult(Result):
    """Of the parts below, those that were asked for."""

    monitoring_stats: MonitoringStats | None = Field(default=None, exclude_if=_absent)
    performance_metrics: PerformanceMetrics | None = Field(default=None, exclude_if=_absent)
    episode_metrics: EpisodeMetrics | None = Field(default=None, exclude_if=_absent)
    system: SystemMetrics | None = Field(default=None, exclude_if=_absent)
    active_requests: int = Field(description="Calls that are under way, this one among them.")
    timestamp: datetime


@tool("server", core=False, read_only=True)
async def get_metrics(
    request: GetMetricsRequest,
    dispatcher: Dispatcher,
    health: Health,
    figures: EpisodeFigures,
    projects: ProjectService,
    context: CallContext,
) -> GetMetricsResult:
    """Tell how much this server is used: calls by tool, how they ended and how long they took, memory, time, episodes.

    All of it is counted or measured, calls since this process began. What is not known is null.
    """
    tally, kind = dispatcher.tally, request.metric_type
    answer = GetMetricsResult(active_requests=tally.active, timestamp=system_clock())
    performance = _performance(tally)
    if kind in ("all", "episodes"):
        visibility = Visibility(await project_id_of(request.project, projects, context))
        episodes = await _episodes(figures, visibility)
        if kind == "episodes":
            answer.episode_metrics = episodes
        else:
            answer.monitoring_stats = _monitoring(tally, performance, episodes, health)
    if kind in ("all", "performance"):
        tools = {name: _tool(one) for name, one in sorted(tally.tools.items())}
        answer.performance_metrics = PerformanceMetrics(tool_metrics=tools, system_performance=performance)
    if kind in ("all", "system"):
        answer.system = SystemMetrics(
            version=__version__,
            python=sys.version.split()[0],
            platform=sys.platform,
            uptime_seconds=tally.uptime_seconds,
            started_at=tally.since,
            memory_usage_mb=performance.memory_usage_mb,
            cpu_usage_percent=performance.cpu_usage_percent,
        )
    return answer


def _monitoring(
    tally: CallTally, performance: SystemPerformance, episodes: EpisodeMetrics, health: Health
) -> MonitoringStats:
    together, last = tally.together, health.last
    return MonitoringStats(
        uptime_seconds=tally.uptime_seconds,
        total_requests=together.total,
        successful_requests=together.succeeded,
        failed_requests=together.failed,
        avg_response_time_ms=together.average_ms,
        memory_usage_mb=performance.memory_usage_mb,
        cpu_usage_percent=performance.cpu_usage_percent,
        episode_metrics=episodes,
        last_health_check=last.at if last else None,
        health_status=None if last is None else "healthy" if last.healthy else "unhealthy",
    )


def _performance(tally: CallTally) -> SystemPerformance:
    seconds, up = tally.cpu_seconds, tally.uptime_seconds
    return SystemPerformance(
        memory_usage_mb=_megabytes(resident_bytes()),
        peak_memory_mb=_megabytes(peak_bytes()),
        cpu_usage_percent=100 * seconds / up if up > 0 else None,
        cpu_seconds=seconds,
        threads=threading.active_count(),
    )


def _tool(tally: ToolTally) -> ToolMetrics:
    rate = tally.success_rate
    return ToolMetrics(
        total_calls=tally.total,
        successful_calls=tally.succeeded,
        failed_calls=tally.failed,
        avg_duration_ms=tally.average_ms,
        min_duration_ms=tally.least_ms if tally.total else None,
        max_duration_ms=tally.most_ms if tally.total else None,
        success_rate=None if rate is None else 100 * rate,
    )


async def _episodes(figures: EpisodeFigures, visibility: Visibility) -> EpisodeMetrics:
    counts = await figures.counts(visibility)
    by_outcome = {kind: counts.outcomes.get(kind, 0) for kind in OutcomeType}
    complete = sum(by_outcome.values())
    total = complete + counts.open
    return EpisodeMetrics(
        total_episodes=total,
        open_episodes=counts.open,
        completed_episodes=complete,
        successful_episodes=by_outcome[OutcomeType.SUCCESS],
        partially_successful_episodes=by_outcome[OutcomeType.PARTIAL_SUCCESS],
        failed_episodes=by_outcome[OutcomeType.FAILURE],
        episode_success_rate=100 * by_outcome[OutcomeType.SUCCESS] / complete if complete else None,
        total_steps=counts.steps,
        avg_steps_per_episode=counts.steps / total if total else None,
        avg_reward=counts.average_reward,
        avg_quality=counts.average_quality,
        avg_duration_seconds=counts.average_seconds,
        patterns={kind.value: count for kind, count in counts.patterns.items()},
    )


def _megabytes(size: int | None) -> float | None:
    return None if size is None else size / _MEGABYTE
