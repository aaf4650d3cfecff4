"""Tool that returns metrics of this process and of visible episodes."""

import sys
import threading
from datetime import datetime
from typing import Literal

from pydantic import Field

from scrubjay import __version__
from scrubjay.core.clock import system_clock
from scrubjay.core.scopes import Visibility
from scrubjay.features.episodes.models import OutcomeType
from scrubjay.features.episodes.quality_stats import EpisodeStatistics
from scrubjay.features.projects.arguments import ProjectReference, project_id_of
from scrubjay.features.projects.service import ProjectService
from scrubjay.isolation.memory_usage import peak_bytes, resident_bytes
from scrubjay.tooling.call_stats import CallStats, ToolStats
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.health import Health
from scrubjay.tooling.optional_fields import is_absent

_MEGABYTE = 1024 * 1024


class GetMetricsRequest(Request):
    model_config = examples({}, {"metric_type": "performance"})

    metric_type: Literal["all", "performance", "episodes", "system"] = Field(
        default="all", description="Group of metrics to return."
    )
    project: ProjectReference = None


class ToolMetrics(Result):
    """Finished calls of one tool since this process started."""

    total_calls: int
    successful_calls: int
    failed_calls: int = Field(description="Errors, refusals and cancelled calls.")
    avg_duration_ms: float | None
    min_duration_ms: float | None
    max_duration_ms: float | None
    success_rate: float | None = Field(description="Percent.")


class EpisodeMetrics(Result):
    """Episodes visible to the caller."""

    total_episodes: int
    open_episodes: int
    completed_episodes: int
    successful_episodes: int
    partially_successful_episodes: int
    failed_episodes: int
    episode_success_rate: float | None = Field(
        description="Percent of completed episodes that succeeded; null without any."
    )
    total_steps: int
    avg_steps_per_episode: float | None
    avg_reward: float | None
    avg_quality: float | None
    avg_duration_seconds: float | None
    patterns: dict[str, int] = Field(description="Number of learned patterns by type.")


class SystemPerformance(Result):
    """Resource usage of this process as reported by the operating system."""

    memory_usage_mb: float | None = Field(description="Resident memory; null if unknown.")
    peak_memory_mb: float | None = Field(description="Peak resident memory; null if unknown.")
    cpu_usage_percent: float | None = Field(description="Average since the start, in percent of one core.")
    cpu_seconds: float
    threads: int


class PerformanceMetrics(Result):
    tool_metrics: dict[str, ToolMetrics] = Field(description="Metrics by tool; `unknown` for unknown tool names.")
    system_performance: SystemPerformance


class MonitoringStats(Result):
    uptime_seconds: float
    total_requests: int = Field(description="Finished tool calls.")
    successful_requests: int
    failed_requests: int
    avg_response_time_ms: float | None
    memory_usage_mb: float | None
    cpu_usage_percent: float | None
    episode_metrics: EpisodeMetrics
    last_health_check: datetime | None = Field(description="Null before the first health_check.")
    health_status: Literal["healthy", "unhealthy"] | None = Field(description="Result of the last health_check.")


class SystemMetrics(Result):
    version: str
    python: str
    platform: str
    uptime_seconds: float
    started_at: datetime
    memory_usage_mb: float | None
    cpu_usage_percent: float | None


class GetMetricsResult(Result):
    """Result; only the requested groups are present."""

    monitoring_stats: MonitoringStats | None = Field(default=None, exclude_if=is_absent)
    performance_metrics: PerformanceMetrics | None = Field(default=None, exclude_if=is_absent)
    episode_metrics: EpisodeMetrics | None = Field(default=None, exclude_if=is_absent)
    system: SystemMetrics | None = Field(default=None, exclude_if=is_absent)
    active_requests: int = Field(description="Running calls, including this one.")
    timestamp: datetime


@tool("server", core=False, read_only=True)
async def get_metrics(
    request: GetMetricsRequest,
    dispatcher: Dispatcher,
    health: Health,
    statistics: EpisodeStatistics,
    projects: ProjectService,
    context: CallContext,
) -> GetMetricsResult:
    """Return usage metrics: calls by tool with outcomes and durations, memory, CPU time and episodes.

    All values are counted or measured, calls since this process started. Unknown values are null.
    """
    stats, metric_type = dispatcher.stats, request.metric_type
    result = GetMetricsResult(active_requests=stats.active, timestamp=system_clock())
    performance = _performance(stats)
    if metric_type in ("all", "episodes"):
        visibility = Visibility(await project_id_of(request.project, projects, context))
        episodes = await _episodes(statistics, visibility)
        if metric_type == "episodes":
            result.episode_metrics = episodes
        else:
            result.monitoring_stats = _monitoring(stats, performance, episodes, health)
    if metric_type in ("all", "performance"):
        tools = {name: _tool(one) for name, one in sorted(stats.tools.items())}
        result.performance_metrics = PerformanceMetrics(tool_metrics=tools, system_performance=performance)
    if metric_type in ("all", "system"):
        result.system = SystemMetrics(
            version=__version__,
            python=sys.version.split()[0],
            platform=sys.platform,
            uptime_seconds=stats.uptime_seconds,
            started_at=stats.since,
            memory_usage_mb=performance.memory_usage_mb,
            cpu_usage_percent=performance.cpu_usage_percent,
        )
    return result


def _monitoring(
    stats: CallStats, performance: SystemPerformance, episodes: EpisodeMetrics, health: Health
) -> MonitoringStats:
    total, last = stats.total, health.last
    return MonitoringStats(
        uptime_seconds=stats.uptime_seconds,
        total_requests=total.total,
        successful_requests=total.succeeded,
        failed_requests=total.failed,
        avg_response_time_ms=total.average_ms,
        memory_usage_mb=performance.memory_usage_mb,
        cpu_usage_percent=performance.cpu_usage_percent,
        episode_metrics=episodes,
        last_health_check=last.at if last else None,
        health_status=None if last is None else "healthy" if last.healthy else "unhealthy",
    )


def _performance(stats: CallStats) -> SystemPerformance:
    cpu_seconds, uptime = stats.cpu_seconds, stats.uptime_seconds
    return SystemPerformance(
        memory_usage_mb=_megabytes(resident_bytes()),
        peak_memory_mb=_megabytes(peak_bytes()),
        cpu_usage_percent=100 * cpu_seconds / uptime if uptime > 0 else None,
        cpu_seconds=cpu_seconds,
        threads=threading.active_count(),
    )


def _tool(stats: ToolStats) -> ToolMetrics:
    rate = stats.success_rate
    return ToolMetrics(
        total_calls=stats.total,
        successful_calls=stats.succeeded,
        failed_calls=stats.failed,
        avg_duration_ms=stats.average_ms,
        min_duration_ms=stats.min_ms if stats.total else None,
        max_duration_ms=stats.max_ms if stats.total else None,
        success_rate=None if rate is None else 100 * rate,
    )


async def _episodes(statistics: EpisodeStatistics, visibility: Visibility) -> EpisodeMetrics:
    counts = await statistics.counts(visibility)
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
