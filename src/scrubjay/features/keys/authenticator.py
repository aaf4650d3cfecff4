"""Authentication by key, for all protocols; changes by other processes take effect immediately."""

import hmac
from collections.abc import Awaitable, Callable, Mapping

from scrubjay.core.callers import EVERYTHING, OWNER, Caller, NoKeyConfigured
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import ScrubjayError, Unauthenticated
from scrubjay.features.keys.models import KeyState, KeyUse, StoredKey, digest_of
from scrubjay.features.keys.scopes import ALWAYS_ALLOWED
from scrubjay.features.keys.store import KeyStore

ENVIRONMENT_KEY = Caller("SCRUBJAY_API_KEY", key_id="environment")
"""The caller with the key of the settings, which grants everything."""

MISSING, INVALID = "Missing Authorization header", "Invalid API key"
_UNKNOWN_DIGEST = b"\0" * 32
_HINT = "send the header Authorization: Bearer KEY"


class KeyAuthenticator:
    """Implements `Authenticator` with the stored keys and the key of the settings.

    Until a key exists, a caller without a key is the owner if `open_without_keys` is set and `in_production` is not.
    """

    def __init__(
        self,
        keys: Callable[[], Awaitable[KeyStore]],
        *,
        settings_key: str | None = None,
        open_without_keys: bool = True,
        in_production: bool = False,
        clock: Clock = system_clock,
    ) -> None:
        self._open_store = keys
        self._settings_digest = digest_of(settings_key) if settings_key else None
        self._open_without_keys = open_without_keys and not in_production
        self._in_production = in_production
        self._clock = clock
        self._store: KeyStore | None = None
        self._revision: int | None = None
        self._by_digest: Mapping[bytes, StoredKey] = {}
        self._by_id: Mapping[str, StoredKey] = {}
        self._uses: dict[str, KeyUse] = {}

    async def authenticate(self, key: str | None) -> Caller:
        await self._prepare()
        self._refresh()
        if key is None:
            return self._without_key()
        digest = digest_of(key)
        if self._settings_digest is not None and hmac.compare_digest(digest, self._settings_digest):
            return ENVIRONMENT_KEY
        found = self._by_digest.get(digest)
        # An unknown key takes the same time as a known one. Hashes are compared, so the time of the lookup reveals
        # nothing about the key.
        if not hmac.compare_digest(digest, found.digest if found is not None else _UNKNOWN_DIGEST) or found is None:
            if self._in_production and not self.has_keys:
                raise _no_key()
            raise Unauthenticated("this key is not valid here", hint=_HINT, details={"reason": INVALID})
        self._refuse_ended(found)
        self._count(found.id)
        scopes = found.scopes if EVERYTHING in found.scopes else found.scopes | ALWAYS_ALLOWED
        return Caller(found.name, scopes, found.id)

    def is_authorized(self, caller: Caller) -> bool:
        if caller.key_id == ENVIRONMENT_KEY.key_id:
            return self._settings_digest is not None
        try:
            self._refresh()
        except ScrubjayError:  # access is denied if the store cannot be read
            return False
        if caller.key_id is None:
            return self._is_open
        found = self._by_id.get(caller.key_id)
        return found is not None and found.state(self._clock()) is KeyState.ACTIVE

    async def has_active_key(self) -> bool:
        """Return True if any key is valid now."""
        await self._prepare()
        self._refresh()
        now = self._clock()
        active = any(key.state(now) is KeyState.ACTIVE for key in self._by_id.values())
        return active or self._settings_digest is not None

    @property
    def has_keys(self) -> bool:
        """True if any key exists, as of the last refresh."""
        return self._settings_digest is not None or bool(self._by_id)

    async def store_uses(self) -> None:
        """Store the counted uses; after a failure they are kept for the next call."""
        if self._store is None or not self._uses:
            return
        taken, self._uses = self._uses, {}
        try:
            await self._store.add_uses(taken)
        except Exception:
            for key_id, use in taken.items():
                self._add(key_id, use)
            raise

    async def _prepare(self) -> None:
        if self._store is None:
            store = await self._open_store()
            await store.prepare()
            self._store = store

    def _refresh(self) -> None:
        """Load the keys again if another process changed them."""
        key_ring = self._store.ring(self._revision) if self._store is not None else None
        if key_ring is not None:
            self._by_digest = {key.digest: key for key in key_ring.keys}
            self._by_id = {key.id: key for key in key_ring.keys}
            self._revision = key_ring.revision

    @property
    def _is_open(self) -> bool:
        return self._open_without_keys and not self.has_keys

    def _without_key(self) -> Caller:
        if self._is_open:
            return OWNER
        if self._in_production and not self.has_keys:
            raise _no_key()
        raise Unauthenticated("this server requires a key", hint=_HINT, details={"reason": MISSING})

    def _refuse_ended(self, key: StoredKey) -> None:
        match key.state(self._clock()):
            case KeyState.EXPIRED:
                ended = key.expires_at.isoformat(timespec="seconds") if key.expires_at else ""
                raise Unauthenticated(
                    f"this key expired at {ended}",
                    hint="ask the owner for a new key: `scrubjay keys rotate`",
                    details={"reason": "API key has expired", "expired_at": ended},
                )
            case KeyState.REVOKED:
                raise Unauthenticated(
                    "this key was revoked",
                    hint="ask the owner for a new key",
                    details={"reason": "API key was revoked"},
                )
            case KeyState.ACTIVE:
                pass

    def _count(self, key_id: str) -> None:
        self._add(key_id, KeyUse(1, self._clock()))

    def _add(self, key_id: str, use: KeyUse) -> None:
        known = self._uses.get(key_id)
        if known is not None:
            use = KeyUse(known.uses + use.uses, max(known.last_used_at, use.last_used_at))
        self._uses[key_id] = use


def _no_key() -> NoKeyConfigured:
    return NoKeyConfigured(
        "this server is in production and has no key",
        hint="create one with `scrubjay keys create`, or set SCRUBJAY_API_KEY",
        details={"security": "API key required in production"},
    )
