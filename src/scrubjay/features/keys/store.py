"""Interface that a store backend implements for keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from scrubjay.features.keys.models import KeyUses, StoredKey


@dataclass(frozen=True, slots=True)
class KeyRing:
    """All keys at one moment. The revision changes with every change of keys or scopes."""

    revision: int
    keys: Sequence[StoredKey]


class KeyStore(Protocol):
    """Stores keys. Changes take effect immediately in all processes of the store."""

    async def prepare(self) -> None:
        """Prepare synchronous reads by `ring`."""
        ...

    def ring(self, known: int | None = None) -> KeyRing | None:
        """Return all keys, synchronously; None if the revision is still `known`."""
        ...

    async def all(self) -> Sequence[StoredKey]:
        """Return all keys with their uses, oldest first."""
        ...

    async def add(self, key: StoredKey) -> None:
        """Store a key; raise `Conflict` if an active key has its name."""
        ...

    async def replace(self, name: str, key: StoredKey, ends_at: datetime) -> StoredKey | None:
        """Store a key and revoke the current key of this name at `ends_at`.

        Return the replaced key as it was, or None without any change if there is none.
        """
        ...

    async def revoke(self, name: str, now: datetime) -> int:
        """Revoke all keys of this name and return their number."""
        ...

    async def delete_ended(self, name: str, now: datetime) -> int:
        """Erase the revoked and expired keys of this name and return their number."""
        ...

    async def add_uses(self, uses: KeyUses) -> None:
        """Add to the stored numbers of uses."""
        ...
