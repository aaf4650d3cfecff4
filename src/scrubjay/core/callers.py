"""Who calls, and what they may call."""

from dataclasses import dataclass, replace
from typing import Protocol, Self

from scrubjay.core.errors import Unavailable

EVERYTHING = "*"
READ_ONLY = ":read"


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever holds a key, or the owner of this machine, who needs none."""

    name: str
    scopes: frozenset[str] = frozenset({EVERYTHING})
    """Families of tools, or `*` for all of them; with `:read` only what changes nothing."""
    key_id: str | None = None

    @property
    def owns_as(self) -> str:
        """Under whose name what is theirs is kept: their key's, or the owner's of this machine."""
        return self.key_id or self.name

    def may_call(self, family: str, *, read_only: bool) -> bool:
        """Whether a tool of this family is theirs to call."""
        enough = {EVERYTHING, family}
        if read_only:
            enough |= {EVERYTHING + READ_ONLY, family + READ_ONLY}
        return not enough.isdisjoint(self.scopes)

    def only_reading(self) -> Self:
        """The same caller, who may change nothing now."""
        return replace(self, scopes=frozenset(scope.removesuffix(READ_ONLY) + READ_ONLY for scope in self.scopes))


class NoKeyConfigured(Unavailable):
    """Nobody can come in: a key is needed, and none was ever made."""


OWNER = Caller("owner")
"""Who works on this machine: over standard input, on the command line, or where no key is asked for."""


STRANGER = Caller("stranger", frozenset())
"""Who has not shown a key, where none is asked for yet: nothing is open to them."""


class Doorkeeper(Protocol):
    """Knows who holds which key. Every protocol asks the same one."""

    async def admit(self, key: str | None) -> Caller:
        """Who holds this key; `Unauthenticated` for a wrong one, or for none where one is needed."""
        ...

    def is_welcome(self, caller: Caller) -> bool:
        """Whether a caller who was admitted still is: connections that stay open ask again and again."""
        ...
