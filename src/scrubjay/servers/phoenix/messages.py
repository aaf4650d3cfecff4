"""The events that clients send on a joined topic, and their payloads."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError

from scrubjay.tooling.validation import printable

DEFAULT_PRIORITY = 5
DEFAULT_TIMEOUT_MS = 30_000
MAX_TIMEOUT_MS = 600_000

# Events that clients may unsubscribe from; all others are always sent.
OPTIONAL_EVENTS = frozenset({"thought", "progress", "presence_state", "presence_diff"})
EVENTS = OPTIONAL_EVENTS | {"result", "interrupted", "error"}
ALL_EVENTS = "*"
# Events that start work and therefore count against the rate limits.
WORK_EVENTS = frozenset({"query", "call"})

Ref = Annotated[StrictStr, Field(min_length=1, max_length=255)] | StrictInt


class EventRefused(Exception):
    """The event is answered with an error; `reason` is a fixed text for programs."""

    def __init__(self, reason: str, message: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.message = message

    @property
    def response(self) -> dict[str, str]:
        return {"reason": self.reason, **({"message": self.message} if self.message else {})}


class _Payload(BaseModel):
    # Unknown fields are ignored: clients of Mimo may send more than is documented.
    model_config = ConfigDict(extra="ignore")


class _WorkPayload(_Payload):
    ref: Ref
    priority: StrictInt = Field(default=DEFAULT_PRIORITY, ge=0, le=10)
    """Higher priorities run first."""
    timeout: StrictInt = Field(default=DEFAULT_TIMEOUT_MS, ge=1, le=MAX_TIMEOUT_MS)
    """Milliseconds until the work is stopped, including the time in the queue."""


class QueryPayload(_WorkPayload):
    q: Annotated[StrictStr, Field(min_length=1)]


class CallPayload(_WorkPayload):
    tool: StrictStr
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])


class InterruptPayload(_Payload):
    ref: Ref
    reason: Annotated[StrictStr, Field(max_length=500)] = "user requested"


class SubscribePayload(_Payload):
    events: Annotated[list[StrictStr], Field(max_length=100)]


PayloadT = TypeVar("PayloadT", bound=_Payload)


def parse_payload(kind: type[PayloadT], payload: Mapping[str, Any]) -> PayloadT:
    """Validate the payload of an event; raise `EventRefused` with its problems."""
    try:
        return kind.model_validate(dict(payload))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
    if missing := sorted(str(problem["loc"][0]) for problem in problems if problem["type"] == "missing"):
        raise EventRefused(f"missing required fields: {', '.join(missing)}")
    message = "; ".join(f"{problem['loc'][0]}: {problem['msg']}" for problem in problems[:5])
    raise EventRefused("invalid payload", printable(message))
