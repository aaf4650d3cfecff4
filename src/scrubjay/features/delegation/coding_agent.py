"""The configured coding agent: its program, environment and limits, and the callers that may use it."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from scrubjay.core.callers import READ_ONLY, Caller
from scrubjay.core.errors import Forbidden, Unavailable
from scrubjay.isolation.limits import Bounds

# Surfaces that only users of this machine can reach.
LOCAL_SURFACES: Final = frozenset({"cli", "python", "mcp-stdio"})
# An agent runs commands, so its callers need the right to run commands themselves.
FAMILY: Final = "terminal"
MEMORIES: Final = "memory"
_SETTING: Final = "SCRUBJAY_DELEGATION_ALLOW"


class AllowedCallers(StrEnum):
    """The callers that may use the coding agent. Each value includes the ones before it."""

    NONE = "none"
    LOCAL = "local"
    KEYS = "keys"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingAgent:
    """The owner's choice of a coding agent. Callers cannot change the program, its arguments or its environment."""

    command: str = "claude"
    arguments: Sequence[str] = ()
    print_arguments: Sequence[str] = ("--print",)
    """Additional arguments with which it answers one question and exits."""
    environment: Mapping[str, str]
    """The complete environment of the process."""
    bounds: Bounds = Bounds()
    allow: AllowedCallers = AllowedCallers.LOCAL
    max_instances: int = 4
    """Maximum number of agents that run at once."""

    @property
    def name(self) -> str:
        return self.command.rsplit("/", 1)[-1]

    @property
    def program(self) -> str | None:
        """Path of the executable; None if it is not installed."""
        return shutil.which(self.command, path=self.environment["PATH"])

    def may_be_used_by(self, caller: Caller, surface: str) -> bool:
        """Return True if this caller may use the agent through this surface."""
        return self._refusal(caller, surface) is None

    def program_for(self, caller: Caller, surface: str) -> str:
        """Return the path of the executable.

        Raise `Forbidden` if the caller may not use the agent, and `Unavailable` if it is not installed.
        """
        if (refusal := self._refusal(caller, surface)) is not None:
            raise refusal
        if (program := self.program) is None:
            raise Unavailable(
                f"the program {self.command!r} is not installed on this machine",
                hint="install the coding agent, or set SCRUBJAY_DELEGATION_COMMAND to another program",
                details={"reason": "no_coding_agent"},
            )
        return program

    def _refusal(self, caller: Caller, surface: str) -> Forbidden | None:
        def refused(reason: str, hint: str) -> Forbidden:
            return Forbidden(reason, hint=hint, details={"reason": "delegation", "allow": self.allow.value})

        if self.allow is AllowedCallers.NONE:
            return refused("coding agents are switched off on this server", f"the owner can set {_SETTING}")
        if not caller.may_call(FAMILY, read_only=False):
            return refused("a coding agent needs the right to run commands", f"use a key with the scope {FAMILY}")
        if not caller.may_read(MEMORIES):  # the agent reads the store as its owner
            return refused("a coding agent can read memories", f"use a key with the scope {MEMORIES}{READ_ONLY} too")
        if surface in LOCAL_SURFACES or self.allow is AllowedCallers.ALL:
            return None
        if self.allow is AllowedCallers.LOCAL:
            return refused("only local users may use the coding agent", f"the owner can set {_SETTING}=keys")
        if caller.key_id is None:
            return refused("the coding agent needs a key", "create one with `scrubjay keys create`")
        return None
