"""Keys: texts that let their holder in. What is kept of one never tells it."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

KEY_PREFIX = "sjk_"
"""What each key begins with, so that people and programs know one when they see it."""
_RANDOM_BYTES = 32


class KeyState(StrEnum):
    """Whether a key opens anything."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class KeptKey:
    """A key as it is kept: who holds it and what it opens."""

    id: str
    name: str
    digest: bytes
    scopes: frozenset[str]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    """From when on it is refused; in the future after it was replaced with some grace."""
    last_used_at: datetime | None = None
    uses: int = 0

    def state(self, now: datetime) -> KeyState:
        if self.revoked_at is not None and self.revoked_at <= now:
            return KeyState.REVOKED
        if self.expires_at is not None and self.expires_at <= now:
            return KeyState.EXPIRED
        return KeyState.ACTIVE


@dataclass(frozen=True, slots=True)
class KeyUse:
    """How often a key was used since this was last kept, and when last."""

    uses: int
    last_used_at: datetime


KeyUses = Mapping[str, KeyUse]
"""By the id of the key."""


def new_key() -> str:
    """A fresh key: 256 random bits behind the prefix."""
    return KEY_PREFIX + secrets.token_hex(_RANDOM_BYTES)


def digest_of(key: str) -> bytes:
    """What is kept of a key. It is random enough that a fast hash tells nothing of it."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
