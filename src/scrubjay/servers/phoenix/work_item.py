"""One question or call, from the line in front of the workers to its result."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio

from scrubjay.core.errors import Internal, ScrubjayError, Unavailable
from scrubjay.core.progress import Step, StepKind, Witness
from scrubjay.servers.phoenix.answers import error_data
from scrubjay.servers.phoenix.messages import Ref
from scrubjay.servers.phoenix.work_queue import Ticket

TIMEOUT_REASON = "timeout"


class Teller(Protocol):
    """Pushes an event to the client."""

    def __call__(self, event: str, payload: Mapping[str, Any]) -> None: ...


@dataclass(slots=True, kw_only=True)
class Work:
    """What somebody waits for. `interrupt` stops it wherever it is."""

    ref: Ref
    ticket: Ticket
    timeout_ms: int
    do: Callable[["Work"], Awaitable[dict[str, Any]]]
    """Makes the result's data."""
    grace_seconds: float = 0.0
    """How much longer it is waited for one that keeps to its time by itself."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    began_at: float = field(default_factory=anyio.current_time)
    interrupted_by: str | None = None

    @property
    def latency_ms(self) -> float:
        return round((anyio.current_time() - self.began_at) * 1000, 2)

    @property
    def remaining_ms(self) -> int:
        return max(1, self.timeout_ms - round(self.latency_ms))

    def interrupt(self, reason: str) -> None:
        self.interrupted_by = reason
        self.scope.cancel()

    async def run(self, tell: Teller, timestamp: Callable[[], str], witness: Witness) -> None:
        """Wait for its turn, do it, and tell how it ended: only when nothing of it goes on any more."""
        data: dict[str, Any] | None = None
        error: ScrubjayError | None = None
        try:
            deadline = self.began_at + self.timeout_ms / 1000 + self.grace_seconds
            with self.scope, anyio.CancelScope(deadline=deadline):
                await self.ticket.turn()
                waited = f" after {self.latency_ms:.0f} ms in the line" if self.latency_ms >= 1 else ""
                witness(Step(StepKind.PROCESSING, f"working on it{waited}"))
                data = await self.do(self)
        except ScrubjayError as problem:
            error = problem
        finally:
            self.ticket.give_back()
        if data is not None:
            self._tell_result(tell, "success", data)
        elif self.interrupted_by is not None:
            tell("interrupted", {"ref": self.ref, "reason": self.interrupted_by})
            self._tell_result(tell, "interrupted", {"reason": self.interrupted_by})
        else:
            self._tell_error(tell, timestamp, error or self._too_late())

    def tell_broken(self, tell: Teller, timestamp: Callable[[], str], error: Exception) -> None:
        """Tell of a bug: its kind, but not its message, which may quote anything."""
        self._tell_error(tell, timestamp, Internal(f"it failed unexpectedly ({type(error).__name__})"))

    def _too_late(self) -> ScrubjayError:
        return Unavailable(
            f"not done within {self.timeout_ms} ms; it was stopped",
            hint="give a greater timeout",
            details={"reason": TIMEOUT_REASON, "timeout_ms": self.timeout_ms},
        )

    def _tell_error(self, tell: Teller, timestamp: Callable[[], str], error: ScrubjayError) -> None:
        told = error_data(error)
        tell("error", {"ref": self.ref, "error": told, "timestamp": timestamp()})
        self._tell_result(tell, "error", {"error": told})

    def _tell_result(self, tell: Teller, status: str, data: dict[str, Any]) -> None:
        tell("result", {"ref": self.ref, "status": status, "data": data, "latency_ms": self.latency_ms})
