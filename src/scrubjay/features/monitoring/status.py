"""Which parts of this server are on, and how its services elsewhere are."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from scrubjay.models.breaker import BreakerState
from scrubjay.models.breakers import Breakers

Status = Literal["local", "off", "ok", "degraded", "unavailable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStatus:
    """One service, and what is done without it."""

    status: Status
    model: str | None
    instead: str
    problem: str | None = None

    @property
    def degraded(self) -> bool:
        return self.status in ("degraded", "unavailable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What there is, told by whoever put it together."""

    compiled_wanted: bool
    compiled_loaded: Callable[[], bool]
    semantic_store: bool
    procedural_store: bool
    websocket: Callable[[], bool]
    connections: Callable[[], int]
    breakers: Breakers
    services: Callable[[], Awaitable[Mapping[str, ServiceStatus]]]
    audited: Callable[[], bool]
    traced: bool


def status_of(
    service: str, breakers: Breakers, *, model: str, instead: str, is_local: bool = False, unusable: str | None = None
) -> ServiceStatus:
    """How a service is that somebody chose: by its breakers, unless it cannot be used at all."""
    if unusable is not None:
        return ServiceStatus(status="unavailable", model=model, instead=instead, problem=unusable)
    if is_local:
        return ServiceStatus(status="local", model=model, instead=instead)
    failing = [one.standing for one in breakers if one.service == service]
    failing = [standing for standing in failing if standing.state is not BreakerState.CLOSED]
    if failing:
        return ServiceStatus(status="degraded", model=model, instead=instead, problem=failing[0].problem)
    return ServiceStatus(status="ok", model=model, instead=instead)
