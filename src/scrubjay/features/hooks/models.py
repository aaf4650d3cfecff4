"""What agents' programs ask and tell at certain moments, and what they are answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrubjay.features.permissions.models import Verdict


class HookEvent(StrEnum):
    """The moments that we heed."""

    PERMISSION = "permission"
    SESSION_START = "session-start"
    USER_PROMPT_SUBMIT = "user-prompt-submit"
    POST_TOOL_USE = "post-tool-use"
    STOP = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """One moment of an agent's session, as far as we heed it."""

    event: HookEvent
    agents_event: str | None = None
    """What the agent itself calls the moment; what it is answered depends on it."""
    session_id: str | None = None
    folders: tuple[str, ...] = ()
    """Where the agent works: the project's folder when it tells it, then the present one."""
    prompt: str = ""
    response: str = ""
    tool_name: str = ""
    tool_input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tool_response: Any = None
    succeeded: bool = True
    milliseconds: float = 0.0

    @property
    def client(self) -> str | None:
        """Tells this session of an agent from all other clients."""
        return f"agent:{self.session_id}" if self.session_id else None


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What the agent is answered: a verdict, something to know, or nothing."""

    verdict: "Verdict | None" = None
    context: str | None = None
