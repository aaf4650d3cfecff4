"""A question or call of a client, from the queue to its result."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio

from scrubjay.core.errors import Internal, ScrubjayError, Unavailable
from scrubjay.core.progress import AnswerStep, StepKind, StepListener
from scrubjay.servers.phoenix.messages import Ref
from scrubjay.servers.phoenix.result_payloads import error_payload
from scrubjay.servers.phoenix.work_queue import Ticket

TIMEOUT_REASON = "timeout"


class EventPusher(Protocol):
    """Pushes an event to the client."""

    def __call__(self, event: str, payload: Mapping[str, Any]) -> None: ...


@dataclass(slots=True, kw_only=True)
class WorkItem:
    """A question or call. `interrupt` stops it, whether it waits or runs."""

    ref: Ref
    ticket: Ticket
    timeout_ms: int
    perform: Callable[["WorkItem"], Awaitable[dict[str, Any]]]
    """Computes the data of the result."""
    grace_seconds: float = 0.0
    """Extra seconds for work that observes the timeout by itself."""
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

    async def run(self, push: EventPusher, timestamp: Callable[[], str], on_step: StepListener) -> None:
        """Wait in the queue, do the work, and push the result, only after the work has stopped."""
        data: dict[str, Any] | None = None
        error: ScrubjayError | None = None
        try:
            deadline = self.began_at + self.timeout_ms / 1000 + self.grace_seconds
            with self.scope, anyio.CancelScope(deadline=deadline):
                await self.ticket.wait()
                waited = f" after {self.latency_ms:.0f} ms in the queue" if self.latency_ms >= 1 else ""
                on_step(AnswerStep(StepKind.PROCESSING, f"working on it{waited}"))
                data = await self.perform(self)
        except ScrubjayError as problem:
            error = problem
        finally:
            self.ticket.release()
        if data is not None:
            self._push_result(push, "success", data)
        elif self.interrupted_by is not None:
            push("interrupted", {"ref": self.ref, "reason": self.interrupted_by})
            self._push_result(push, "interrupted", {"reason": self.interrupted_by})
        else:
            self._push_error(push, timestamp, error or self._timeout_error())

    def push_internal_error(self, push: EventPusher, timestamp: Callable[[], str], error: Exception) -> None:
        """Push the error for a bug: its type, but not its message, which may quote user data."""
        self._push_error(push, timestamp, Internal(f"it failed unexpectedly ({type(error).__name__})"))

    def _timeout_error(self) -> ScrubjayError:
        return Unavailable(
            f"not done within {self.timeout_ms} ms; it was stopped",
            hint="use a larger timeout",
            details={"reason": TIMEOUT_REASON, "timeout_ms": self.timeout_ms},
        )

    def _push_error(self, push: EventPusher, timestamp: Callable[[], str], error: ScrubjayError) -> None:
        payload = error_payload(error)
        push("error", {"ref": self.ref, "error": payload, "timestamp": timestamp()})
        self._push_result(push, "error", {"error": payload})

    def _push_result(self, push: EventPusher, status: str, data: dict[str, Any]) -> None:
        push("result", {"ref": self.ref, "status": status, "data": data, "latency_ms": self.latency_ms})
