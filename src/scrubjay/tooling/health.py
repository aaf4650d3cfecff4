"""Whether the parts of a running server do what they should, found out by using them."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from scrubjay.core.clock import system_clock
from scrubjay.core.errors import ScrubjayError

Check = Callable[[], Awaitable[dict[str, object]]]
"""Uses a part for real; returns facts about it, or raises."""


class ComponentHealth(BaseModel):
    """One part: whether it worked just now, and how long that took."""

    status: Literal["healthy", "unhealthy"]
    milliseconds: float = Field(description="How long the check took.")
    facts: dict[str, object] = Field(description="What the check learned.")
    problem: str | None = Field(description="Why it is unhealthy.")
    hint: str | None = Field(description="What can be done about it.")


@dataclass(frozen=True, slots=True)
class Examined:
    """When the parts were checked, and whether all of them worked."""

    at: datetime
    healthy: bool


class Health:
    """The checks of all parts, each of which really uses its part."""

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._checks = checks
        self.last: Examined | None = None
        """What was found the last time that somebody asked, if anybody has."""

    async def examine(self) -> dict[str, ComponentHealth]:
        found = {name: await _examine(check) for name, check in self._checks.items()}
        self.last = Examined(system_clock(), all(part.status == "healthy" for part in found.values()))
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
