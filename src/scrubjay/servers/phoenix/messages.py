"""What clients may say on a topic they have joined, and what each event must carry."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError

from scrubjay.tooling.validation import printable

DEFAULT_PRIORITY = 5
DEFAULT_TIMEOUT_MS = 30_000
MAX_TIMEOUT_MS = 600_000

# What clients may choose not to hear; all else is always sent.
OPTIONAL_EVENTS = frozenset({"thought", "progress", "presence_state", "presence_diff"})
EVENTS = OPTIONAL_EVENTS | {"result", "interrupted", "error"}
ALL_EVENTS = "*"
# What makes work, and so counts as a request does.
WORK = frozenset({"query", "call"})

Ref = Annotated[StrictStr, Field(min_length=1, max_length=255)] | StrictInt


class Refused(Exception):
    """An event that is answered with an error; the reason is for programs."""

    def __init__(self, reason: str, message: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.message = message

    @property
    def response(self) -> dict[str, str]:
        return {"reason": self.reason, **({"message": self.message} if self.message else {})}


class _Payload(BaseModel):
    # Unknown fields are left alone: clients of Mimo may send more than is documented.
    model_config = ConfigDict(extra="ignore")


class _Work(_Payload):
    ref: Ref
    priority: StrictInt = Field(default=DEFAULT_PRIORITY, ge=0, le=10)
    """The greater, the sooner."""
    timeout: StrictInt = Field(default=DEFAULT_TIMEOUT_MS, ge=1, le=MAX_TIMEOUT_MS)
    """Milliseconds from now on, waiting included."""


class Query(_Work):
    q: Annotated[StrictStr, Field(min_length=1)]


class Call(_Work):
    tool: StrictStr
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])


class Interrupt(_Payload):
    ref: Ref
    reason: Annotated[StrictStr, Field(max_length=500)] = "user requested"


class Subscribe(_Payload):
    events: Annotated[list[StrictStr], Field(max_length=100)]


PayloadT = TypeVar("PayloadT", bound=_Payload)


def read(kind: type[PayloadT], payload: Mapping[str, Any]) -> PayloadT:
    """The payload of an event; `Refused` with all that is wrong with it."""
    try:
        return kind.model_validate(dict(payload))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
    if missing := sorted(str(problem["loc"][0]) for problem in problems if problem["type"] == "missing"):
        raise Refused(f"missing required fields: {', '.join(missing)}")
    said = "; ".join(f"{problem['loc'][0]}: {problem['msg']}" for problem in problems[:5])
    raise Refused("invalid payload", printable(said))
