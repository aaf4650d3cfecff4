"""Looking after a server: which parts are on, which services are left alone, who called what."""

from datetime import datetime
from typing import Literal

import anyio.to_thread
from pydantic import Field

from scrubjay.core.errors import Unavailable
from scrubjay.features.monitoring.audit.log import AuditLog
from scrubjay.features.monitoring.audit.reader import Wanted, read_page
from scrubjay.features.monitoring.status import Parts
from scrubjay.models.breaker import BreakerState
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.security_events import closed


class CortexStatusRequest(Request):
    pass


class CompiledPart(Result):
    """What Mimo has in Rust and this server in C."""

    enabled: bool = Field(description="Whether the owner wants it used.")
    loaded: bool = Field(description="Whether there is one that was made of these sources.")


class StorePart(Result):
    """A store that Mimo has beside that of memories."""

    enabled: bool = Field(description="Whether this server has one, and its owner wants it used.")
    tables_exist: bool = Field(description="Whether anything can be kept there.")


class SocketPart(Result):
    """The WebSocket."""

    enabled: bool = Field(description="Whether clients may connect to this server by one.")
    connections: int = Field(description="How many are open, in the process that answers.")


class BreakerView(Result):
    """What keeps a service that fails from being asked again and again."""

    service: str = Field(description="What it is asked for: embedding, code_embedding, code_batches, llm.")
    place: str = Field(description="Its name and host.")
    state: BreakerState = Field(description="closed: it is asked. open: it is left alone. half_open: it is tried.")
    failures: int = Field(description="In a row, up to now.")
    retry_after_seconds: float = Field(description="When it is open: how long it will be.")
    problem: str | None = Field(description="The last failure, unless a success came after it.")


class Degradation(Result):
    """What becomes of a service's work while it cannot be used."""

    degraded: bool
    status: Literal["local", "off", "ok", "degraded", "unavailable"] = Field(
        description="local: nothing elsewhere is asked. off: nobody chose one. ok. degraded: it is left alone after "
        "failures. unavailable: it cannot be used as it is set up."
    )
    model: str | None = Field(description="The model that is meant.")
    instead: str = Field(description="What is done while it does not answer.")
    problem: str | None


class CortexStatusResult(Result):
    rust_nifs: CompiledPart
    semantic_store: StorePart
    procedural_store: StorePart
    websocket_synapse: SocketPart
    breakers: list[BreakerView] = Field(description="Of every service elsewhere that this process has had to do with.")
    degradation: dict[str, Degradation] = Field(description="Each service, and what is done without it.")
    audit: bool = Field(description="Whether the audit log is written, and could be the last time.")
    tracing: bool = Field(description="Whether calls are spans of OpenTelemetry.")


class AuditLogRequest(Request):
    model_config = examples({"decision": "refused"}, {"tool": "forget", "limit": 10})

    kind: Literal["call", "read", "refusal", "request", "security", "verdict", "audit"] | None = Field(
        default=None,
        description="call: of a tool. read: of a resource. request: of anything else, such as a chat. "
        "refusal: before any of them was asked. security: of keys and limits. "
        "verdict: of permission rules, on what an agent wanted to do.",
    )
    decision: Literal["allowed", "refused", "asked", "failed"] | None = Field(
        default=None, description="What came of it."
    )
    tool: str | None = Field(default=None, max_length=100, description="Only of this tool.")
    caller: str | None = Field(default=None, max_length=200, description="Only of the key of this name, or `owner`.")
    key_id: str | None = Field(default=None, max_length=100, description="Only of this key.")
    client: str | None = Field(default=None, max_length=200, description="Only of this client.")
    address: str | None = Field(default=None, max_length=100, description="Only from this address.")
    surface: str | None = Field(default=None, max_length=40, description="Only through this door, such as rest.")
    request_id: str | None = Field(default=None, max_length=100, description="Only of this request.")
    since: datetime | None = Field(default=None, description="Only what happened from then on.")
    until: datetime | None = Field(default=None, description="Only what happened up to then.")
    limit: int = Field(default=50, ge=1, le=500, description="How many entries a page has.")
    cursor: str | None = Field(
        default=None, pattern=r"^aud_[0-9a-z]{26}$", description="The next_cursor of the page before."
    )


class AuditEntry(Result):
    """One event. What is not known of it is null."""

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
    outcome: str | None = Field(default=None, description="`ok`, or the code of what went wrong.")
    ms: float | None = Field(default=None, description="How long it took.")
    ids: list[str] = Field(default=[], description="What a call that changes something was about.")
    method: str | None = None
    path: str | None = None
    event: str | None = None
    event_id: str | None = None
    reason: str | None = None
    request_id: str | None = None
    trace_id: str | None = None


class AuditLogResult(Result):
    entries: list[AuditEntry] = Field(description="The newest first.")
    next_cursor: str | None = Field(description="Give it as cursor to go on; null when there are no more.")
    unreadable: int = Field(description="Lines on the way that are no entries.")


@tool("server", read_only=True, core=False)
async def cortex_status(request: CortexStatusRequest, parts: Parts) -> CortexStatusResult:
    """Tell which parts are switched on, which services are left alone, and what is done without them."""
    return CortexStatusResult(
        rust_nifs=CompiledPart(enabled=parts.compiled_wanted, loaded=parts.compiled_loaded()),
        semantic_store=StorePart(enabled=parts.semantic_store, tables_exist=parts.semantic_store),
        procedural_store=StorePart(enabled=parts.procedural_store, tables_exist=parts.procedural_store),
        websocket_synapse=SocketPart(enabled=parts.websocket(), connections=parts.connections()),
        breakers=[
            BreakerView(
                service=one.service,
                place=one.place,
                state=one.standing.state,
                failures=one.standing.failures,
                retry_after_seconds=round(one.standing.retry_after_seconds, 3),
                problem=one.standing.problem,
            )
            for one in parts.breakers
        ],
        degradation={
            name: Degradation(
                degraded=found.degraded,
                status=found.status,
                model=found.model,
                instead=found.instead,
                problem=found.problem,
            )
            for name, found in (await parts.services()).items()
        },
        audit=parts.audited(),
        tracing=parts.traced,
    )


@tool("server", read_only=True, core=False)
async def audit_log(request: AuditLogRequest, audit: AuditLog, context: CallContext) -> AuditLogResult:
    """Read who called what and what came of it, the newest first. What was said is never in it.

    For the owner, and for keys with the whole scope `server`: it tells what others did.
    """
    if not context.caller.may_call("server", read_only=False):
        told = {"tool": "audit_log", "surface": context.surface, **context.who}
        raise closed(context.caller, "server", read_only=False, what="the audit log", **told)
    if not audit.enabled:
        raise Unavailable("this server writes no audit log", hint="the operator can set SCRUBJAY_AUDIT_ENABLED")
    names = ("kind", "decision", "tool", "caller", "key_id", "client", "address", "surface", "request_id")
    exactly = {name: value for name in names if (value := getattr(request, name)) is not None}
    wanted = Wanted(
        exactly=exactly, since=request.since, until=request.until, before=request.cursor, limit=request.limit
    )

    def look() -> AuditLogResult:
        audit.write()
        page = read_page(audit.lines, wanted)
        entries = [AuditEntry.model_validate(entry) for entry in page.entries]
        cursor = entries[-1].id if page.more else None
        return AuditLogResult(entries=entries, next_cursor=cursor, unreadable=page.unreadable)

    return await anyio.to_thread.run_sync(look)
