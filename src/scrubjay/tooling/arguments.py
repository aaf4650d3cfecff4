"""What many tools take: labels, shares, moments, a key that makes a call happen once."""

from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from scrubjay.tooling.context import CallContext


def _aware(moment: datetime) -> datetime:
    """A time without a zone is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


Label = Annotated[str, Field(min_length=1, max_length=500)]
Share = Annotated[float, Field(ge=0, le=1)]
Moment = Annotated[datetime, AfterValidator(_aware)]
IdempotencyKey = Annotated[
    Label | None,
    Field(description="A key of your choosing for this very call: sent again with the same key, it is done only once."),
]


def provenance_of(context: CallContext, tool: str) -> dict[str, Any]:
    """Where something comes from that a call of this tool brings."""
    said = {"tool": tool, "surface": context.surface, "client": shown_client(context.client)}
    return {name: value for name, value in said.items() if value is not None}


def shown_client(client: str | None) -> str | None:
    """A client as others may see it: whoever knows the session's id of one over HTTP could use it."""
    if client is None or not client.startswith("mcp:"):
        return client
    return f"mcp:{sha256(client.encode()).hexdigest()[:12]}"
