"""What a backend must offer to keep keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from scrubjay.features.keys.models import KeptKey, KeyUses


@dataclass(frozen=True, slots=True)
class Keyring:
    """All keys at one moment; the revision differs whenever what they open does."""

    revision: int
    keys: Sequence[KeptKey]


class KeyStore(Protocol):
    """Keeps keys for all processes of one store. What one changes holds in all of them at once."""

    async def prepare(self) -> None:
        """Make ready what `ring` needs."""
        ...

    def ring(self, known: int | None = None) -> Keyring | None:
        """All keys, without waiting; None while the revision is the one that the caller knows."""
        ...

    async def all(self) -> Sequence[KeptKey]:
        """All keys with their uses, the oldest first."""
        ...

    async def add(self, key: KeptKey) -> None:
        """Keep this one; `Conflict` when one of its name is still active."""
        ...

    async def replace(self, name: str, key: KeptKey, ends_at: datetime) -> KeptKey | None:
        """Keep this one in the place of the one so called that was not revoked, which is refused from then on.

        The one it replaces, as it was; None, and nothing is changed, when there is none.
        """
        ...

    async def revoke(self, name: str, now: datetime) -> int:
        """Refuse all keys of this name from now on; how many that were."""
        ...

    async def forget(self, name: str, now: datetime) -> int:
        """Erase what is known of the keys of this name that open nothing any more; how many that were."""
        ...

    async def add_uses(self, uses: KeyUses) -> None:
        """Count these on top of those counted before."""
        ...
