"""The context of a call: caller, surface, client and progress reporting."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from scrubjay.core.callers import OWNER, Caller
from scrubjay.core.ids import new_id
from scrubjay.core.progress import Reporter, SilentReporter, StepListener, ignore_step


def _new_request_id() -> str:
    return new_id("req")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """Metadata of one call; made by the servers, injected into tools by type."""

    surface: str
    """The protocol: `python`, `mcp-stdio`, `mcp-http`, `rest`, `openai`, `synapse`, `mira`, `cli`."""

    caller: Caller = OWNER
    """The authenticated caller."""

    client: str | None = None
    """Identifies the client; None when the protocol cannot."""

    address: str | None = None
    """Network address of the caller; None for local calls."""

    traceparent: str | None = None
    """The parent span as sent by the caller (W3C Trace Context)."""

    working_directory: str | None = None
    """Working directory of a local client; determines its default project."""

    patience: float | None = None
    """Seconds to wait for a job before returning it unfinished; None waits until it has ended."""

    request_id: str = field(default_factory=_new_request_id)
    reporter: Reporter = field(default_factory=SilentReporter)

    on_step: StepListener = ignore_step
    """Called for each step in answering a question, where the protocol can stream them."""

    @property
    def trace_id(self) -> str | None:
        """Return the trace id."""
        return self.traceparent.split("-")[1] if self.traceparent else None

    @property
    def who(self) -> dict[str, str]:
        """Return the known identity fields, for log entries."""
        known = {
            "caller": self.caller.name,
            "key_id": self.caller.key_id,
            "client": self.client,
            "address": self.address,
            "trace_id": self.trace_id,
            "request_id": self.request_id,
        }
        return {name: value for name, value in known.items() if value is not None}

    def kept(self) -> dict[str, Any]:
        """Return the fields that a job stores about the call that started it; `from_kept` reads them."""
        kept = {"surface": self.surface, "client": self.client, "working_directory": self.working_directory}
        if not self.caller.holds_key:
            return kept
        caller = {"name": self.caller.name, "scopes": sorted(self.caller.scopes), "key_id": self.caller.key_id}
        return {**kept, "caller": caller}

    @classmethod
    def from_kept(cls, kept: Mapping[str, Any]) -> Self:
        """Return the context of a job, with the rights of the caller who started it."""
        context = cls(**{name: value for name, value in kept.items() if name != "caller"})
        if (caller := kept.get("caller")) is None:
            return context
        return replace(context, caller=Caller(caller["name"], frozenset(caller["scopes"]), caller["key_id"]))
