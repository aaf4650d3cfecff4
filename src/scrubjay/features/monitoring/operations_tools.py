"""Tools for operators: status of components and services, and the audit log."""

from datetime import datetime
from typing import Literal

import anyio.to_thread
from pydantic import Field

from scrubjay.core.errors import Unavailable
from scrubjay.features.monitoring.audit.log import AuditLog
from scrubjay.features.monitoring.audit.reader import AuditQuery, read_page
from scrubjay.features.monitoring.status import StatusSources
from scrubjay.models.breaker import BreakerState
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.security_events import scope_error


class CortexStatusRequest(Request):
    pass


class CompiledPart(Result):
    """The optional compiled accelerator (Mimo's `rust_nifs`, here in C)."""

    enabled: bool = Field(description="True if the settings enable it.")
    loaded: bool = Field(description="True if a build of the current sources is loaded.")


class StorePart(Result):
    """A store that Mimo has in addition to the memory store."""

    enabled: bool = Field(description="True if this server has it and the settings enable it.")
    tables_exist: bool = Field(description="True if its tables exist.")


class SocketPart(Result):
    """The WebSocket server."""

    enabled: bool = Field(description="True if clients can connect by WebSocket.")
    connections: int = Field(description="Number of open connections in this process.")


class BreakerView(Result):
    """Circuit breaker of an external service."""

    service: str = Field(description="Purpose: embedding, code_embedding, code_batches or llm.")
    endpoint: str = Field(description="Name and host of the service.")
    state: BreakerState = Field(
        description="closed: requests pass. open: requests fail at once. half_open: a probe is running."
    )
    failures: int = Field(description="Consecutive failures.")
    retry_after_seconds: float = Field(description="Seconds until the next probe while it is open.")
    problem: str | None = Field(description="Last failure since the last success.")


class Degradation(Result):
    """State of a service, and the fallback while it cannot be used."""

    degraded: bool
    status: Literal["local", "off", "ok", "degraded", "unavailable"] = Field(
        description="local: no external service is used. off: none is configured. ok. degraded: its breaker is open "
        "after failures. unavailable: it cannot be used as configured."
    )
    model: str | None = Field(description="Configured model.")
    fallback: str = Field(description="Fallback while the service does not answer.")
    problem: str | None


class CortexStatusResult(Result):
    rust_nifs: CompiledPart
    semantic_store: StorePart
    procedural_store: StorePart
    websocket_synapse: SocketPart
    breakers: list[BreakerView] = Field(description="Breakers of all external services that this process has used.")
    degradation: dict[str, Degradation] = Field(description="State and fallback of each service.")
    audit: bool = Field(description="True if the audit log is enabled and the last write succeeded.")
    tracing: bool = Field(description="True if calls are traced with OpenTelemetry.")


class AuditLogRequest(Request):
    model_config = examples({"decision": "refused"}, {"tool": "forget", "limit": 10})

    kind: Literal["call", "read", "refusal", "request", "security", "verdict", "audit"] | None = Field(
        default=None,
        description="call: tool call. read: resource read. request: other requests, such as a chat. "
        "refusal: request refused before a call. security: events of keys and limits. "
        "verdict: decision of permission rules on an agent's action.",
    )
    decision: Literal["allowed", "refused", "asked", "failed"] | None = Field(
        default=None, description="Only this outcome."
    )
    tool: str | None = Field(default=None, max_length=100, description="Only this tool.")
    caller: str | None = Field(default=None, max_length=200, description="Only the key with this name, or `owner`.")
    key_id: str | None = Field(default=None, max_length=100, description="Only this key id.")
    client: str | None = Field(default=None, max_length=200, description="Only this client.")
    address: str | None = Field(default=None, max_length=100, description="Only this address.")
    surface: str | None = Field(default=None, max_length=40, description="Only this surface, such as rest.")
    request_id: str | None = Field(default=None, max_length=100, description="Only this request id.")
    since: datetime | None = Field(default=None, description="Only entries at or after this time.")
    until: datetime | None = Field(default=None, description="Only entries up to this time.")
    limit: int = Field(default=50, ge=1, le=500, description="Entries per page.")
    cursor: str | None = Field(
        default=None, pattern=r"^aud_[0-9a-z]{26}$", description="next_cursor of the previous page."
    )


class AuditEntry(Result):
    """One event. Unknown fields are null."""

    id: str
    time: datetime
    kind: str
    decision: str
    caller: str | None = None
    key_id: str | None = None
    client: str | None = None
    address: str | None = None
    surface: str | None = None
    tool: str | None = None
    resource: str | None = None
    outcome: str | None = Field(default=None, description="`ok`, or the error code.")
    ms: float | None = Field(default=None, description="Duration in milliseconds.")
    ids: list[str] = Field(default=[], description="Ids that a changing call affected.")
    method: str | None = None
    path: str | None = None
    event: str | None = None
    event_id: str | None = None
    reason: str | None = None
    request_id: str | None = None
    trace_id: str | None = None


class AuditLogResult(Result):
    entries: list[AuditEntry] = Field(description="Newest first.")
    next_cursor: str | None = Field(description="Pass it as cursor to get the next page; null on the last page.")
    unreadable: int = Field(description="Number of lines read that are not valid entries.")


@tool("server", read_only=True, core=False)
async def cortex_status(request: CortexStatusRequest, sources: StatusSources) -> CortexStatusResult:
    """Show enabled components, circuit breakers of external services, and active fallbacks."""
    return CortexStatusResult(
        rust_nifs=CompiledPart(enabled=sources.compiled_enabled, loaded=sources.compiled_loaded()),
        semantic_store=StorePart(enabled=sources.semantic_store, tables_exist=sources.semantic_store),
        procedural_store=StorePart(enabled=sources.procedural_store, tables_exist=sources.procedural_store),
        websocket_synapse=SocketPart(enabled=sources.websocket(), connections=sources.connections()),
        breakers=[
            BreakerView(
                service=one.service,
                endpoint=one.endpoint,
                state=one.standing.state,
                failures=one.standing.failures,
                retry_after_seconds=round(one.standing.retry_after_seconds, 3),
                problem=one.standing.problem,
            )
            for one in sources.breakers
        ],
        degradation={
            name: Degradation.model_validate(status, from_attributes=True)
            for name, status in (await sources.services()).items()
        },
        audit=sources.is_audit_written(),
        tracing=sources.is_traced,
    )


@tool("server", read_only=True, core=False)
async def audit_log(request: AuditLogRequest, audit: AuditLog, context: CallContext) -> AuditLogResult:
    """Read who called what with which outcome, newest first. Arguments and results are never recorded.

    Requires the owner or a key with the full scope `server`, because it shows the actions of others.
    """
    if not context.caller.may_call("server", read_only=False):
        fields = {"tool": "audit_log", "surface": context.surface, **context.who}
        raise scope_error(context.caller, "server", read_only=False, what="the audit log", **fields)
    if not audit.enabled:
        raise Unavailable("the audit log is disabled", hint="set SCRUBJAY_AUDIT_ENABLED to enable it")
    names = ("kind", "decision", "tool", "caller", "key_id", "client", "address", "surface", "request_id")
    exactly = {name: value for name in names if (value := getattr(request, name)) is not None}
    query = AuditQuery(
        exactly=exactly, since=request.since, until=request.until, before=request.cursor, limit=request.limit
    )

    def read() -> AuditLogResult:
        audit.write()
        page = read_page(audit.lines, query)
        entries = [AuditEntry.model_validate(entry) for entry in page.entries]
        cursor = entries[-1].id if page.more else None
        return AuditLogResult(entries=entries, next_cursor=cursor, unreadable=page.unreadable)

    return await anyio.to_thread.run_sync(read)
