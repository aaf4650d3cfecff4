"""Who calls, and how they can be reached while the call runs."""

from dataclasses import dataclass, field
from typing import Any

from scrubjay.core.callers import OWNER, Caller
from scrubjay.core.ids import new_id
from scrubjay.core.progress import Reporter, SilentReporter, Witness, unwitnessed


def _new_request_id() -> str:
    return new_id("req")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """One call's circumstances; gateways make it, tools may ask for it by type."""

    surface: str
    """The door it came through: `python`, `mcp-stdio`, `mcp-http`, `rest`, `openai`, `synapse`, `mira`, `cli`."""

    caller: Caller = OWNER
    """Whose call it is, and so what it may reach."""

    client: str | None = None
    """Tells this client from all others, where the protocol can; None when it cannot."""

    address: str | None = None
    """Where the caller is in the network, when it came through it."""

    traceparent: str | None = None
    """The span that the call belongs to, as the caller said in the form of W3C Trace Context."""

    working_directory: str | None = None
    """Where the client works, when it works on this machine: its project unless it says otherwise."""

    patience: float | None = None
    """Seconds to wait for a job before handing it back; None waits until it has ended."""

    request_id: str = field(default_factory=_new_request_id)
    reporter: Reporter = field(default_factory=SilentReporter)

    witness: Witness = unwitnessed
    """Who hears what is done for a question, where the protocol can tell it."""

    @property
    def trace_id(self) -> str | None:
        """The trace that the call belongs to."""
        return self.traceparent.split("-")[1] if self.traceparent else None

    @property
    def who(self) -> dict[str, str]:
        """Whose call it is, as far as that is known, for the log."""
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
        """What a job remembers of the call that started it."""
        return {"surface": self.surface, "client": self.client, "working_directory": self.working_directory}
