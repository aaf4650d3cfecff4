"""Values of hooks: the events of coding agents, their data, and the answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from scrubjay.core.callers import OWNER, Caller

if TYPE_CHECKING:
    from scrubjay.features.permissions.models import PermissionVerdict


class HookEvent(StrEnum):
    """The hook events that Scrubjay handles."""

    PERMISSION = "permission"
    SESSION_START = "session-start"
    USER_PROMPT_SUBMIT = "user-prompt-submit"
    POST_TOOL_USE = "post-tool-use"
    STOP = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """One hook event of an agent's session, with the fields that Scrubjay uses."""

    event: HookEvent
    agents_event: str | None = None
    """The agent's own name for the event; it determines the format of the answer."""
    session_id: str | None = None
    folders: tuple[str, ...] = ()
    """Where the agent works: the project folder if it is known, then the current folder."""
    prompt: str = ""
    response: str = ""
    tool_name: str = ""
    tool_input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tool_response: Any = None
    succeeded: bool = True
    milliseconds: float = 0.0
    with_plans: bool = True
    """Whether a briefing may contain tasks and goals."""
    code_reader: Caller = OWNER
    """Whose rights limit what hints say about code."""

    @property
    def client(self) -> str | None:
        """The client id of this agent session, distinct from all other clients."""
        return f"agent:{self.session_id}" if self.session_id else None


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """The answer to a hook: a permission verdict, context to inject, or nothing."""

    verdict: "PermissionVerdict | None" = None
    context: str | None = None
