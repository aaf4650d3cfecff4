"""The program of a coding agent: which one the owner chose, who may let it work, and with what around it."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from scrubjay.core.callers import Caller
from scrubjay.core.errors import Forbidden, Unavailable
from scrubjay.isolation.limits import Bounds

# Doors that only whoever works on this machine comes through.
LOCAL_DOORS: Final = frozenset({"cli", "python", "mcp-stdio"})
# Who may run commands may let an agent run them; nobody else may.
FAMILY: Final = "terminal"
_SETTING: Final = "SCRUBJAY_DELEGATING_ALLOW"


class Allow(StrEnum):
    """Who may let a coding agent work; each also those before it."""

    NOBODY = "nobody"
    LOCAL = "local"
    KEYS = "keys"
    EVERYBODY = "everybody"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingAgent:
    """What the owner chose. No caller can choose another program, other arguments or another environment."""

    command: str = "claude"
    arguments: Sequence[str] = ()
    print_arguments: Sequence[str] = ("--print",)
    """What it is given, beside its arguments, to answer one question and end."""
    environment: Mapping[str, str]
    """All that it sees."""
    bounds: Bounds = Bounds()
    allow: Allow = Allow.LOCAL
    most: int = 4
    """How many may run at once."""

    @property
    def name(self) -> str:
        return self.command.rsplit("/", 1)[-1]

    @property
    def program(self) -> str | None:
        """Where it is; None when it is not installed."""
        return shutil.which(self.command, path=self.environment["PATH"])

    def may_be_let_work(self, caller: Caller, door: str) -> bool:
        """Whether whoever comes through this door may let it work."""
        return self._refusal(caller, door) is None

    def found_for(self, caller: Caller, door: str) -> str:
        """Where it is, for whoever may let it work. `Forbidden` for all others, `Unavailable` when it is nowhere."""
        if (refusal := self._refusal(caller, door)) is not None:
            raise refusal
        if (program := self.program) is None:
            raise Unavailable(
                f"there is no program {self.command!r} on this machine",
                hint="install the coding agent, or name another by SCRUBJAY_DELEGATING_COMMAND",
                details={"reason": "no_coding_agent"},
            )
        return program

    def _refusal(self, caller: Caller, door: str) -> Forbidden | None:
        def refused(why: str, hint: str) -> Forbidden:
            return Forbidden(why, hint=hint, details={"reason": "delegating", "allow": self.allow.value})

        if self.allow is Allow.NOBODY:
            return refused("coding agents are switched off here", f"the owner can set {_SETTING}")
        if not caller.may_call(FAMILY, read_only=False):
            return refused("who may not run commands may not let an agent run them", f"it needs the scope {FAMILY}")
        if door in LOCAL_DOORS or self.allow is Allow.EVERYBODY:
            return None
        if self.allow is Allow.LOCAL:
            return refused("only who works on this machine may let an agent work", f"the owner can set {_SETTING}=keys")
        if caller.key_id is None:
            return refused("a server that is open without a key starts no agent", "make a key: `scrubjay keys create`")
        return None
