"""Argument types that many tools share: labels, fractions, times, idempotency keys."""

from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from scrubjay.tooling.context import CallContext


def _aware(moment: datetime) -> datetime:
    """Return the time in UTC; a time without a zone is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


Label = Annotated[str, Field(min_length=1, max_length=500)]
Share = Annotated[float, Field(ge=0, le=1)]
Moment = Annotated[datetime, AfterValidator(_aware)]
IdempotencyKey = Annotated[
    Label | None,
    Field(description="A unique key of your choice: a repeated call with the same key is executed only once."),
]


def provenance_of(context: CallContext, tool: str) -> dict[str, Any]:
    """Return the provenance of data stored by a call of this tool."""
    fields = {"tool": tool, "surface": context.surface, "client": visible_client(context.client)}
    return {name: value for name, value in fields.items() if value is not None}


def visible_client(client: str | None) -> str | None:
    """Return the client id as others may see it; an MCP session id over HTTP is a credential and is hashed."""
    if client is None or not client.startswith("mcp:"):
        return client
    return f"mcp:{sha256(client.encode()).hexdigest()[:12]}"
