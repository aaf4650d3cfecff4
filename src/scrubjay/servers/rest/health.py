"""`GET /health`: reports that the process is alive, without opening the store. Plain ASGI, as it is called often."""

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
# Seconds for which a response body is reused.
_CACHE_SECONDS: Final = 1.0

StoreState = Literal["healthy", "pending", "error"]


class SystemState(BaseModel):
    """The state of the process and its machine."""

    schedulers: int = Field(description="Number of processors.")
    run_queue: int = Field(description="Load average of the last minute, rounded.")
    memory_mb: float = Field(description="Peak memory of this process in MiB.")


class StoreStates(BaseModel):
    """The state of each store: `healthy` when it is open, `pending` before its first use.

    `error` if the last write could not be stored, the disk is full, or another version of the program owns the store.
    """

    episodic: StoreState
    semantic: StoreState
    procedural: StoreState


class ToolCount(BaseModel):
    """The number of tools."""

    count: int


class Liveness(BaseModel):
    """The process is alive. Its parts are not tested; the tool `health_check` tests them and gives reasons."""

    status: Literal["healthy", "degraded"] = Field(description="`degraded` if a store is in the state `error`.")
    version: str
    timestamp: datetime
    system: SystemState
    stores: StoreStates
    tools: ToolCount


class HealthEndpoint:
    """Serves the liveness report, at most one second old."""

    def __init__(self, version: str, tools: int, stores: Callable[[], Mapping[str, StoreState]]) -> None:
        self._version = version
        self._tools = tools
        self._stores = stores
        self._body = b""
        self._made_at = -_CACHE_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        now = time.monotonic()
        if now - self._made_at >= _CACHE_SECONDS:
            self._body, self._made_at = self._liveness().model_dump_json().encode(), now
        await Response(self._body, media_type="application/json")(scope, receive, send)

    def _liveness(self) -> Liveness:
        stores = StoreStates.model_validate(self._stores())
        return Liveness(
            status="degraded" if "error" in stores.model_dump().values() else "healthy",
            version=self._version,
            timestamp=datetime.now(UTC),
            system=SystemState(
                schedulers=os.cpu_count() or 1, run_queue=round(os.getloadavg()[0]), memory_mb=_peak_megabytes()
            ),
            stores=stores,
            tools=ToolCount(count=self._tools),
        )


def _peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)
