"""Status of components and external services."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from scrubjay.models.breaker import BreakerState
from scrubjay.models.breakers import BreakerRegistry

Status = Literal["local", "off", "ok", "degraded", "unavailable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStatus:
    """State of one service, and the fallback without it."""

    status: Status
    model: str | None
    fallback: str
    problem: str | None = None

    @property
    def degraded(self) -> bool:
        return self.status in ("degraded", "unavailable")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSources:
    """Where the status of each component comes from, assembled by the application."""

    compiled_enabled: bool
    compiled_loaded: Callable[[], bool]
    semantic_store: bool
    procedural_store: bool
    websocket: Callable[[], bool]
    connections: Callable[[], int]
    breakers: BreakerRegistry
    services: Callable[[], Awaitable[Mapping[str, ServiceStatus]]]
    is_audit_written: Callable[[], bool]
    is_traced: bool


def status_of(
    service: str,
    breakers: BreakerRegistry,
    *,
    model: str,
    fallback: str,
    is_local: bool = False,
    configuration_problem: str | None = None,
) -> ServiceStatus:
    """Return the status of a configured service from its breakers; `configuration_problem` makes it unavailable."""
    if configuration_problem is not None:
        return ServiceStatus(status="unavailable", model=model, fallback=fallback, problem=configuration_problem)
    if is_local:
        return ServiceStatus(status="local", model=model, fallback=fallback)
    failing = [one.standing for one in breakers if one.service == service]
    failing = [standing for standing in failing if standing.state is not BreakerState.CLOSED]
    if failing:
        return ServiceStatus(status="degraded", model=model, fallback=fallback, problem=failing[0].problem)
    return ServiceStatus(status="ok", model=model, fallback=fallback)
