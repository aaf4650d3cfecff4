"""Health checks that use the components of a running server."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from scrubjay.core.clock import system_clock
from scrubjay.core.errors import ScrubjayError

Check = Callable[[], Awaitable[dict[str, object]]]
"""Uses a component; returns facts about it, or raises."""


class ComponentHealth(BaseModel):
    """Result of one health check."""

    status: Literal["healthy", "unhealthy"]
    milliseconds: float = Field(description="How long the check took.")
    facts: dict[str, object] = Field(description="Facts reported by the check.")
    problem: str | None = Field(description="Why it is unhealthy.")
    hint: str | None = Field(description="How to fix it.")


@dataclass(frozen=True, slots=True)
class HealthResult:
    """Time and overall result of the last health check."""

    at: datetime
    healthy: bool


class Health:
    """Runs the health checks of all components."""

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._checks = checks
        self.last: HealthResult | None = None
        """Result of the last check, if any."""

    async def examine(self) -> dict[str, ComponentHealth]:
        found = {name: await _examine(check) for name, check in self._checks.items()}
        self.last = HealthResult(system_clock(), all(part.status == "healthy" for part in found.values()))
        return found


async def _examine(check: Check) -> ComponentHealth:
    started = time.perf_counter()
    facts: dict[str, object] = {}
    problem = hint = None
    try:
        facts = await check()
    except ScrubjayError as error:
        problem, hint = error.message, error.hint
    return ComponentHealth(
        status="unhealthy" if problem else "healthy",
        milliseconds=round((time.perf_counter() - started) * 1000, 3),
        facts=facts,
        problem=problem,
        hint=hint,
    )
