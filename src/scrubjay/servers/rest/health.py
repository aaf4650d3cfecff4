"""`GET /health`: that the process is alive, without touching the store; asked often, so it is plain ASGI."""

import os
import resource
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final, Literal

from pydantic import BaseModel, Field
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

HEALTH_PATH: Final = "/health"
# What is told is made anew so often.
_FRESH_SECONDS: Final = 1.0

StoreState = Literal["healthy", "pending", "error"]


class SystemState(BaseModel):
    """The process and its machine."""

    schedulers: int = Field(description="Processors.")
    run_queue: int = Field(description="How many programs the machine runs or lets wait, over the last minute.")
    memory_mb: float = Field(description="The most memory that this process has taken.")


class StoreStates(BaseModel):
    """healthy when it is open, pending when nobody has needed it yet."""

    episodic: StoreState
    semantic: StoreState
    procedural: StoreState


class ToolCount(BaseModel):
    """How many tools there are."""

    count: int


class Liveness(BaseModel):
    """The process answers; its parts are not tried, which `health_check` does."""

    status: str = Field(description="Always `healthy`.")
    version: str
    timestamp: datetime
    system: SystemState
    stores: StoreStates
    tools: ToolCount


class HealthEndpoint:
    """Answers with what was true within the last second."""

    def __init__(self, version: str, tools: int, stores: Callable[[], Mapping[str, StoreState]]) -> None:
        self._version = version
        self._tools = tools
        self._stores = stores
        self._body = b""
        self._made_at = -_FRESH_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        now = time.monotonic()
        if now - self._made_at >= _FRESH_SECONDS:
            self._body, self._made_at = self._told().model_dump_json().encode(), now
        await Response(self._body, media_type="application/json")(scope, receive, send)

    def _told(self) -> Liveness:
        return Liveness(
            status="healthy",
            version=self._version,
            timestamp=datetime.now(UTC),
            system=SystemState(
                schedulers=os.cpu_count() or 1, run_queue=round(os.getloadavg()[0]), memory_mb=_peak_megabytes()
            ),
            stores=StoreStates.model_validate(self._stores()),
            tools=ToolCount(count=self._tools),
        )


def _peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)
