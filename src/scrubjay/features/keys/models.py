"""API keys. Only a digest is stored, from which the key cannot be recovered."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

KEY_PREFIX = "sjk_"
"""Prefix of every key, so that people and secret scanners recognise it."""
_RANDOM_BYTES = 32


class KeyState(StrEnum):
    """State of a key."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A stored key: its holder and its scopes."""

    id: str
    name: str
    digest: bytes
    scopes: frozenset[str]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    """When it stops working; in the future after a rotation with a grace period."""
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
    """Uses of a key since they were last stored."""

    uses: int
    last_used_at: datetime


KeyUses = Mapping[str, KeyUse]
"""By key id."""


def new_key() -> str:
    """Return a new key: the prefix and 256 random bits."""
    return KEY_PREFIX + secrets.token_hex(_RANDOM_BYTES)


def digest_of(key: str) -> bytes:
    """Return the stored digest of a key. A fast hash is safe because keys are long and random."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
