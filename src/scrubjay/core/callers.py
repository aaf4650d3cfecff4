"""Callers, their scopes, and the protocol that authenticates them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

from scrubjay.core.errors import Unavailable

EVERYTHING = "*"
READ_ONLY = ":read"


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a key, or the owner of this machine, who needs no key."""

    name: str
    scopes: frozenset[str] = frozenset({EVERYTHING})
    """Tool families, or `*` for all; the suffix `:read` limits a scope to read-only calls."""
    key_id: str | None = None

    @property
    def owner_id(self) -> str:
        """Return the id that owns stored data: the key id, or the caller name when there is no key."""
        return self.key_id or self.name

    @property
    def holds_key(self) -> bool:
        """Return True for the holder of a key, False for the owner of this machine."""
        return self.key_id is not None

    @property
    def has_all_scopes(self) -> bool:
        """Return True when nothing limits the caller to families or to reading."""
        return EVERYTHING in self.scopes

    def may_call(self, family: str, *, read_only: bool) -> bool:
        """Return True when the scopes allow calling a tool of this family."""
        sufficient = {EVERYTHING, family}
        if read_only:
            sufficient |= {EVERYTHING + READ_ONLY, family + READ_ONLY}
        return not sufficient.isdisjoint(self.scopes)

    def may_read(self, family: str) -> bool:
        """Return True when the scopes allow reading the records of this family."""
        return self.may_call(family, read_only=True)

    def callable_families(self, families: Iterable[str], *, read_only: bool) -> Sequence[str]:
        """Return those of the families whose tools the scopes allow calling."""
        return [family for family in families if self.may_call(family, read_only=read_only)]

    def as_read_only(self) -> Self:
        """Return a copy of the caller with every scope limited to read-only calls."""
        return replace(self, scopes=frozenset(scope.removesuffix(READ_ONLY) + READ_ONLY for scope in self.scopes))


class NoKeyConfigured(Unavailable):
    """The server requires a key, but no key has been created."""


OWNER = Caller("owner")
"""The local user: over standard input, on the command line, or when no key is required."""


ANONYMOUS = Caller("anonymous", frozenset())
"""A caller without a key on a path that requires none; has no scopes."""


class Authenticator(Protocol):
    """Resolves keys to callers. All protocols share one instance."""

    async def authenticate(self, key: str | None) -> Caller:
        """Return the holder of the key; raise `Unauthenticated` for a wrong key, or a missing one that is required."""
        ...

    def is_authorized(self, caller: Caller) -> bool:
        """Return True while an authenticated caller is still allowed; long-lived connections check repeatedly."""
        ...
